"""Faults that break rules of MS-MQQB 2.2.6 SessionAck Packet in one role, after another SessionAck, or in one delivery
mode only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from harness.faults.session_packets import change_sent_packet, set_packet_type
from reference_qm.codec import SessionAckPacket, parse_packet
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.model.adm import Session


def _is_session_ack_of_initiator(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator


def _acknowledges_recoverable_messages(qm: QueueManager, session: Session, packet: Any) -> bool:
    return bool(packet.SessionHeader.RecoverableMsgAckFlags)


def _change_later_session_acks(change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes every SessionAck of a session except the first."""

    class LaterSessionAckChanged(SessionConnecting):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.acknowledged: set[int] = set()

        def send(self, session: Session, packet: bytes) -> None:
            if isinstance(parse_packet(packet), SessionAckPacket):
                packet = change(packet) if session.number in self.acknowledged else packet
                self.acknowledged.add(session.number)
            super().send(session, packet)

    return replace_part(LaterSessionAckChanged)


for _name, _says, _install in (
    (
        "initiator-session-ack-pt-0",
        "The initiator of a session sends a SessionAck with PT 0.",
        change_sent_packet(SessionAckPacket, set_packet_type(0), _is_session_ack_of_initiator),
    ),
    (
        "session-ack-of-recoverable-message-pt-0",
        "The queue manager acknowledges recoverable messages in a SessionAck with PT 0.",
        change_sent_packet(SessionAckPacket, set_packet_type(0), _acknowledges_recoverable_messages),
    ),
    (
        "later-session-ack-pt-0",
        "The queue manager sends every SessionAck of a session except the first with PT 0.",
        _change_later_session_acks(set_packet_type(0)),
    ),
):
    add(_name, "MQQB-2.2.6-02", _says, _install, blind=True)
