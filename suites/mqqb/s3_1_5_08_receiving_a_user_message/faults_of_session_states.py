"""Faults of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet: states and roles of a session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import Packet, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-user-message-before-open-session-ignored", breaks="MQQB-3.1.5.8-01", blind=True)
class InitiatorUserMessageBeforeOpenSessionIgnored(Closing):
    """The initiator ignores a UserMessage that arrives before its session is open."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not (session.initiator and isinstance(packet, UserMessagePacket)):
            super().refuse_out_of_state(session, packet, now)


@fault("receiver-recoverable-message-on-own-session-not-flagged", breaks="MQQB-3.1.5.8-09", blind=True)
class ReceiverRecoverableMessageOnOwnSessionNotFlagged(SessionAcks):
    """The receiver acknowledges a recoverable message on a session that it opened itself only as received, and not as
    stored.
    """

    def set_flag(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().set_flag(session, now)
