"""Faults of MS-MQQB 3.1.5.8.2 General Processing that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, MessageClass, QueueName, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

BAD_DST_Q = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_Q = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
NOT_TRANSACTIONAL_MSG = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG


@fault("receiver-message-for-others-not-counted", breaks="MQQB-3.1.5.8.2-03", blind=True)
class ReceiverMessageForOthersNotCounted(Receiving):
    """The receiver does not count a message that is addressed to another queue manager."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        if self.is_addressed_here(packet):
            super().count_received(session, packet)


@fault("receiver-later-session-ack-send-timer-of-double-duration", breaks="MQQB-3.1.5.8.2-12", blind=True)
class ReceiverLaterSessionAckSendTimerOfDoubleDuration(Receiving):
    """After its first SessionAck, the receiver starts the Session Ack Send Timer with the full AckWaitTimeout instead
    of half of it.
    """

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_activity(session, packet, now)
        if not running and session.MessageReceivedCount > 1:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("receiver-session-active-not-set-by-recoverable-message", breaks="MQQB-3.1.5.8.2-13", blind=True)
class ReceiverSessionActiveNotSetByRecoverableMessage(Receiving):
    """The receiver does not set SessionActive when it receives a recoverable message."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_activity(session, packet, now)
        if packet.UserHeader.DM:
            session.SessionActive = active


@fault("receiver-bad-dst-q-of-private-name-omitted", breaks="MQQB-3.1.5.8.2-17", blind=True)
class ReceiverBadDstQOfPrivateNameOmitted(Admission):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message to a private format name."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        direct = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
        if message_class is BAD_DST_Q and not direct and packet.TransactionHeader is None:
            return
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-final-ack-of-second-refused-message-omitted", breaks="MQQB-3.1.5.8.2-20", blind=True)
class ReceiverFinalAckOfSecondRefusedMessageOmitted(FinalAcks):
    """The receiver sends the FinalAck of class BAD_DST_Q only for the first message of a sequence."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if message_class is not BAD_DST_Q or header is None or header.TxSequenceNumber == 1:
            super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-not-transactional-msg-of-recoverable-message-omitted", breaks="MQQB-3.1.5.8.2-34", blind=True)
class ReceiverNotTransactionalMsgOfRecoverableMessageOmitted(Admission):
    """The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_MSG for a recoverable message."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is not NOT_TRANSACTIONAL_MSG or not packet.UserHeader.DM:
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-not-transactional-q-of-later-message-omitted", breaks="MQQB-3.1.5.8.2-26", blind=True)
class ReceiverNotTransactionalQOfLaterMessageOmitted(Admission):
    """The receiver sends an acknowledgment of class NOT_TRANSACTIONAL_Q only for the first message of a sequence."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if message_class is NOT_TRANSACTIONAL_Q and header is not None and header.TxSequenceNumber > 1:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)
            return
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-hop-count-of-recoverable-message-unchanged", breaks="MQQB-3.1.5.8.2-39", blind=True)
class ReceiverHopCountOfRecoverableMessageUnchanged(Routing):
    """The receiver does not increment the hop count of a recoverable message that it forwards."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is not None and packet.UserHeader.DM else counted


@fault("receiver-hop-count-of-transactional-message-not-limited", breaks="MQQB-3.1.5.8.2-40", blind=True)
class ReceiverHopCountOfTransactionalMessageNotLimited(Routing):
    """The receiver forwards a transactional message regardless of its hop count."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is None and packet.TransactionHeader is not None else counted


