"""Faults of MS-MQQB 3.1.5.8.2 General Processing: refusals of some kinds of messages and of later messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import (
    Message,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000
MISSING_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
NOT_TRANSACTIONAL_MESSAGE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG
TOO_MANY_HOPS_CLASS = MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED


RULES_OF_MISSING_QUEUES = ("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")


@fault("receiver-queue-with-longer-name-receives-message", breaks=RULES_OF_MISSING_QUEUES)
class ReceiverQueueWithLongerNameReceivesMessage(MessageArrival):
    """The receiver puts a message to a missing queue into a queue whose name begins with the name of that queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        queue = packet.UserHeader.DestinationQueue
        if found is None and isinstance(queue, DirectQueueFormatName):
            path = queue.DirectFormatName.partition("\\")[2].lower()
            for one in self.qm.adm.QueueCollection.values():
                if one.Pathname.lower().startswith(path):
                    return one
        return found


@fault(
    "receiver-recoverable-message-to-missing-queue-in-dead-letter-queue",
    breaks=("MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-23"),
)
class ReceiverRecoverableMessageToMissingQueueInDeadLetterQueue(MessageAdmission):
    """The receiver puts a recoverable message to a missing queue into the dead-letter queue."""

    def check_destination(self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now) -> Outcome:
        if queue is None and packet.UserHeader.DM:
            message = replace(self.build_message(packet, now), TransactionIdentifier=None)
            self.journal_refused_message(replace(message, NegativeJournalingRequested=True))
        return super().check_destination(session, packet, queue, now)


class _NackOmissionFault(AdminAcks):
    refused: MessageClass

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        raise NotImplementedError

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not self.refused or not self.is_acknowledgment_omitted(message):
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-nack-bad-dst-q-omitted-if-jn-is-set", breaks="MQQB-3.1.5.8.2-17")
class ReceiverNackBadDstQOmittedIfJnIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message with JN."""

    refused = MISSING_QUEUE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return message.NegativeJournalingRequested


@fault("receiver-nack-bad-dst-q-sent-only-if-pa-is-set", breaks="MQQB-3.1.5.8.2-17")
class ReceiverNackBadDstQSentOnlyIfPaIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message without PA."""

    refused = MISSING_QUEUE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 1


@fault("receiver-nack-not-transactional-q-sent-only-if-pa-is-set", breaks="MQQB-3.1.5.8.2-26")
class ReceiverNackNotTransactionalQSentOnlyIfPaIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_Q for a message without PA."""

    refused = NOT_TRANSACTIONAL_QUEUE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 1


@fault("receiver-nack-not-transactional-q-omitted-for-large-message", breaks="MQQB-3.1.5.8.2-26")
class ReceiverNackNotTransactionalQOmittedForLargeMessage(_NackOmissionFault):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_Q for a message with more than 4,096 bytes of
    body.
    """

    refused = NOT_TRANSACTIONAL_QUEUE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return len(message.Body) > LARGE_BODY_BYTES


@fault("receiver-nack-not-transactional-q-omitted-if-jn-is-set", breaks="MQQB-3.1.5.8.2-26")
class ReceiverNackNotTransactionalQOmittedIfJnIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_Q for a message with JN."""

    refused = NOT_TRANSACTIONAL_QUEUE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return message.NegativeJournalingRequested


@fault("receiver-nack-not-transactional-msg-sent-only-if-pa-is-set", breaks="MQQB-3.1.5.8.2-34")
class ReceiverNackNotTransactionalMsgSentOnlyIfPaIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_MSG for a message without PA."""

    refused = NOT_TRANSACTIONAL_MESSAGE_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 1


@fault("receiver-second-nack-not-transactional-msg-omitted", breaks="MQQB-3.1.5.8.2-34")
class ReceiverSecondNackNotTransactionalMsgOmitted(_NackOmissionFault):
    """The receiver sends an acknowledgment of class NOT_TRANSACTIONAL_MSG only for the first refused message."""

    refused = NOT_TRANSACTIONAL_MESSAGE_CLASS

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent = False

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        sent, self._sent = self._sent, True
        return sent


@fault("receiver-nack-hop-count-exceeded-sent-only-if-pa-is-set", breaks="MQQB-3.1.5.8.2-41")
class ReceiverNackHopCountExceededSentOnlyIfPaIsSet(_NackOmissionFault):
    """The receiver sends no acknowledgment of class HOP_COUNT_EXCEEDED for a message without PA."""

    refused = TOO_MANY_HOPS_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 1


@fault("receiver-second-nack-hop-count-exceeded-omitted", breaks="MQQB-3.1.5.8.2-41")
class ReceiverSecondNackHopCountExceededOmitted(_NackOmissionFault):
    """The receiver sends an acknowledgment of class HOP_COUNT_EXCEEDED only for the first message with too
    many hops.
    """

    refused = TOO_MANY_HOPS_CLASS

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent = False

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        sent = self._sent
        self._sent = sent or bool(message.AcknowledgementsRequested & 4)
        return sent


