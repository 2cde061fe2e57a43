"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet."""

from __future__ import annotations

from harness.faults.packet_sizes import identify_by_size
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
    "sender-element-received-ack-never-set",
    "MQQB-3.1.5.1-01",
    "The sender's ReceivedAck stays FALSE when a packet arrives.",
    skip(Identifying.note_received),
)
add(
    "any-packet-of-572-bytes-taken-as-establish-connection",
    ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
    "A queue manager treats each packet of 572 bytes as an EstablishConnection, regardless of IN.",
    identify_by_size(572),
)
add(
    "any-packet-with-wrong-signature-ignored",
    ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01"),
    "A queue manager keeps the session open after a packet with a wrong version or signature.",
    skip(Identifying.verify_signature),
)
add(
    "any-malformed-packet-ignored",
    ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
    "A queue manager keeps the session open after an incorrectly formatted packet.",
    skip(Closing.refuse_malformed),
)


@fault("sender-received-message-not-counted-as-activity", breaks="MQQB-3.1.5.1-01", blind=True)
class SenderReceivedMessageNotCountedAsActivity(Receiving):
    """The sender does not count a received message as activity: only a SessionAck keeps the session open."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is None:
            session.ReceivedAck = False
        super().receive_user_message(session, packet, now)


@fault("initiator-packet-with-wrong-signature-ignored", breaks="MQQB-3.1.5.1.2-01", blind=True)
class InitiatorPacketWithWrongSignatureIgnored(Identifying):
    """The initiator keeps its session open after a packet with a wrong signature."""

    def verify_signature(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().verify_signature(session, error, now)


@fault("initiator-malformed-packet-ignored", breaks="MQQB-3.1.5.1.3-01", blind=True)
class InitiatorMalformedPacketIgnored(Closing):
    """The initiator keeps its session open after an incorrectly formatted packet."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if not session.initiator:
            super().refuse_malformed(session, error, now)