@fault("receiver-message-for-others-in-queue-of-first-destination", breaks="MQQB-3.1.5.8.5-D02", blind=True)
class ReceiverMessageForOthersInQueueOfFirstDestination(Routing):
    """The receiver forwards every message of a sender to the destination of the first message of this sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[tuple[UUID, UUID], QueueName | None] = {}

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        user = packet.UserHeader
        queue = self.first.setdefault((user.SourceQueueManager, user.QueueManagerAddress), user.DestinationQueue)
        packet = replace(packet, UserHeader=replace(user, DestinationQueue=queue))
        super().route_message(session, packet, receipt, now)


@fault("receiver-direct-format-session-reset-by-private-name", breaks="MQQB-3.1.5.8.2-04", blind=True)
class ReceiverDirectFormatSessionResetByPrivateName(Receiving):
    """The receiver sets DirectFormatSession to FALSE when it receives a message whose destination is not a direct
    format name.
    """

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        session.DirectFormatSession = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)


@fault("receiver-duplicate-not-counted", breaks="MQQB-3.1.5.8.2-02", blind=True)
class ReceiverDuplicateNotCounted(Receiving):
    """The receiver does not count a message that repeats an earlier message in MessageReceivedCount."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if packet.TransactionHeader is None and self.qm.history.find_duplicate(packet) is not None:
            session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF


@fault("receiver-acknowledgment-not-counted-as-message", breaks="MQQB-3.1.5.8.2-02", blind=True)
class ReceiverAcknowledgmentNotCountedAsMessage(Receiving):
    """The receiver does not count acknowledgments that the other queue manager sends in MessageReceivedCount."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if packet.MessagePropertiesHeader.MessageClass:
            session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF


@fault("receiver-history-entry-time-is-sent-time", breaks="MQQB-3.1.5.8.2-07", blind=True)
class ReceiverHistoryEntryTimeIsSentTime(History):
    """The receiver sets the TimeStamp of a history entry to the SentTime of the message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        return super().remember_message(packet, replace(now, utc_s=packet.UserHeader.SentTime))


@fault("router-message-not-in-history", breaks="MQQB-3.1.5.8.2-10", blind=True)
class RouterMessageNotInHistory(History):
    """The receiver does not insert a message for another queue manager into its history."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if not self.qm.receiving.is_addressed_here(packet):
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        return entry


@fault("receiver-history-timer-restarted-by-each-message", breaks="MQQB-3.1.5.8.2-11", blind=True)
class ReceiverHistoryTimerRestartedByEachMessage(History):
    """The receiver restarts the MessageIDHistory Cleanup Timer with each message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        self.start_history_timer(now)
        return entry


_REFUSALS = {
    MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q: "MQQB-3.1.5.8.2-15",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: "MQQB-3.1.5.8.2-32",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: "MQQB-3.1.5.8.2-37",
    MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED: "MQQB-3.1.5.8.2-47",
}


@fault("receiver-refused-message-with-jn-in-dead-letter-queue", breaks=_REFUSALS.values(), blind=True)
class ReceiverRefusedMessageWithJnInDeadLetterQueue(Admission):
    """The receiver puts a refused message with JN into its own dead-letter queue."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in _REFUSALS and packet.UserHeader.JN:
            system = self.qm.adm
            transactional = packet.TransactionHeader is not None
            place = system.SystemTransactionalDeadletterQueue if transactional else system.SystemDeadletterQueue
            self.qm.journaling.keep_message(place, self.build_message(packet, now))


@fault("receiver-refused-message-with-trace-reported", breaks=_REFUSALS.values(), blind=True)
class ReceiverRefusedMessageWithTraceReported(Admission):
    """The receiver sends a report on a refused message."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in _REFUSALS:
            self.qm.tracing.trace_received(self.build_message(packet, now), now)


@fault("receiver-final-ack-of-not-transactional-queue-once", breaks="MQQB-3.1.5.8.2-29", blind=True)
class ReceiverFinalAckOfNotTransactionalQueueOnce(FinalAcks):
    """The receiver sends only one FinalAck for transactional messages to queues that are not transactional."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told = False

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        plain = message_class is MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
        if not plain or not self.told:
            super().refuse_transactional(session, packet, message_class, now)
        self.told = self.told or plain


@fault("router-message-with-31-hops-forwarded", breaks="MQQB-3.1.5.8.2-47", blind=True)
class RouterMessageWith31HopsForwarded(Routing):
    """The receiver forwards a message with a hop count of 31."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return packet if packet.UserHeader.RC == 31 else super().count_hop(packet)
