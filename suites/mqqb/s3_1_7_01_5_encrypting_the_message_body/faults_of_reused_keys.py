"""Faults in the public keys of the receiver and in the key cache of the sender (MS-MQQB 3.1.7.1.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import MqdsPublicKeys
from reference_qm.security.algorithms import AES_PROVIDER, BASE_PROVIDER, ENHANCED_PROVIDER
from reference_qm.surface.clock import Now


def _publish_changed_list_of_public_keys(change: Any) -> Any:
    """Return an installer of a fault that changes the list of published keys."""

    def publish_changed_list(qm: QueueManager) -> None:
        state = qm.enterprise.state
        published = state.LocalQueueManager.PublicEncryptionKeyList
        if published:
            keys = MqdsPublicKeys(tuple(change(MqdsPublicKeys.parse(published).aPublicKeys))).build()
            if keys != published:
                state.LocalQueueManager = replace(state.LocalQueueManager, PublicEncryptionKeyList=keys)

    return change_core_after_every_input(publish_changed_list)


def _give_aes_provider_the_base_key(keys: Any) -> Any:
    blobs = {key.sProviderName: key.aBuf for key in keys}
    return [
        replace(key, aBuf=blobs[BASE_PROVIDER]) if key.sProviderName == AES_PROVIDER and BASE_PROVIDER in blobs else key
        for key in keys
    ]


add(
    "receiver-public-keys-aes-provider-with-base-key",
    "MQQB-3.1.7.1.5-10",
    "The receiver also publishes the key of 512 bits of the Base provider for the AES provider.",
    _publish_changed_list_of_public_keys(_give_aes_provider_the_base_key),
    blind=True,
)
add(
    "receiver-public-keys-without-enhanced-provider",
    "MQQB-3.1.7.1.5-10",
    "The receiver publishes no public key for the Enhanced provider.",
    _publish_changed_list_of_public_keys(lambda keys: [key for key in keys if key.sProviderName != ENHANCED_PROVIDER]),
    blind=True,
)


@fault("sender-send-symmetric-key-cache-emptied-by-new-session", breaks="MQQB-3.1.7.1.5-21", blind=True)
class SenderSendSymmetricKeyCacheEmptiedByNewSession(SessionInitialization):
    """The sender removes all keys from SendSymmetricKeyCache when a session begins."""

    def initialize_session(self, session: Session, now: Now) -> None:
        super().initialize_session(session, now)
        self.qm.caches.SendSymmetricKeyCache.entries.clear()


class _EncryptingSomeMessagesWithNewKey(MessageSecuring):
    """Encrypts those messages with a new key that a subclass selects."""

    def needs_new_key(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        cache = self.qm.caches.SendSymmetricKeyCache
        if not self.needs_new_key(packet):
            return super().encrypt_body(session, message, packet, now)
        kept, cache.entries = cache.entries, []
        try:
            return super().encrypt_body(session, message, packet, now)
        finally:
            cache.entries = kept


@fault("sender-symmetric-key-of-transactional-message-not-reused", breaks="MQQB-3.1.7.1.5-21", blind=True)
class SenderSymmetricKeyOfTransactionalMessageNotReused(_EncryptingSomeMessagesWithNewKey):
    """The sender encrypts each transactional message with a new symmetric key, although a key is cached."""

    def needs_new_key(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None and bool(self.qm.caches.SendSymmetricKeyCache.entries)


@fault("sender-symmetric-key-of-express-message-not-cached", breaks="MQQB-3.1.7.1.5-32", blind=True)
class SenderSymmetricKeyOfExpressMessageNotCached(_EncryptingSomeMessagesWithNewKey):
    """The sender does not add the new symmetric key of an express message to SendSymmetricKeyCache."""

    def needs_new_key(self, packet: UserMessagePacket) -> bool:
        return not packet.UserHeader.DM


@fault(
    "sender-symmetric-key-of-second-provider-not-cached",
    breaks=("MQQB-3.1.1.3-10", "MQQB-3.1.7.1.5-32"),
    blind=True,
)
class SenderSymmetricKeyOfSecondProviderNotCached(MessageSecuring):
    """The sender does not add a symmetric key of a second provider for the same queue manager to
    SendSymmetricKeyCache.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        cache = self.qm.caches.SendSymmetricKeyCache
        first: dict[Any, Any] = {}
        for entry in cache.entries:
            first.setdefault(entry.RemoteQMGuid, entry)
        cache.entries = list(first.values())
        return encrypted
