"""Alternative readings of errata about the sending and the acknowledgment of messages."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.codec import MessageClass, OrderAckBody, PrivateName, SessionHeader, UserMessagePacket
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import (
    TransactionalSending,
    get_outgoing_sequence,
    stop_counting_as_unacknowledged,
)
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

HALF_OF_SEQUENCE_NUMBER_RANGE = 0x8000


@follows_reading_of_erratum("E22.2")
class RecoverableMessagesUpToAckNumberAreAcknowledged(SessionAcks):
    """When the sender receives a SessionHeader, it treats every recoverable message up to RecoverableMsgAckSeqNumber as
    acknowledged.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        number = header.RecoverableMsgAckSeqNumber
        for position in session.OutgoingMessageTable.awaiting_ack:
            own = position.RecoverableSequenceNumber
            if (
                number
                and position.recoverable
                and not position.TxSequenceNumber
                and (number - own & 0xFFFF) < HALF_OF_SEQUENCE_NUMBER_RANGE
            ):
                self.delete_position(session, position)
        super().delete_acknowledged_recoverable_messages(session, header)


@follows_reading_of_erratum("E24.2")
class SessionAckSendTimerIsAlwaysRestarted(SessionAcks):
    """The receiver always restarts the Session Ack Send Timer when it expires."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        super().on_order_ack_send_timer(session, now)
        if session.SessionState is not SessionState.OPEN:
            return
        if not self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number)):
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


@follows_reading_of_erratum("E25.2")
class WindowSizeOfPeerLimitsSender(MessageSending):
    """The sender limits the number of its unacknowledged messages to the peer's WindowSize."""

    @faulty_only_if(lambda part, session: session.ReceivedWindowSize != session.WindowSize)
    def is_window_open(self, session: Session) -> bool:
        return session.UnAckedMessageCount < session.ReceivedWindowSize


class _PeerWindowSizeOfLatestSessionHeader(SessionAcks):
    @faulty_only_if(lambda part, session, header, now: session.ReceivedWindowSize != header.WindowSize)
    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        session.ReceivedWindowSize = header.WindowSize
        super().process_session_header(session, header, now)


register_variant_of_reading(
    "E25.3",
    "The sender uses the window size of the peer, and sets it to WindowSize of each SessionHeader that arrives.",
    combine_installers(replace_part(WindowSizeOfPeerLimitsSender), replace_part(_PeerWindowSizeOfLatestSessionHeader)),
)


@follows_reading_of_erratum("E35.2")
class LabelOfSenderReportSaysSentBy(MessageTracing):
    """The sender's report on a sent message has "sent by" in its label, and no space before the end tag of the hop
    count.
    """

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        self.sent = next_hop is not None
        super().send_report(message, next_hop, now)

    def build_report_label(self, message: Message, now: Now) -> str:
        label = super().build_report_label(message, now)
        return label.replace(" received by ", " sent by ") if self.sent else label

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        return super().build_report_body(message, next_hop).replace(" </HOP COUNT>", "</HOP COUNT>")


@follows_reading_of_erratum("E36.2")
class OrderAckIsRecoverable(MessageSending):
    """The receiver sends recoverable OrderAcks."""

    @faulty_only_if(
        lambda part, queue, position, now: position.MessageReference.Class == MessageClass.MQMSG_CLASS_ORDER_ACK
    )
    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        super().on_message_position_available(queue, position, now)


@follows_reading_of_erratum("E42.2")
class OrderAckSentToOrderQueueOfRemoteQueueManager(OrderAcks):
    """For a private name, the receiver uses the order queue of the session's remote queue manager."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        name = super().build_order_queue_name(session, source)
        direct = name.startswith("DIRECT=")
        return name if direct else str(PrivateName(session.RemoteQMGuid, ORDER_QUEUE_NUMBER))


@follows_reading_of_erratum("E221.2")
class OrderAckWaitsUntilLastSendTime(OrderAcks):
    """While the receiver's clock shows a time before LastOrderAckSendTime, each further transactional message delays
    the OrderAck again.
    """

    @faulty_only_if(lambda part, session, now: now.utc_s < session.LastOrderAckSendTime)
    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)


@follows_reading_of_erratum("E44.2")
class FirstResentMessageHasPreviousNumber(TransactionalSending):
    """When the sender resends the first message in OutgoingMessageTable, it sets PreviousTxSequenceNumber to the number
    of this message minus one.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or header.PreviousTxSequenceNumber or not position.Transmitted:
            return packet
        return replace(
            packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=max(0, position.TxSequenceNumber - 1))
        )


