"""Faults that break the rules MQQB-3.1.5.8.2-20 to MQQB-3.1.5.8.5-D02."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    NULL_GUID,
    MessageClass,
    PrivateQueueFormatNameId,
    QueueName,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.admin_acks import NEGATIVE_ARRIVAL_FLAG, AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import HIGHEST_HOP_COUNT, MessageRouting
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_02_general_processing.fault_steps import (
    MISSING_QUEUE_NACK_CLASS,
    omit_nack_of_express_message,
)


@fault("receiver-final-ack-for-missing-queue-only-if-jn-is-set", breaks="MQQB-3.1.5.8.2-20", blind=True)
class ReceiverFinalAckForMissingQueueOnlyIfJnIsSet(FinalAcks):
    """For a message to a queue that does not exist, the receiver sends a FinalAck only if the message has JN."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-of-second-refused-message-omitted", breaks="MQQB-3.1.5.8.2-20", blind=True)
class ReceiverFinalAckOfSecondRefusedMessageOmitted(FinalAcks):
    """The receiver sends the FinalAck of class BAD_DST_Q only for the first message of a sequence."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if message_class is not MISSING_QUEUE_NACK_CLASS or header is None or header.TxSequenceNumber == 1:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-for-missing-queue-sent-once-per-session", breaks="MQQB-3.1.5.8.2-20")
class ReceiverFinalAckForMissingQueueSentOncePerSession(FinalAcks):
    """The receiver sends only one FinalAck of class BAD_DST_Q on each session."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        done = self.__dict__.setdefault("done", set())
        if message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            if session.number in done:
                return
            done.add(session.number)
        super().send_negative_final_ack(session, packet, message_class, now)


NOT_TRANSACTIONAL_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q


@fault("receiver-nack-not-transactional-q-only-for-first-of-sequence", breaks="MQQB-3.1.5.8.2-26", blind=True)
class ReceiverNackNotTransactionalQOnlyForFirstOfSequence(MessageAdmission):
    """The receiver sends an acknowledgment of class NOT_TRANSACTIONAL_Q only for the first message of a sequence."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if message_class is NOT_TRANSACTIONAL_QUEUE_CLASS and header is not None and header.TxSequenceNumber > 1:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)
            return
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-final-ack-for-nontransactional-queue-sent-only-once", breaks="MQQB-3.1.5.8.2-29", blind=True)
class ReceiverFinalAckForNontransactionalQueueSentOnlyOnce(FinalAcks):
    """The receiver sends only one FinalAck for transactional messages to queues that are not transactional."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told = False

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        plain = message_class is MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
        if not plain or not self.told:
            super().send_negative_final_ack(session, packet, message_class, now)
        self.told = self.told or plain


@fault("receiver-transactional-queue-accepts-recoverable-message", breaks="MQQB-3.1.5.8.2-33", blind=True)
class ReceiverTransactionalQueueAcceptsRecoverableMessage(MessageAdmission):
    """The receiver inserts recoverable messages without a transaction into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if packet.UserHeader.DM:
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)


NOT_TRANSACTIONAL_MESSAGE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG


@fault("receiver-nack-not-transactional-msg-omitted-for-recoverable", breaks="MQQB-3.1.5.8.2-34", blind=True)
class ReceiverNackNotTransactionalMsgOmittedForRecoverable(MessageAdmission):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_MSG for a recoverable message."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is not NOT_TRANSACTIONAL_MESSAGE_CLASS or not packet.UserHeader.DM:
            super().refuse_message(session, packet, message_class, now)


add(
    "receiver-nack-not-transactional-msg-of-express-message-missing",
    "MQQB-3.1.5.8.2-34",
    "The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_MSG for an express message with NA set.",
    omit_nack_of_express_message(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
)


@fault("receiver-message-for-other-queue-manager-treated-as-own", breaks="MQQB-3.1.5.8.2-38")
class ReceiverMessageForOtherQueueManagerTreatedAsOwn(MessageReceiving):
    """The receiver treats a message for a different queue manager as a message for itself."""

    def is_for_this_queue_manager(self, packet: UserMessagePacket) -> bool:
        return True


@fault("router-hop-count-not-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountNotIncremented(MessageRouting):
    """The receiver forwards a message without incrementing RC."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return packet


