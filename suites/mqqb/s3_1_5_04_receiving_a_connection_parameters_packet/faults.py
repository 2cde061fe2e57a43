"""Faults of MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_states import ignore_out_of_state
from reference_qm.codec import ConnectionParametersPacket, Packet
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("any-connection-parameters-out-of-turn-ignored", breaks="MQQB-3.1.5.4-01")
class AnyConnectionParametersOutOfTurnIgnored(Closing):
    """A queue manager ignores a ConnectionParameters packet in a state that does not expect the packet."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, ConnectionParametersPacket):
            super().refuse_out_of_state(session, packet, now)


add(
    "initiator-connection-parameters-on-open-session-ignored",
    "MQQB-3.1.5.4-01",
    "The initiator ignores a ConnectionParameters packet on an open session.",
    ignore_out_of_state(ConnectionParametersPacket, SessionState.OPEN, initiator=True),
    blind=True,
)


@fault("acceptor-connection-parameters-out-of-turn-close-every-session", breaks="MQQB-3.1.5.4-01")
class AcceptorConnectionParametersOutOfTurnCloseEverySession(Closing):
    """When a ConnectionParameters packet arrives in a state that does not expect this packet, the queue manager closes
    all sessions, not only the session of the packet.
    """

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        super().refuse_out_of_state(session, packet, now)
        if isinstance(packet, ConnectionParametersPacket):
            for other in list(self.qm.sessions.values()):
                self.close(other, "a fault", now)
