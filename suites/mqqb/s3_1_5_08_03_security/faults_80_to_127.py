"""Faults that break the rules MQQB-3.1.5.8.3-80 to MQQB-3.1.5.8.3-127."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.store.messages import DIRECT_QUEUE_TYPE
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue, Session
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    copy_refused_messages_to_dead_letter_queue,
    omit_final_ack_if_na_is_set,
    omit_nack_of_transactional_message,
)


@fault("receiver-aes-initialization-vector-taken-from-last-message", breaks="MQQB-3.1.5.8.3-80", blind=True)
class ReceiverAesInitializationVectorTakenFromLastMessage(SecurityOnReceipt):
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


add(
    "receiver-nack-bad-encryption-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-82",
    "The receiver sends no acknowledgment of class BAD_ENCRYPTION for a transactional message with NA set.",
    omit_nack_of_transactional_message(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)


add(
    "receiver-final-ack-bad-encryption-omitted-with-na",
    "MQQB-3.1.5.8.3-85",
    "The receiver sends no FinalAck of class BAD_ENCRYPTION for a message with NA set.",
    omit_final_ack_if_na_is_set(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)


@fault("receiver-undecryptable-transactional-message-accepted", breaks="MQQB-3.1.5.8.3-88", blind=True)
class ReceiverUndecryptableTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver accepts a transactional message whose body cannot be decrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        try:
            return super().decrypt_body(packet, now)
        except ReceivedMessageRefused:
            if packet.TransactionHeader is None or packet.MessagePropertiesHeader.PrivacyLevel not in (1, 3, 5):
                raise
            return packet


add(
    "receiver-message-without-readable-body-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-88",
    "The receiver puts a message with JN whose body it cannot decrypt into the dead-letter queue.",
    copy_refused_messages_to_dead_letter_queue(MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
)


@fault("receiver-access-of-unsigned-message-not-checked", breaks="MQQB-3.1.5.8.3-89", blind=True)
class ReceiverAccessOfUnsignedMessageNotChecked(SecurityOnReceipt):
    """The receiver does not check the access rights of the sender of an unsigned message."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            super().authorize_sender(packet, queue)


@fault("receiver-access-not-checked-for-message-to-direct-name", breaks="MQQB-3.1.5.8.3-90", blind=True)
class ReceiverAccessNotCheckedForMessageToDirectName(SecurityOnReceipt):
    """The receiver does not check the access rights of the sender of a message with a direct format name."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.UserHeader.DQ != DIRECT_QUEUE_TYPE:
            super().authorize_sender(packet, queue)


@fault(
    "receiver-access-of-sender-not-checked-again-for-other-queue",
    breaks=("MQQB-3.1.5.8.3-90", "MQQB-3.1.5.8.3-91"),
    blind=True,
)
class ReceiverAccessOfSenderNotCheckedAgainForOtherQueue(SecurityOnReceipt):
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


@fault("receiver-denial-of-access-to-one-queue-applied-to-all-queues", breaks="MQQB-3.1.5.8.3-91", blind=True)
class ReceiverDenialOfAccessToOneQueueAppliedToAllQueues(SecurityOnReceipt):
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


@fault("receiver-denies-transactional-message-sent-by-queue-manager", breaks="MQQB-3.1.5.8.3-97", blind=True)
class ReceiverDeniesTransactionalMessageSentByQueueManager(SecurityOnReceipt):
    """The receiver denies access to the transactional messages whose sender is a queue manager."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        if header is not None and header.ST == 2 and packet.TransactionHeader is not None:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED, "a fault refuses the message")
        super().authorize_sender(packet, queue)


@fault("receiver-first-user-assumed-for-all-transactional-messages", breaks="MQQB-3.1.5.8.3-98", blind=True)
class ReceiverFirstUserAssumedForAllTransactionalMessages(SecurityOnReceipt):
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


@fault("receiver-transactional-message-of-unknown-account-accepted", breaks="MQQB-3.1.5.8.3-102", blind=True)
class ReceiverTransactionalMessageOfUnknownAccountAccepted(SecurityOnReceipt):
    """The receiver grants access to the transactional messages of an unknown account."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        try:
            super().authorize_sender(packet, queue)
        except ReceivedMessageRefused as refused:
            if packet.TransactionHeader is None or "is not an account" not in str(refused):
                raise


add(
    "receiver-nack-access-denied-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-121",
    "The receiver sends no acknowledgment of class ACCESS_DENIED for a transactional message with NA set.",
    omit_nack_of_transactional_message(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)


@fault("receiver-final-ack-of-denied-message-missing-if-na-is-clear", breaks="MQQB-3.1.5.8.3-124", blind=True)
class ReceiverFinalAckOfDeniedMessageMissingIfNaIsClear(MessageAdmission):
    """If the sender of a message has no access, the receiver sends the FinalAck only if the message also requests a
    negative administration acknowledgment.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        denied = message_class is MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED
        if not denied or packet.MessagePropertiesHeader.NA:
            super().refuse_message(session, packet, message_class, now)


add(
    "receiver-final-ack-access-denied-omitted-with-na",
    "MQQB-3.1.5.8.3-124",
    "The receiver sends no FinalAck of class ACCESS_DENIED for a message with NA set.",
    omit_final_ack_if_na_is_set(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)


@fault("receiver-accepts-signed-message-of-sender-without-right", breaks="MQQB-3.1.5.8.3-127", blind=True)
class ReceiverAcceptsSignedMessageOfSenderWithoutRight(SecurityOnReceipt):
    """The receiver accepts a message of a sender without the right to write if the message is signed."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        if header is None or not header.AS:
            super().authorize_sender(packet, queue)


add(
    "receiver-message-without-access-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-127",
    "The receiver puts a message with JN whose sender has no access into the dead-letter queue.",
    copy_refused_messages_to_dead_letter_queue(MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
)