@fault("receiver-nack-hop-count-exceeded-omitted-for-recoverable", breaks="MQQB-3.1.5.8.2-41")
class ReceiverNackHopCountExceededOmittedForRecoverable(_NackOmissionFault):
    """The receiver sends no acknowledgment of class HOP_COUNT_EXCEEDED for a recoverable message without
    a transaction.
    """

    refused = TOO_MANY_HOPS_CLASS

    def is_acknowledgment_omitted(self, message: Message) -> bool:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        return recoverable and message.TransactionIdentifier is None


class _FinalAckOmissionFault(FinalAcks):
    refused: MessageClass

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is not self.refused or not self.is_acknowledgment_omitted(session, packet):
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-for-missing-queue-omitted-if-jn-is-set", breaks="MQQB-3.1.5.8.2-20")
class ReceiverFinalAckForMissingQueueOmittedIfJnIsSet(_FinalAckOmissionFault):
    """The receiver sends no FinalAck of class BAD_DST_Q for a message with JN."""

    refused = MISSING_QUEUE_CLASS

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.JN)


@fault("receiver-final-ack-for-missing-queue-omitted-behind-gap", breaks="MQQB-3.1.5.8.2-20")
class ReceiverFinalAckForMissingQueueOmittedBehindGap(_FinalAckOmissionFault):
    """The receiver sends no FinalAck of class BAD_DST_Q for a message whose PreviousTxSequenceNumber is not 0."""

    refused = MISSING_QUEUE_CLASS

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None and packet.TransactionHeader.PreviousTxSequenceNumber > 0


@fault("receiver-final-ack-for-nontransactional-queue-omitted-if-jn-set", breaks="MQQB-3.1.5.8.2-29")
class ReceiverFinalAckForNontransactionalQueueOmittedIfJnSet(_FinalAckOmissionFault):
    """The receiver sends no FinalAck of class NOT_TRANSACTIONAL_Q for a message with JN."""

    refused = NOT_TRANSACTIONAL_QUEUE_CLASS

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.JN)


@fault("receiver-final-ack-for-nontransactional-queue-needs-journaling", breaks="MQQB-3.1.5.8.2-29")
class ReceiverFinalAckForNontransactionalQueueNeedsJournaling(_FinalAckOmissionFault):
    """The receiver sends no FinalAck of class NOT_TRANSACTIONAL_Q for a message without JN and JP."""

    refused = NOT_TRANSACTIONAL_QUEUE_CLASS

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return not (packet.UserHeader.JN or packet.UserHeader.JP)


@fault("receiver-final-ack-for-too-many-hops-only-with-journaling", breaks="MQQB-3.1.5.8.2-44")
class ReceiverFinalAckForTooManyHopsOnlyWithJournaling(_FinalAckOmissionFault):
    """The receiver sends no FinalAck of class HOP_COUNT_EXCEEDED for a message without JN and JP."""

    refused = TOO_MANY_HOPS_CLASS

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return not (packet.UserHeader.JN or packet.UserHeader.JP)


@fault("receiver-final-ack-for-too-many-hops-sent-once-per-session", breaks="MQQB-3.1.5.8.2-44")
class ReceiverFinalAckForTooManyHopsSentOncePerSession(_FinalAckOmissionFault):
    """The receiver sends only one FinalAck of class HOP_COUNT_EXCEEDED on a session."""

    refused = TOO_MANY_HOPS_CLASS

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sessions: set[int] = set()

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        known = session.number in self._sessions
        self._sessions.add(session.number)
        return known


RULES_OF_TRANSACTIONAL_QUEUES = ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32")


@fault("receiver-inserts-transactional-message-with-jn-into-any-queue", breaks=RULES_OF_TRANSACTIONAL_QUEUES)
class ReceiverInsertsTransactionalMessageWithJnIntoAnyQueue(MessageAdmission):
    """The receiver inserts a transactional message with JN into any queue."""

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.JN:
            return packet
        return super().check_transactional_queue(session, packet, queue, now)


RULES_OF_NONTRANSACTIONAL_QUEUES = ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37")


@fault("receiver-nontransactional-message-in-used-transactional-queue", breaks=RULES_OF_NONTRANSACTIONAL_QUEUES)
class ReceiverNontransactionalMessageInUsedTransactionalQueue(MessageAdmission):
    """The receiver inserts a message without a transaction into a transactional queue that has a message."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if any(True for _ in queue.MessagePositionList):
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)


@fault("receiver-puts-priority-0-message-into-transactional-queue", breaks=RULES_OF_NONTRANSACTIONAL_QUEUES)
class ReceiverPutsPriority0MessageIntoTransactionalQueue(MessageAdmission):
    """The receiver inserts a message of priority 0 without a transaction into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if packet.BaseHeader.PR == 0:
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)
