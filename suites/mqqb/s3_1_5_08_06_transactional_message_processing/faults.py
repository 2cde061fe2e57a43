"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

# -- the Order Ack Send Timer --------------------------------------------------------------------------------------


@fault("order-ack-put-off-for-ever", breaks=("MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-04"))
class OrderAckPutOffForEver(OrderAcks):
    """Each message puts the OrderAck off."""

    def schedule(self, session: Session, now: Now) -> None:
        self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, session.OrderAckTimeout, now)


@fault("order-ack-never-put-off", breaks=("MQQB-3.1.5.8.6-02", "MQQB-3.1.1.6.2-05"))
class OrderAckNeverPutOff(OrderAcks):
    """No message puts the OrderAck off."""

    def schedule(self, session: Session, now: Now) -> None:
        if not self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)):
            super().schedule(session, now)


@fault("order-ack-timeout-of-two-seconds", breaks=("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.6.2-06", "MQQB-3.1.2.7-01"))
class OrderAckTimeoutOfTwoSeconds(Initialization):
    """OrderAckTimeout is two seconds."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        session.OrderAckTimeout = 2_000


add(
    "order-ack-not-sent",
    ("MQQB-3.1.5.8.6-04", "MQQB-3.1.1.6.2-07", "MQQB-3.1.6.9-01"),
    "Nothing is sent when the Order Ack Send Timer expires.",
    skip(OrderAcks.on_send_timer),
)


# -- the sequence --------------------------------------------------------------------------------------------------


@fault("order-ack-of-any-later-message", breaks=("MQQB-3.1.5.8.6-09", "MQQB-3.1.1.6.2-03"))
class AnyLaterMessageAccepted(InSequence):
    """A message is accepted whether the one before it came or not."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        same = header.TxSequenceID == session.IncomingTxSequenceID
        later = same and header.TxSequenceNumber > session.IncomingTxSequenceNumber
        return later or super().is_in_sequence(session, packet)


@fault("order-ack-number-forgotten", breaks="MQQB-3.1.5.8.6-09")
class NumberForgotten(InSequence):
    """A sequence stands at number 1 after each message."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = 1


add(
    "order-ack-rejection-not-counted",
    "MQQB-3.1.5.8.6-05",
    "A message that is not accepted is not counted.",
    skip(InSequence.reject_out_of_sequence),
)


@fault("order-ack-rejection-not-told", breaks="MQQB-3.1.5.8.6-06")
class RejectionNotNoted(InSequence):
    """RejectCount of the sequence stays 0."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            transfer.RejectCount = 0


@fault("order-ack-rejections-counted-on", breaks="MQQB-3.1.5.8.6-07")
class RejectionsCountedOn(InSequence):
    """TxMessageRejectCount keeps its value when a message is accepted."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        count = session.TxMessageRejectCount
        super().accept_in_sequence(session, transfer, packet, now)
        session.TxMessageRejectCount = count


@fault("order-ack-access-not-noted", breaks="MQQB-3.1.5.8.6-08")
class AccessNotNoted(InSequence):
    """LastAccessTime is only set when a message is accepted."""

    def reject_out_of_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        time_s = 0 if transfer is None else transfer.LastAccessTime
        super().reject_out_of_sequence(session, transfer, now)
        if transfer is not None:
            transfer.LastAccessTime = time_s