@fault("router-only-lower-four-bits-of-hop-count-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterOnlyLowerFourBitsOfHopCountIncremented(MessageRouting):
    """The receiver increments only the lower four bits of RC."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        if counted is None or counted.UserHeader.RC & 0x0F:
            return counted
        return packet


@fault("router-transactional-message-forwarded-without-rc-increment", breaks="MQQB-3.1.5.8.2-39", blind=True)
class RouterTransactionalMessageForwardedWithoutRcIncrement(MessageRouting):
    """The receiver forwards a transactional message without incrementing RC."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is not None and packet.UserHeader.TH else counted


@fault("receiver-hop-count-of-recoverable-message-unchanged", breaks="MQQB-3.1.5.8.2-39", blind=True)
class ReceiverHopCountOfRecoverableMessageUnchanged(MessageRouting):
    """The receiver does not increment the hop count of a recoverable message that it forwards."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is not None and packet.UserHeader.DM else counted


@fault("router-hop-count-of-transactional-message-not-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountOfTransactionalMessageNotIncremented(MessageRouting):
    """The router does not increment RC of a transactional message."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is not None and packet.TransactionHeader is not None else counted


@fault("router-hop-count-set-to-1", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountSetTo1(MessageRouting):
    """The router sets RC of each forwarded message to 1."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        if counted is None:
            return None
        user = counted.UserHeader
        flags = user.Flags & ~type(user).flags(RC=31) | type(user).flags(RC=1)
        return replace(counted, UserHeader=replace(user, Flags=flags))


@fault("router-message-with-too-many-hops-forwarded", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterMessageWithTooManyHopsForwarded(MessageRouting):
    """The receiver forwards a message with any number of hops."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return super().increment_hop_count(packet) or packet


@fault("router-transactional-message-with-any-hop-count-forwarded", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterTransactionalMessageWithAnyHopCountForwarded(MessageRouting):
    """The receiver forwards a transactional message with any number of hops."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is None and packet.UserHeader.TH else counted


@fault("receiver-hop-count-of-transactional-message-not-limited", breaks="MQQB-3.1.5.8.2-40", blind=True)
class ReceiverHopCountOfTransactionalMessageNotLimited(MessageRouting):
    """The receiver forwards a transactional message regardless of its hop count."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is None and packet.TransactionHeader is not None else counted


def _replace_hop_count_class(message_class: MessageClass) -> MessageClass:
    if message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
        return MessageClass.MQMSG_CLASS_NACK_DELETED
    return message_class


@fault("receiver-nack-class-q-purged-for-too-many-hops", breaks=("MQQB-3.1.5.8.2-41", "MQDMPR-3.1.1.12-D15"))
class ReceiverNackClassQPurgedForTooManyHops(AdminAcks):
    """The receiver sends an administration acknowledgment of class NACK_Q_PURGED for a message with too many hops."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, _replace_hop_count_class(message_class), now)


@fault("receiver-nack-of-too-many-hops-sent-without-na-if-transactional", breaks="MQQB-3.1.5.8.2-41", blind=True)
class ReceiverNackOfTooManyHopsSentWithoutNaIfTransactional(AdminAcks):
    """The receiver sends an acknowledgment of class HOP_COUNT_EXCEEDED to the administration queue of a transactional
    message with too many hops even if NA is clear.
    """

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, message_class, now)
        hops = message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
        requested = message.AcknowledgementsRequested & NEGATIVE_ARRIVAL_FLAG
        if hops and message.TransactionIdentifier is not None and not requested:
            self.send(message, message_class, now)


@fault("receiver-final-ack-class-q-purged-for-too-many-hops", breaks="MQQB-3.1.5.8.2-44")
class ReceiverFinalAckClassQPurgedForTooManyHops(FinalAcks):
    """The receiver sends a FinalAck of class NACK_Q_PURGED for a message with too many hops."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().send_negative_final_ack(session, packet, _replace_hop_count_class(message_class), now)


@fault("receiver-final-ack-for-too-many-hops-only-if-na-is-set", breaks="MQQB-3.1.5.8.2-44", blind=True)
class ReceiverFinalAckForTooManyHopsOnlyIfNaIsSet(FinalAcks):
    """The receiver sends a FinalAck for too many hops only if the message has NA."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.MessagePropertiesHeader.NA or message_class is not MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("router-message-with-31-hops-forwarded", breaks="MQQB-3.1.5.8.2-47", blind=True)
class RouterMessageWith31HopsForwarded(MessageRouting):
    """The receiver forwards a message with a hop count of 31."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return packet if packet.UserHeader.RC == 31 else super().increment_hop_count(packet)


add(
    "receiver-acknowledges-recoverable-message-as-late-as-express-message",
    ("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-14"),
    "The receiver acknowledges a recoverable message no earlier than it would acknowledge an express message.",
    omit_step_during(SessionAcks.set_acknowledgment_flag, SessionTimers.start),
)


@fault("receiver-message-to-own-identifier-treated-as-foreign", breaks="MQQB-3.1.5.8.5-D01")
class ReceiverMessageToOwnIdentifierTreatedAsForeign(MessageReceiving):
    """If QueueManagerAddress of a message is the receiver's Identifier, the receiver treats the message as a message
    for another queue manager.
    """

    def is_for_this_queue_manager(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.QueueManagerAddress == NULL_GUID


@fault("receiver-message-put-into-private-queue-with-number-minus-one", breaks="MQQB-3.1.5.8.5-D01")
class ReceiverMessagePutIntoPrivateQueueWithNumberMinusOne(MessageArrival):
    """The receiver inserts a message with a private name into the queue whose number is one lower."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        if not isinstance(queue, PrivateQueueFormatNameId):
            return super().find_destination(packet)
        known = self.qm.adm.QueueCollection
        before = known.find_private_queue(queue.PrivateQueueIdentifier - 1)
        return before if before is not None else super().find_destination(packet)


@fault("router-message-forwarded-to-next-queue-number", breaks="MQQB-3.1.5.8.5-D02")
class RouterMessageForwardedToNextQueueNumber(MessageRouting):
    """The receiver forwards a message to the private queue with the next number."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(
            position,
            set_fields(packet, {"UserHeader.DestinationQueue.PrivateQueueIdentifier": lambda old: old + 1}),
            now,
        )


@fault("receiver-forwards-each-message-to-first-destination-of-sender", breaks="MQQB-3.1.5.8.5-D02", blind=True)
class ReceiverForwardsEachMessageToFirstDestinationOfSender(MessageRouting):
    """The receiver forwards every message of a sender to the destination of the first message of this sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[tuple[UUID, UUID], QueueName | None] = {}

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        user = packet.UserHeader
        queue = self.first.setdefault((user.SourceQueueManager, user.QueueManagerAddress), user.DestinationQueue)
        packet = replace(packet, UserHeader=replace(user, DestinationQueue=queue))
        super().route_message(session, packet, receipt, now)


@fault("router-retransmitted-message-rc-incremented-again", breaks="MQQB-3.1.5.8.2-39", blind=True)
class RouterRetransmittedMessageRcIncrementedAgain(MessageSending):
    """The router increments RC of a forwarded message again when it sends the message again on the next session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.forwarded: set[OutgoingMessagePosition] = set()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        header = packet.UserHeader
        if not self.is_from_this_queue_manager(packet):
            if position in self.forwarded and header.RC < HIGHEST_HOP_COUNT:
                packet = replace(packet, UserHeader=replace(header, Flags=header.Flags + 1))
            self.forwarded.add(position)
        super().transmit(session, position, packet)


_HOP_COUNT_MASK = UserHeader.flags(RC=0x1F)


@fault("router-transactional-message-with-too-many-hops-forwarded", breaks="MQQB-3.1.5.8.2-40", blind=True)
class RouterTransactionalMessageWithTooManyHopsForwarded(MessageRouting):
    """The queue manager forwards a transactional message although its incremented RC exceeds the valid range."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted, user = super().increment_hop_count(packet), packet.UserHeader
        if counted is not None or packet.TransactionHeader is None:
            return counted
        flags = user.Flags & ~_HOP_COUNT_MASK | UserHeader.flags(RC=user.RC + 1 & 0x1F)
        return replace(packet, UserHeader=replace(user, Flags=flags))
