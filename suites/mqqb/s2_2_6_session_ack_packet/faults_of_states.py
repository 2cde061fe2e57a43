"""Faults that break rules of MS-MQQB 2.2.6 SessionAck Packet in one role, after another SessionAck, or for one delivery
only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from harness.faults.session_packets import change_sent_packet, set_packet_type
from reference_qm.codec import SessionAckPacket, parse_packet
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.model.adm import Session


def _append_4_bytes(data: bytes) -> bytes:
    return correct_packet_size(data + bytes(4))


def _is_from_initiator(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator


def _acknowledges_recoverable(qm: QueueManager, session: Session, packet: Any) -> bool:
    return bool(packet.SessionHeader.RecoverableMsgAckFlags)


def _change_later_session_acks(change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes every SessionAck of a session except the first."""

    class LaterSessionAckChanged(Connecting):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.acknowledged: set[int] = set()

        def send(self, session: Session, packet: bytes) -> None:
            if isinstance(parse_packet(packet), SessionAckPacket):
                packet = change(packet) if session.number in self.acknowledged else packet
                self.acknowledged.add(session.number)
            super().send(session, packet)

    return replace_part(LaterSessionAckChanged)


for _rule, _words, _says, _change in (
    ("MQQB-2.2.6-02", "pt-0", "PT 0", set_packet_type(0)),
    ("MQQB-2.2.6-D01", "4-trailing-bytes", "4 trailing bytes", _append_4_bytes),
):
    add(
        f"initiator-session-ack-{_words}",
        _rule,
        f"The initiator of a session sends a SessionAck with {_says}.",
        change_sent_packet(SessionAckPacket, _change, _is_from_initiator),
        blind=True,
    )
    add(
        f"session-ack-of-recoverable-message-{_words}",
        _rule,
        f"The queue manager acknowledges recoverable messages in a SessionAck with {_says}.",
        change_sent_packet(SessionAckPacket, _change, _acknowledges_recoverable),
        blind=True,
    )
    add(
        f"later-session-ack-{_words}",
        _rule,
        f"The queue manager sends every SessionAck of a session except the first with {_says}.",
        _change_later_session_acks(_change),
        blind=True,
    )
