"""Faults that break rules of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("sender-sequence-continued-while-final-ack-awaited", breaks="MQQB-3.1.5.6-15", blind=True)
class SenderSequenceContinuedWhileFinalAckAwaited(TransactionalSending):
    """The sender begins no new sequence at an OrderAck while a message awaits its FinalAck."""

    def begin_sequence(self, session: Session) -> None:
        if not session.AwaitingFinalACKTable:
            super().begin_sequence(session)
        elif session.TxOutgoingSequence is not None and not session.TxOutgoingSequence.UnackedSequence:
            self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)


@fault("sender-resend-index-kept-at-order-ack-on-other-session", breaks="MQQB-3.1.5.6-11", blind=True)
class SenderResendIndexKeptAtOrderAckOnOtherSession(OrderAcks):
    """The sender does not reset ResendIntervalIndex if the OrderAck that acknowledges the last message arrives on a
    session other than that of the message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.arrived_on: Session | None = None

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.arrived_on = session
        super().receive(session, packet, now)

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        sequence = get_outgoing_sequence(session)
        kept = sequence.ResendIntervalIndex, sequence.ResendInterval
        super().note_last_message_in_order(session, body, now)
        if self.arrived_on is not session and not sequence.UnackedSequence:
            sequence.ResendIntervalIndex, sequence.ResendInterval = kept
