"""Faults of MS-MQQB 3.1.5.8.3 Security that occur only with cached entries or with one delivery of a
refused message.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("receiver-cached-certificate-accepted-for-other-user", breaks="MQQB-3.1.5.8.3-23")
class ReceiverCachedCertificateAcceptedForOtherUser(SecurityOnReceipt):
    """The receiver accepts a cached certificate in a message of any user."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        certificate = None if security is None else security.SecurityData.SenderCert
        if certificate and self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate):
            return
        super().verify_sender(packet, now)


@fault("receiver-new-key-of-known-sender-ignored", breaks="MQQB-3.1.5.8.3-57")
class ReceiverNewKeyOfKnownSenderIgnored(SecurityOnReceipt):
    """The receiver decrypts every message of a sender with the same PrivacyLevel and algorithm with the
    key of the first message.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        security, properties = packet.SecurityHeader, packet.MessagePropertiesHeader
        if security is None or not security.EB:
            return super().decrypt_body(packet, now)
        known = self.__dict__.setdefault("known", {})
        kind = (packet.UserHeader.SourceQueueManager, properties.PrivacyLevel, properties.EncryptionAlgorithm)
        blob = known.get(kind, security.SecurityData.EncryptionKey)
        changed = replace(security, SecurityData=replace(security.SecurityData, EncryptionKey=blob))
        decrypted = super().decrypt_body(replace(packet, SecurityHeader=changed), now)
        known[kind] = blob
        return replace(decrypted, SecurityHeader=security)


def _omit_nack_of_transactional(refused: MessageClass) -> Install:
    class Omitted(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not refused or message.TransactionIdentifier is None:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(Omitted)


def _omit_final_ack_with_na(refused: MessageClass) -> Install:
    class Omitted(FinalAcks):
        def refuse_transactional(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            if message_class is not refused or not packet.MessagePropertiesHeader.NA:
                super().refuse_transactional(session, packet, message_class, now)

    return replace_part(Omitted)


def _keep_dead_letter(refused: MessageClass) -> Install:
    class Kept(Admission):
        def refuse_message(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            super().refuse_message(session, packet, message_class, now)
            if message_class is refused:
                self.journal_refused(replace(self.build_message(packet, now), security=None))

    return replace_part(Kept)


add(
    "receiver-nack-bad-signature-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-15",
    "The receiver sends no acknowledgment of class BAD_SIGNATURE for a transactional message with NA set.",
    _omit_nack_of_transactional(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)
add(
    "receiver-nack-bad-encryption-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-82",
    "The receiver sends no acknowledgment of class BAD_ENCRYPTION for a transactional message with NA set.",
    _omit_nack_of_transactional(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)
add(
    "receiver-nack-access-denied-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-121",
    "The receiver sends no acknowledgment of class ACCESS_DENIED for a transactional message with NA set.",
    _omit_nack_of_transactional(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)
add(
    "receiver-final-ack-bad-signature-omitted-with-na",
    "MQQB-3.1.5.8.3-18",
    "The receiver sends no FinalAck of class BAD_SIGNATURE for a message with NA set.",
    _omit_final_ack_with_na(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)
add(
    "receiver-final-ack-bad-encryption-omitted-with-na",
    "MQQB-3.1.5.8.3-85",
    "The receiver sends no FinalAck of class BAD_ENCRYPTION for a message with NA set.",
    _omit_final_ack_with_na(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)
add(
    "receiver-final-ack-access-denied-omitted-with-na",
    "MQQB-3.1.5.8.3-124",
    "The receiver sends no FinalAck of class ACCESS_DENIED for a message with NA set.",
    _omit_final_ack_with_na(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)
add(
    "receiver-message-with-invalid-signature-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-21",
    "The receiver puts a message with an invalid signature and JN into the dead-letter queue.",
    _keep_dead_letter(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)
add(
    "receiver-message-without-readable-body-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-88",
    "The receiver puts a message with JN whose body it cannot decrypt into the dead-letter queue.",
    _keep_dead_letter(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)
add(
    "receiver-message-without-access-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-127",
    "The receiver puts a message with JN whose sender has no access into the dead-letter queue.",
    _keep_dead_letter(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)
