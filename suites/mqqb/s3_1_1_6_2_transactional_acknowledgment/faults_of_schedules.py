"""Faults in the schedule of OrderAcks, and in the messages that an OrderAck discards (MS-MQQB 3.1.1.6.2)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-elapsed-time-counted-from-session-start", breaks="MQQB-3.1.1.6.2-04", blind=True)
class ReceiverOrderAckElapsedTimeCountedFromSessionStart(OrderAcks):
    """The receiver does not set LastOrderAckSendTime when it sends an OrderAck, and so computes the delay of every
    OrderAck from the start of the session.
    """

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        kept = session.LastOrderAckSendTime
        super().on_order_ack_send_timer(session, now)
        session.LastOrderAckSendTime = kept


@fault("receiver-order-ack-send-timer-of-second-session-not-restarted", breaks="MQQB-3.1.1.6.2-04", blind=True)
class ReceiverOrderAckSendTimerOfSecondSessionNotRestarted(OrderAcks):
    """The receiver does not restart the running Order Ack Send Timer of a session while another session is open."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number))
        first = min(self.qm.sessions)
        if not running or session.number == first:
            super().start_order_ack_timer(session, now)


@fault("receiver-order-ack-send-timer-after-first-order-ack-doubled", breaks="MQQB-3.1.1.6.2-06", blind=True)
class ReceiverOrderAckSendTimerAfterFirstOrderAckDoubled(OrderAcks):
    """The receiver starts the Order Ack Send Timer with twice OrderAckTimeout after the first OrderAck of a session."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        super().on_order_ack_send_timer(session, now)
        session.OrderAckTimeout = 1000


@fault("receiver-order-ack-send-timer-not-started-by-rejected-message", breaks="MQQB-3.1.1.6.2-06", blind=True)
class ReceiverOrderAckSendTimerNotStartedByRejectedMessage(TransactionalReceiving):
    """The receiver does not start the Order Ack Send Timer when a message that is out of sequence arrives."""

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence_message(session, transfer, now)
        if transfer is not None and len(session.order_acks_due) == 1:
            self.qm.session_timers.stop(session, TimerName.ORDER_ACK_SEND)
            session.order_acks_due.clear()


@fault("sender-keeps-resent-messages-that-order-ack-acknowledges", breaks="MQQB-3.1.1.6.2-08", blind=True)
class SenderKeepsResentMessagesThatOrderAckAcknowledges(OrderAcks):
    """The sender does not discard the messages up to TxSequenceNumber that it has sent more than once."""

    are_messages_sent_again: bool = False

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        self.are_messages_sent_again = get_outgoing_sequence(session).ResendIntervalIndex > 0
        super().note_last_message_in_order(session, body, now)

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        if not self.are_messages_sent_again:
            super().delete_order_acknowledged_messages(session, body)


@fault(
    "sender-discards-only-message-whose-number-order-ack-contains",
    breaks=("MQQB-3.1.1.6.2-08", "MQQB-3.1.5.6-13"),
    blind=True,
)
class SenderDiscardsOnlyMessageWhoseNumberOrderAckContains(OrderAcks):
    """The sender discards only the message with the number TxSequenceNumber, and sends the earlier ones again."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber == body.TxSequenceNumber:
                position.ReceivedOrderAck = True
                if position.ReceivedSessionAck:
                    self.qm.transactional_sending.delete_order_acknowledged_message(session, position)
        self.qm.transactional_sending.begin_sequence(session)


@fault("sender-discards-no-message-at-order-ack-on-other-session", breaks="MQQB-3.1.1.6.2-08", blind=True)
class SenderDiscardsNoMessageAtOrderAckOnOtherSession(OrderAcks):
    """The sender discards no message when the OrderAck arrives on a session other than the one on which the messages
    were sent.
    """

    def receive(self, session: Session, packet: Any, now: Now) -> None:
        if session.initiator:
            super().receive(session, packet, now)
