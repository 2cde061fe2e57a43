"""Faults of MS-MQQB 3.1.6.2 Session Cleanup Timer Event that occur only with some values of a message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

LONG_LABEL = 200
"""The length of a long label, in characters."""


@fault("receiver-message-with-long-label-leaves-session-active-false", breaks="MQQB-3.1.6.2-03")
class ReceiverMessageWithLongLabelLeavesSessionActiveFalse(Receiving):
    """The receiver does not set SessionActive when it receives a message with a label of more than 200 characters."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_activity(session, packet, now)
        if len(packet.MessagePropertiesHeader.Label or "") > LONG_LABEL:
            session.SessionActive = active
