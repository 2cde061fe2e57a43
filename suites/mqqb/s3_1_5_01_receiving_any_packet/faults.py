"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet."""

from __future__ import annotations

from harness.faults.packet_sizes import known_by_size
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.codec import FormatError, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

add(
    "header-received-not-noted",
    "MQQB-3.1.5.1-01",
    "ReceivedAck stays FALSE.",
    skip(Identifying.note_received),
)
add(
    "header-establish-known-by-size",
    ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
    "572 bytes are an EstablishConnection, whatever IN is.",
    known_by_size(572),
)
add(
    "header-signature-not-verified",
    ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01"),
    "A wrong version or signature does not end the session.",
    skip(Identifying.verify_signature),
)
add(
    "header-malformed-packets-kept",
    ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
    "A malformed packet does not end the session.",
    skip(Closing.refuse_malformed),
)


@fault("messages-do-not-count-as-signs-of-life", breaks="MQQB-3.1.5.1-01", blind=True)
class MessagesDoNotCountAsSignsOfLife(Receiving):
    """A message that comes is no sign of life: only a SessionAck keeps the session from being closed."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is None:
            session.ReceivedAck = False
        super().receive_user_message(session, packet, now)


@fault("wrong-signature-overlooked-by-an-initiator", breaks="MQQB-3.1.5.1.2-01", blind=True)
class WrongSignatureOverlookedByAnInitiator(Identifying):
    """A queue manager that opened the session puts up with wrong signatures."""

    def verify_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().verify_signature(session, error, now)


@fault("malformed-packets-skipped-by-an-initiator", breaks="MQQB-3.1.5.1.3-01", blind=True)
class MalformedPacketsSkippedByAnInitiator(Closing):
    """A queue manager that opened the session skips packets that are not formed as specified, and goes on."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().refuse_malformed(session, error, now)
