"""Faults of MS-MQQB 3.1.5.8.3 Security that only special cases reveal: second occurrences, other causes, boundary
values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security.receiving import Refused
from reference_qm.surface.clock import Now

SECURITY_CLASSES = (
    MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
    MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
    MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
)
RULES_OF_NACKS = (
    "MQQB-3.1.5.8.3-15",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-82",
    "MQQB-3.1.5.8.3-121",
)
RULES_OF_FINAL_ACKS = (
    "MQQB-3.1.5.8.3-18",
    "MQQB-3.1.5.8.3-41",
    "MQQB-3.1.5.8.3-51",
    "MQQB-3.1.5.8.3-85",
    "MQQB-3.1.5.8.3-124",
)


@fault("receiver-security-nack-of-recoverable-message-omitted", breaks=RULES_OF_NACKS, blind=True)
class ReceiverSecurityNackOfRecoverableMessageOmitted(Admission):
    """The receiver acknowledges only express messages that fail a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        nontransactional = packet.TransactionHeader is None
        if not (message_class in SECURITY_CLASSES and packet.UserHeader.DM and nontransactional):
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-security-nack-of-transactional-message-omitted", breaks=RULES_OF_NACKS, blind=True)
class ReceiverSecurityNackOfTransactionalMessageOmitted(Admission):
    """The receiver sends no administration acknowledgment for a transactional message that fails a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class in SECURITY_CLASSES and packet.TransactionHeader is not None:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)
            return
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-security-final-ack-only-with-na", breaks=RULES_OF_FINAL_ACKS, blind=True)
class ReceiverSecurityFinalAckOnlyWithNa(FinalAcks):
    """The receiver sends the FinalAck of a message that fails a security check only if NA is set."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class not in SECURITY_CLASSES or packet.MessagePropertiesHeader.NA:
            super().refuse_transactional(session, packet, message_class, now)


