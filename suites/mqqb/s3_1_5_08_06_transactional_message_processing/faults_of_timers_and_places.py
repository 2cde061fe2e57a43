"""Faults of MS-MQQB 3.1.5.8.6: the Order Ack Send Timer, and the place of a sequence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import AcceptedMessage, IncomingTransactionalTransferInfo, RecoverableReceipt, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-timer-not-restarted-by-other-sequence", breaks="MQQB-3.1.5.8.6-02", blind=True)
class ReceiverOrderAckTimerNotRestartedByOtherSequence(TransactionalReceiving):
    """The receiver does not restart a running Order Ack Send Timer for a message whose sequence is not that of the
    previous message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.starting: dict[int, TxSequenceID] = {}
        """The sequence whose message started the timer of a session."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        assert packet.TransactionHeader is not None
        identifier = packet.TransactionHeader.TxSequenceID
        left_ms = self.read_remaining_timer_ms(session, now)
        if left_ms is None:
            self.starting[session.number] = identifier
        super().receive_transactional_message(session, packet, receipt, now)
        self.restore_order_ack_timer(session, identifier, left_ms, now)

    def confirm_message_saved(self, acceptance: AcceptedMessage, sessions: list[Session], now: Now) -> None:
        left_ms = [self.read_remaining_timer_ms(session, now) for session in sessions]
        super().confirm_message_saved(acceptance, sessions, now)
        for session, left in zip(sessions, left_ms, strict=True):
            self.restore_order_ack_timer(session, acceptance.SequenceIdentifier, left, now)

    def read_remaining_timer_ms(self, session: Session, now: Now) -> int | None:
        """Return the remaining time of the timer, or None if the timer does not run."""
        return self.qm.timers.get_remaining_ms(TimerKey(TimerName.ORDER_ACK_SEND, session.number), now.monotonic_ms)

    def restore_order_ack_timer(
        self, session: Session, identifier: TxSequenceID, left_ms: int | None, now: Now
    ) -> None:
        """Set the timer back to its remaining time if the message of a different sequence started the timer."""
        if left_ms is not None and self.starting.get(session.number) != identifier:
            self.qm.timers.start(TimerKey(TimerName.ORDER_ACK_SEND, session.number), now.monotonic_ms, left_ms)


@fault("receiver-order-ack-timer-not-restarted-by-rejected-message", breaks="MQQB-3.1.5.8.6-02", blind=True)
class ReceiverOrderAckTimerNotRestartedByRejectedMessage(TransactionalReceiving):
    """The receiver does not restart a running Order Ack Send Timer for a message that is out of sequence."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        key = TimerKey(TimerName.ORDER_ACK_SEND, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        rejected = session.TxMessageRejectCount
        super().receive_transactional_message(session, packet, receipt, now)
        if left_ms is not None and session.TxMessageRejectCount > rejected:
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("receiver-order-ack-on-own-session-not-sent", breaks="MQQB-3.1.5.8.6-04", blind=True)
class ReceiverOrderAckOnOwnSessionNotSent(OrderAcks):
    """The receiver sends no OrderAck for messages on a session that it opened itself."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().on_order_ack_send_timer(session, now)


@fault("receiver-sequence-number-above-16-bits-cut", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverSequenceNumberAbove16BitsCut(TransactionalReceiving):
    """The receiver keeps only the low 16 bits of TxSequenceNumber."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = transfer.SequenceNumber & 0xFFFF


@fault("receiver-sequence-number-after-gap-counted", breaks="MQQB-3.1.5.8.6-09", blind=True)
class ReceiverSequenceNumberAfterGapCounted(TransactionalReceiving):
    """After a message whose TxSequenceNumber is more than one above the last accepted number, the receiver increments
    IncomingTxSequenceNumber only by one.
    """

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        before = transfer.SequenceIdentifier, transfer.SequenceNumber
        super().accept_in_sequence_message(session, transfer, packet, now)
        if before[0] == transfer.SequenceIdentifier and transfer.SequenceNumber > before[1] + 1:
            session.IncomingTxSequenceNumber = transfer.SequenceNumber = before[1] + 1
