"""Faults that break rules of MS-MQQB 3.1.7.1.5 Encrypting the Message Body about published and cached keys."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.public_keys import change_blob_number, change_published_blobs
from harness.faults.registry import add
from harness.faults.timed_caches import (
    CacheEmptiedWhenFull,
    CacheLosingNewestHalf,
    CacheWithoutEntries,
    CacheWithTimesInMs,
    UnlimitedCache,
    change_cached_entries,
    omit_cleanup_timer,
    replace_cache,
    restart_cleanup_timer,
)
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now

_SENT_KEY_CACHE_NAME = "SendSymmetricKeyCache"
_UNKNOWN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
_KEY_ALGORITHM_OFFSET = 4
_CALG_RSA_SIGN = 0x2400

# -- the public key of the queue manager ---------------------------------------------------------------------------

add(
    "receiver-published-key-algorithm-signature",
    ("MQQB-3.1.7.1.5-11", "MQQB-3.1.7.1.5.2-02", "MQMQ-2.2.20.6-28"),
    "The receiver publishes a key whose algorithm is for signatures.",
    change_published_blobs(change_blob_number(_KEY_ALGORITHM_OFFSET, lambda _: _CALG_RSA_SIGN)),
)

# -- SendSymmetricKeyCache -----------------------------------------------------------------------------------------

for _name, _breaks, _says, _install in (
    (
        "sender-symmetric-key-not-cached",
        "MQQB-3.1.7.1.5-32",
        "The sender adds no symmetric key to SendSymmetricKeyCache.",
        replace_cache(_SENT_KEY_CACHE_NAME, CacheWithoutEntries),
    ),
    (
        "sender-cached-key-remote-qm-guid-wrong",
        ("MQQB-3.1.7.1.5-25",),
        "The sender caches a symmetric key with a wrong RemoteQMGuid in SendSymmetricKeyCache.",
        change_cached_entries(_SENT_KEY_CACHE_NAME, RemoteQMGuid=_UNKNOWN_QUEUE_MANAGER_GUID),
    ),
    (
        "sender-cached-key-provider-wrong",
        ("MQQB-3.1.7.1.5-26",),
        "The sender caches a symmetric key with a wrong CryptoServiceProvider in SendSymmetricKeyCache.",
        change_cached_entries(_SENT_KEY_CACHE_NAME, CryptoServiceProvider="another"),
    ),
    (
        "sender-cached-key-algorithm-wrong",
        ("MQQB-3.1.7.1.5-27",),
        "The sender caches a symmetric key with a wrong CryptoAlgorithm in SendSymmetricKeyCache.",
        change_cached_entries(_SENT_KEY_CACHE_NAME, CryptoAlgorithm=0x6602),
    ),
    (
        "sender-cached-key-cached-time-0",
        ("MQQB-3.1.7.1.5-31",),
        "The sender caches a symmetric key with CachedTime 0 in SendSymmetricKeyCache.",
        change_cached_entries(_SENT_KEY_CACHE_NAME, CachedTime=0),
    ),
    (
        "sender-cached-key-cached-time-in-ms",
        ("MQQB-3.1.7.1.5-31",),
        "The sender caches a symmetric key with CachedTime in milliseconds in SendSymmetricKeyCache.",
        replace_cache(_SENT_KEY_CACHE_NAME, CacheWithTimesInMs),
    ),
    (
        "sender-symmetric-key-cache-size-ignored",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "The sender's SendSymmetricKeyCache grows beyond SendSymmetricKeyCacheSize.",
        replace_cache(_SENT_KEY_CACHE_NAME, UnlimitedCache),
    ),
    (
        "sender-symmetric-key-cache-emptied-when-full",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "The sender deletes every entry of a full SendSymmetricKeyCache.",
        replace_cache(_SENT_KEY_CACHE_NAME, CacheEmptiedWhenFull),
    ),
    (
        "sender-symmetric-key-cache-newest-half-deleted",
        ("MQQB-3.1.7.1.5-33", "MQQB-3.1.1.3-13"),
        "The sender deletes the newest entries of a full SendSymmetricKeyCache.",
        replace_cache(_SENT_KEY_CACHE_NAME, CacheLosingNewestHalf),
    ),
    (
        "sender-symmetric-key-cache-timer-not-started",
        "MQQB-3.1.7.1.5-34",
        "The sender does not start the cleanup timer of SendSymmetricKeyCache.",
        omit_cleanup_timer(_SENT_KEY_CACHE_NAME),
    ),
    (
        "sender-symmetric-key-cache-timer-restarted-by-message",
        "MQQB-3.1.7.1.5-34",
        "The sender restarts the cleanup timer of SendSymmetricKeyCache when it sends any message.",
        restart_cleanup_timer(_SENT_KEY_CACHE_NAME),
    ),
):
    add(_name, _breaks, _says, _install)


@fault("sender-second-encryption-error-not-in-connection-history", breaks="MQQB-3.1.7.1.5.1-03", blind=True)
class SenderSecondEncryptionErrorNotInConnectionHistory(MessageSending):
    """The sender adds no entry to ConnectionHistory for a message that cannot be encrypted, if the last entry already
    has the Status CertificateValidationFailure.
    """

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        if history and history[-1].Status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE:
            self.delete_unsent_message(session, position)
        else:
            super().handle_encryption_error(session, position, now)