@follows_reading_of_erratum("E45.2")
class SenderDeletesMessageWhenOrderAckArrives(OrderAcks):
    """The sender deletes a message when its OrderAck arrives, and leaves ReceivedOrderAck FALSE."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        for position in session.OutgoingMessageTable:
            if 0 < position.TxSequenceNumber <= body.TxSequenceNumber:
                stop_counting_as_unacknowledged(session, position)
                self.qm.transactional_sending.delete_order_acknowledged_message(session, position)
        self.qm.transactional_sending.begin_sequence(session)


@follows_reading_of_erratum("E46.2")
class OrderAckIncrementsResendIntervalIndex(TransactionalSending):
    """The sender increments ResendIntervalIndex for each OrderAck."""

    def lengthen_resend_interval(self, session: Session) -> None:
        """Leave ResendIntervalIndex unchanged."""

    def reset_resend_interval(self, session: Session) -> None:
        if get_outgoing_sequence(session).UnackedSequence:
            super().lengthen_resend_interval(session)
        else:
            super().reset_resend_interval(session)


@follows_reading_of_erratum("E48.2")
class MessageIdentifiersBeginWithZero(MessageNumbering):
    """The queue manager gives its first message the identifier 0."""

    def assign_message_ordinal(self) -> int:
        assigned = self.qm.adm.MessageIdOrdinal
        self.qm.adm.MessageIdOrdinal = assigned + 1 & 0xFFFFFFFF
        return assigned

    def predict_next_message_ordinal(self) -> int:
        return self.qm.adm.MessageIdOrdinal


@follows_reading_of_erratum("E64.2")
class WaitingMessagesCountAsUnacknowledged(SessionInitialization):
    """The sender counts the waiting messages in UnAckedMessageCount of a new session, and counts them
    again when it resends them.
    """

    @faulty_only_if(lambda part, session: len(session.OutgoingMessageTable) > 0)
    def initialize_messages(self, session: Session) -> None:
        super().initialize_messages(session)
        session.UnAckedMessageCount = len(session.OutgoingMessageTable)


@follows_reading_of_erratum("E65.2")
class AcknowledgmentResendsUnacknowledgedMessages(SessionAcks):
    """Whenever an acknowledgment arrives, the sender resends all messages of the session that are still
    unacknowledged.
    """

    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        super().process_session_header(session, header, now)
        for position in session.OutgoingMessageTable.awaiting_ack:
            if not position.ReceivedSessionAck:
                stop_counting_as_unacknowledged(session, position)
                session.OutgoingMessageTable.mark_for_resending(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.message_sending.dispatch_messages(session, now)


@follows_reading_of_erratum("E87.2")
class SessionHeaderRestartsAckSendTimer(MessageSending):
    """The sender restarts the Session Ack Send Timer after it sends a message with a SessionHeader."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        if packet.SessionHeader is not None and not self.qm.timers.is_running(key):
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)
        return packet


@follows_reading_of_erratum("E110.2")
class SenderIgnoresTimeToBeReceived(MessageLifetimes):
    """The sender sends a message whose TimeToBeReceived has expired; the message expires at its destination."""

    @faulty_only_if(
        lambda part, packet, now: (
            part.qm.message_sending.is_from_this_queue_manager(packet)
            and packet.UserHeader.TimeToBeReceived != INFINITE_TIMEOUT
        )
    )
    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return now.utc_s - packet.UserHeader.SentTime > packet.BaseHeader.TimeToReachQueue
