"""Faults of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import Packet, SessionAckPacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-session-ack-before-open-session-ignored", breaks="MQQB-3.1.5.5-01", blind=True)
class InitiatorSessionAckBeforeOpenSessionIgnored(Closing):
    """An initiator that waits for a ConnectionParameters response ignores a SessionAck, and keeps the session open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waiting and isinstance(packet, SessionAckPacket)):
            super().refuse_out_of_state(session, packet, now)


@fault(
    "acceptor-session-ack-that-acknowledges-nothing-before-open-session-ignored", breaks="MQQB-3.1.5.5-01", blind=True
)
class AcceptorSessionAckThatAcknowledgesNothingBeforeOpenSessionIgnored(Closing):
    """Before the session is open, an acceptor ignores a SessionAck that acknowledges nothing."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        is_empty = isinstance(packet, SessionAckPacket) and not packet.SessionHeader.AckSequenceNumber
        if not is_empty:
            super().refuse_out_of_state(session, packet, now)
