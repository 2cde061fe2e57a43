"""Faults in the handling of packets that are not allowed in the current state of a session. Spec: MS-MQQB 3.1.5.2 to
3.1.5.8.
"""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import Packet
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def ignore_packets_in_wrong_state(kind: type[Packet], state: SessionState, *, initiator: bool) -> Install:
    """Return an installer of a fault that ignores packets of one kind in one state of an initiator or acceptor. The
    reference closes the session instead.
    """

    class Ignoring(SessionClosing):
        def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
            if not (isinstance(packet, kind) and session.SessionState is state and session.initiator is initiator):
                super().close_session_after_unexpected_packet(session, packet, now)

    return replace_part(Ignoring)