@fault(
    "receiver-security-refused-message-journaled",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedMessageJournaled(Admission):
    """The receiver puts a message with JN that fails a security check into the receiver's own dead-letter queue."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in SECURITY_CLASSES:
            self.journal_refused(replace(self.build_message(packet, now), security=None))


@fault("receiver-signature-of-large-body-not-checked", breaks="MQQB-3.1.5.8.3-02", blind=True)
class ReceiverSignatureOfLargeBodyNotChecked(SecurityOnReceipt):
    """The receiver does not check the signature of a message whose body is larger than 64 KB."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            return packet
        return super().authenticate_packet(packet)


@fault("receiver-signature-checked-for-recoverable-messages-only", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureCheckedForRecoverableMessagesOnly(SecurityOnReceipt):
    """The receiver accepts an express message with an invalid signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return super().authenticate_packet(packet) if packet.UserHeader.DM else packet


@fault("receiver-privacy-level-compared-by-byte", breaks="MQQB-3.1.5.8.3-47", blind=True)
class ReceiverPrivacyLevelComparedByByte(SecurityOnReceipt):
    """The receiver compares only the low byte of PrivacyLevel."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        level = properties.PrivacyLevel & 0xFF
        return super().decrypt_body(
            replace(packet, MessagePropertiesHeader=replace(properties, PrivacyLevel=level)), now
        )


@fault("receiver-access-of-sender-checked-once", breaks=("MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91"), blind=True)
class ReceiverAccessOfSenderCheckedOnce(SecurityOnReceipt):
    """Once the receiver has granted a sender access to one queue, it no longer checks the access of this sender to
    other queues.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.granted: set[bytes] = set()

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        if sender not in self.granted:
            super().authorize_sender(packet, queue)
            self.granted.add(sender)


@fault("receiver-access-denied-remembered", breaks="MQQB-3.1.5.8.3-91", blind=True)
class ReceiverAccessDeniedRemembered(SecurityOnReceipt):
    """The receiver denies a sender access to every queue once it has denied the sender access to one queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.denied: dict[bytes, Queue] = {}

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        before = self.denied.get(sender)
        self.denied[sender] = before or queue
        super().authorize_sender(packet, before or queue)
        if before is None:
            del self.denied[sender]


@fault("receiver-cached-certificate-accepted-for-user-of-domain", breaks="MQQB-3.1.5.8.3-23", blind=True)
class ReceiverCachedCertificateAcceptedForUserOfDomain(SecurityOnReceipt):
    """The receiver accepts a cached certificate for any user of the domain to which the user of the cache entry
    belongs.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SecurityHeader
        if header is not None and header.AS and header.ST:
            data = header.SecurityData
            for known in self.qm.caches.UserCertCache.entries:
                if known.UserCert.Certificate == data.SenderCert and known.SecurityID[:-4] == data.SecurityID[:-4]:
                    return
        super().verify_sender(packet, now)


_AS_MASK = SecurityHeader.flags(AS=0xF)


def _set_as(packet: UserMessagePacket, kind: int) -> UserMessagePacket:
    header = packet.SecurityHeader
    assert header is not None
    return replace(
        packet, SecurityHeader=replace(header, Flags=header.Flags & ~_AS_MASK | SecurityHeader.flags(AS=kind))
    )


@fault("receiver-as-of-express-msmq-2-signature-1", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAsOfExpressMsmq2Signature1(SecurityOnReceipt):
    """The receiver sets AS to 1 for an express message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return _set_as(done, 1) if header is not None and header.AS == 3 and not done.UserHeader.DM else done


@fault("receiver-as-of-transactional-msmq-2-signature-0", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAsOfTransactionalMsmq2Signature0(SecurityOnReceipt):
    """The receiver leaves AS at 0 for a transactional message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return _set_as(done, 0) if header is not None and header.AS == 3 and done.UserHeader.TH else done


@fault("receiver-as-of-encrypted-msmq-2-signature-0", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAsOfEncryptedMsmq2Signature0(SecurityOnReceipt):
    """The receiver leaves AS at 0 for an encrypted message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return _set_as(done, 0) if header is not None and header.AS == 3 and header.EB else done


@fault("receiver-as-of-msmq-3-signature-with-extension-1", breaks="MQQB-3.1.5.8.3-13", blind=True)
class ReceiverAsOfMsmq3SignatureWithExtension1(SecurityOnReceipt):
    """The receiver sets AS to 1 for a message with an extension and a valid MSMQ 3.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        extended = bool(done.MessagePropertiesHeader.ExtensionData)
        return _set_as(done, 1) if header is not None and header.AS == 5 and extended else done


class _OncePerSender(Admission):
    """Remember the senders to which the receiver has already reported a refusal."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told: set[tuple[MessageClass, bytes]] = set()

    def was_told(self, packet: UserMessagePacket, message_class: MessageClass) -> bool:
        header = packet.SecurityHeader
        if header is None or message_class not in SECURITY_CLASSES:
            return False
        key = message_class, header.SecurityData.SecurityID
        told = key in self.told
        self.told.add(key)
        return told


@fault("receiver-security-nack-once-per-sender", breaks=RULES_OF_NACKS, blind=True)
class ReceiverSecurityNackOncePerSender(_OncePerSender):
    """The receiver acknowledges only the first message of each sender that fails a security check of a kind."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if not packet.MessagePropertiesHeader.NA or not self.was_told(packet, message_class):
            super().refuse_message(session, packet, message_class, now)
        elif packet.TransactionHeader is not None:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)


@fault("receiver-security-final-ack-once-per-sender", breaks=RULES_OF_FINAL_ACKS, blind=True)
class ReceiverSecurityFinalAckOncePerSender(FinalAcks):
    """The receiver sends only one FinalAck of each class to each session for messages that fail a security check."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told: set[tuple[int, MessageClass]] = set()

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        key = session.number, message_class
        if message_class not in SECURITY_CLASSES or key not in self.told:
            super().refuse_transactional(session, packet, message_class, now)
        self.told.add(key)


@fault(
    "receiver-security-refused-message-reported-as-arrived",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedMessageReportedAsArrived(Admission):
    """The receiver also acknowledges the arrival of a message that fails a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        message = replace(self.build_message(packet, now), security=None)
        if message_class in SECURITY_CLASSES and packet.MessagePropertiesHeader.PA:
            self.qm.admin_acks.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)


@fault(
    "receiver-security-refused-transactional-message-in-dead-letter-queue",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedTransactionalMessageInDeadLetterQueue(Admission):
    """The receiver puts a transactional message that fails a security check into the receiver's own transactional
    dead-letter queue.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in SECURITY_CLASSES and packet.TransactionHeader is not None and packet.UserHeader.JN:
            message = replace(self.build_message(packet, now), security=None)
            self.qm.journaling.keep_message(self.qm.adm.SystemTransactionalDeadletterQueue, message)


@fault("receiver-security-nack-of-recoverable-message-of-other-class", breaks=RULES_OF_NACKS, blind=True)
class ReceiverSecurityNackOfRecoverableMessageOfOtherClass(AdminAcks):
    """The receiver sends the acknowledgment of a message that fails a security check with a different class when
    the message is recoverable.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class in SECURITY_CLASSES and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            others = {
                MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE: MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
                MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION: MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
                MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED: MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
            }
            return replace(ack, Class=others[message_class])
        return ack


@fault("receiver-rejected-key-accepted-from-cache", breaks=("MQQB-3.1.5.8.3-71", "MQQB-3.1.5.8.3-78"), blind=True)
class ReceiverRejectedKeyAcceptedFromCache(SecurityOnReceipt):
    """The receiver rejects a message with a 40-bit RC2 key only if the key is not in its cache."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        blob = b"" if header is None else header.SecurityData.EncryptionKey
        settings = self.qm.caches.settings
        known = any(one.EncryptedSymmetricKey == blob for one in self.qm.caches.ReceiveSymmetricKeyCache.entries)
        if blob and known:
            self.qm.caches.settings = replace(settings, RejectEnhancedRC2Using40BitKeys=False)
        try:
            return super().decrypt_body(packet, now)
        finally:
            self.qm.caches.settings = settings


@fault("receiver-large-encrypted-body-not-decrypted", breaks="MQQB-3.1.5.8.3-79", blind=True)
class ReceiverLargeEncryptedBodyNotDecrypted(SecurityOnReceipt):
    """The receiver decrypts only the first 64 KB of a body."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        done = super().decrypt_body(packet, now)
        header, properties = packet.SecurityHeader, done.MessagePropertiesHeader
        if header is None or not header.EB or len(properties.MessageBody) <= 0x10000:
            return done
        body = properties.MessageBody[:0x10000] + packet.MessagePropertiesHeader.MessageBody[0x10000:]
        return replace(
            done, MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body))
        )


@fault("receiver-initial-value-chained-between-messages", breaks="MQQB-3.1.5.8.3-80", blind=True)
class ReceiverInitialValueChainedBetweenMessages(SecurityOnReceipt):
    """When the receiver decrypts a second AES message with a cached key, it uses the last block of the first message as
    initialization vector.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: dict[bytes, bytes] = {}

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        done = super().decrypt_body(packet, now)
        header, properties = packet.SecurityHeader, done.MessagePropertiesHeader
        if header is None or not header.EB or properties.PrivacyLevel != 5:
            return done
        blob, value = header.SecurityData.EncryptionKey, packet.MessagePropertiesHeader.MessageBody[-16:]
        before = self.last.get(blob, bytes(16))
        self.last[blob] = value
        body = bytes(a ^ b for a, b in zip(properties.MessageBody, before, strict=False)) + properties.MessageBody[16:]
        return replace(done, MessagePropertiesHeader=replace(properties, MessageBody=body))


@fault("receiver-undecryptable-transactional-message-accepted", breaks="MQQB-3.1.5.8.3-88", blind=True)
class ReceiverUndecryptableTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver accepts a transactional message whose body cannot be decrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        try:
            return super().decrypt_body(packet, now)
        except Refused:
            if packet.TransactionHeader is None or packet.MessagePropertiesHeader.PrivacyLevel not in (1, 3, 5):
                raise
            return packet


@fault("receiver-invalid-privacy-level-of-transactional-message-accepted", breaks="MQQB-3.1.5.8.3-54", blind=True)
class ReceiverInvalidPrivacyLevelOfTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver accepts a transactional message with an invalid PrivacyLevel."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.TransactionHeader is not None and packet.MessagePropertiesHeader.PrivacyLevel not in (1, 3, 5):
            return packet
        return super().decrypt_body(packet, now)


@fault("receiver-foreign-certificate-of-transactional-message-accepted", breaks="MQQB-3.1.5.8.3-44", blind=True)
class ReceiverForeignCertificateOfTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver does not check the certificate of a transactional message."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is None:
            super().verify_sender(packet, now)


@fault("receiver-queue-manager-denied-for-transactional-message", breaks="MQQB-3.1.5.8.3-97", blind=True)
class ReceiverQueueManagerDeniedForTransactionalMessage(SecurityOnReceipt):
    """The receiver denies access to the transactional messages whose sender is a queue manager."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        if header is not None and header.ST == 2 and packet.TransactionHeader is not None:
            raise Refused(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, "a fault")
        super().authorize_sender(packet, queue)


@fault("receiver-user-of-first-message-for-transactional-messages", breaks="MQQB-3.1.5.8.3-98", blind=True)
class ReceiverUserOfFirstMessageForTransactionalMessages(SecurityOnReceipt):
    """The receiver treats the sender of the first message of a queue manager as the sender of this queue manager's
    transactional messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: SecurityHeader | None = None

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        self.first = self.first or packet.SecurityHeader
        if packet.TransactionHeader is not None:
            packet = replace(packet, SecurityHeader=self.first)
        super().authorize_sender(packet, queue)


@fault("receiver-unknown-account-granted-for-transactional-message", breaks="MQQB-3.1.5.8.3-102", blind=True)
class ReceiverUnknownAccountGrantedForTransactionalMessage(SecurityOnReceipt):
    """The receiver grants access to the transactional messages of an unknown account."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        try:
            super().authorize_sender(packet, queue)
        except Refused as refused:
            if packet.TransactionHeader is None or "is not an account" not in str(refused):
                raise


@fault("receiver-denied-signed-message-accepted", breaks="MQQB-3.1.5.8.3-127", blind=True)
class ReceiverDeniedSignedMessageAccepted(SecurityOnReceipt):
    """The receiver accepts a message of a sender without the right to write if the message is signed."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        if header is None or not header.AS:
            super().authorize_sender(packet, queue)
