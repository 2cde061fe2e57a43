"""Faults in single states and at the end of ResendTimerTable (MS-MQQB 3.1.5.6)."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import add
from reference_qm.codec import Packet, UserMessagePacket
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.order_acks import is_order_ack
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _ignore_order_ack_in_session_states(*states: SessionState) -> type[SessionClosing]:
    """Return a part of the queue manager that ignores an OrderAck in the given states of a session."""

    class OrderAckIgnored(SessionClosing):
        def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
            order_ack = isinstance(packet, UserMessagePacket) and is_order_ack(packet)
            if not (order_ack and session.SessionState in states):
                super().close_session_after_unexpected_packet(session, packet, now)

    return OrderAckIgnored


add(
    "acceptor-order-ack-before-connection-parameters-ignored",
    "MQQB-3.1.5.6-01",
    "The acceptor ignores an OrderAck that arrives in the state WAITING_CP_MSG, and does not close the session.",
    replace_part(_ignore_order_ack_in_session_states(SessionState.WAITING_CP_MSG)),
    blind=True,
)
add(
    "initiator-order-ack-before-responses-ignored",
    "MQQB-3.1.5.6-01",
    "The initiator ignores an OrderAck that arrives before the session is open, and does not close the session.",
    replace_part(_ignore_order_ack_in_session_states(SessionState.WAITING_ECR_MSG, SessionState.WAITING_CPR_MSG)),
    blind=True,
)
