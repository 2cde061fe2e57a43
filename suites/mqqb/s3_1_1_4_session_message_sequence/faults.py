"""Faults of MS-MQQB 3.1.1.4 Session Message Sequence."""

from __future__ import annotations

from harness.faults.parts import replaced
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _numbered(first: int, step: int) -> Install:
    """Number the messages of a session otherwise than 1, 2, 3."""

    class Numbered(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            position.SequenceNumber = first + (position.SequenceNumber - 1) * step
            return packet

    return replaced(Numbered)


add("session-numbered-from-zero", "MQQB-3.1.1.4-01", "Messages are numbered from 0.", _numbered(first=0, step=1))
add("session-numbered-by-two", "MQQB-3.1.1.4-01", "Messages have every other number.", _numbered(first=1, step=2))
