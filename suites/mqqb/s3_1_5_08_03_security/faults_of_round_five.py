"""Blind violations of round five: MS-MQQB 3.1.5.8.3 Security."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.cache_timers import CacheTimers
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import ReceivedMessageRefused, Sid, authorize_sender
from reference_qm.surface.clock import Now

KNOWN_PRIVACY_LEVELS = (1, 3, 5)
PRINCIPAL_SELF_SID = Sid(5, (10,))
"""The SID S-1-5-10, which stands for SELF in an ACE. Spec: MS-DTYP 2.4.2.4."""
RECEIVED_KEY_TIMER_KEY = TimerKey(TimerName.RECEIVE_SYMMETRIC_KEY_CACHE_CLEANUP, 0)


@fault("receiver-account-looked-up-by-last-subauthority-of-sid", breaks="MQQB-3.1.5.8.3-105", blind=True)
class ReceiverAccountLookedUpByLastSubauthorityOfSid(SecurityLookup):
    """The receiver looks up the account of the sender by the last SubAuthority of SecurityID, and ignores the domain
    of the SID.
    """

    def find_groups(self, sid: Sid) -> Set[Sid] | None:
        accounts = (one.SecurityIdentifier for one in self.qm.config.security.accounts)
        alike = (one for one in accounts if one.SubAuthority[-1:] == sid.SubAuthority[-1:])
        return super().find_groups(next(alike, sid))


@fault("receiver-received-key-timer-not-started-after-cache-was-emptied", breaks="MQQB-3.1.5.8.3-69", blind=True)
class ReceiverReceivedKeyTimerNotStartedAfterCacheWasEmptied(CacheTimers):
    """The receiver starts the cleanup timer of ReceiveSymmetricKeyCache only for the first key since the start of the
    queue manager, not for the first key after a cleanup has emptied the cache.
    """

    def start(self, now: Now) -> None:
        was_running = self.qm.timers.is_running(RECEIVED_KEY_TIMER_KEY)
        super().start(now)
        if was_running or not self.qm.timers.is_running(RECEIVED_KEY_TIMER_KEY):
            return
        if self.__dict__.get("was_started"):
            self.qm.timers.stop(RECEIVED_KEY_TIMER_KEY)
        self.__dict__["was_started"] = True


@fault("receiver-key-of-undecryptable-message-not-cached", breaks="MQQB-3.1.5.8.3-67", blind=True)
class ReceiverKeyOfUndecryptableMessageNotCached(SecurityOnReceipt):
    """The receiver adds a new CachedSymmetricKey to ReceiveSymmetricKeyCache only if the body of the message can be
    decrypted with the key.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        cache = self.qm.caches.get_receiving_cache(packet.MessagePropertiesHeader.PrivacyLevel)
        earlier = list(cache.entries)
        try:
            return super().decrypt_body(packet, now)
        except ReceivedMessageRefused:
            cache.entries = earlier
            raise


@fault("receiver-message-with-invalid-privacylevel-put-into-dead-letter-queue", breaks="MQQB-3.1.5.8.3-54", blind=True)
class ReceiverMessageWithInvalidPrivacylevelPutIntoDeadLetterQueue(MessageAdmission):
    """The receiver puts an encrypted message with an invalid PrivacyLevel into its dead-letter queue if JN is set."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if encrypted and packet.MessagePropertiesHeader.PrivacyLevel not in KNOWN_PRIVACY_LEVELS:
            self.journal_refused_message(self.build_message(packet, now))


@fault(
    "receiver-encryptionalgorithm-of-first-message-of-sender-used-for-later-messages",
    breaks="MQQB-3.1.5.8.3-79",
    blind=True,
)
class ReceiverEncryptionalgorithmOfFirstMessageOfSenderUsedForLaterMessages(SecurityOnReceipt):
    """The receiver decrypts every body from a queue manager with the EncryptionAlgorithm of the first encrypted message
    from this queue manager.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
            return super().decrypt_body(packet, now)
        properties, source = packet.MessagePropertiesHeader, packet.UserHeader.SourceQueueManager
        first = self.__dict__.setdefault("first_algorithms", {}).setdefault(source, properties.EncryptionAlgorithm)
        wrong = replace(packet, MessagePropertiesHeader=replace(properties, EncryptionAlgorithm=first))
        clear = super().decrypt_body(packet if first == properties.EncryptionAlgorithm else wrong, now)
        restored = replace(clear.MessagePropertiesHeader, EncryptionAlgorithm=properties.EncryptionAlgorithm)
        return replace(clear, MessagePropertiesHeader=restored)


@fault("receiver-ace-for-self-applied-to-owner-of-queue", breaks="MQQB-3.1.5.8.3-119", blind=True)
class ReceiverAceForSelfAppliedToOwnerOfQueue(SecurityOnReceipt):
    """The receiver passes the owner of the queue as PrincipalSelfSubst to the access check, so that an ACE for SELF
    applies to a sender who is the owner of the queue.
    """

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        descriptor = self.qm.security_lookup.find_queue_security(queue)
        if descriptor.Dacl is not None and descriptor.Owner is not None:
            owner = descriptor.Owner
            aces = tuple(
                replace(ace, Sid=owner) if ace.Sid == PRINCIPAL_SELF_SID else ace for ace in descriptor.Dacl.Aces
            )
            descriptor = replace(descriptor, Dacl=replace(descriptor.Dacl, Aces=aces))
        assert packet.SecurityHeader is not None
        authorize_sender(packet.SecurityHeader, self._build_receiver(), descriptor)
