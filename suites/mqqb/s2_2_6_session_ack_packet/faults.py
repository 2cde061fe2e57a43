"""Faults that break rules of MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.faults.fields import bit_clear, field_is, sent_as
from harness.faults.primitives import wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from harness.faults.session_packets import change_sent_packet, has_other_session
from reference_qm.codec import SessionAckPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session

add(
    "any-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "The receiver sends a SessionAck with SH clear.",
    bit_clear(SessionAckPacket, "BaseHeader.SH"),
)


add(
    "acceptor-session-ack-of-many-messages-sh-clear",
    "MQQB-2.2.6-01",
    "The acceptor clears SH in a SessionAck with more than one flag in RecoverableMsgAckFlags.",
    sent_as(
        "acceptor",
        bit_clear(
            SessionAckPacket,
            "BaseHeader.SH",
            lambda one: one.SessionHeader.RecoverableMsgAckFlags.bit_count() > 1,
        ),
    ),
)


add(
    "initiator-session-ack-sh-clear",
    "MQQB-2.2.6-01",
    "The initiator clears SH in a SessionAck.",
    sent_as("initiator", bit_clear(SessionAckPacket, "BaseHeader.SH")),
)


add(
    "receiver-session-ack-pt-3",
    "MQQB-2.2.6-02",
    "The receiver sends a SessionAck with PT 3.",
    field_is(SessionAckPacket, "InternalHeader.PT", 3),
)


add(
    "initiator-session-ack-pt-4",
    "MQQB-2.2.6-02",
    "The initiator sends PT 4 in a SessionAck.",
    sent_as("initiator", field_is(SessionAckPacket, "InternalHeader.PT", 4)),
)


SH_BIT = 1 << 4


add(
    "receiver-session-ack-session-header-missing",
    "MQQB-2.2.6-D01",
    "The receiver sends a SessionAck with SH clear that ends after its InternalHeader.",
    wrong_bytes(SessionAckPacket, lambda data: correct_packet_size(data[:2] + bytes([data[2] & ~SH_BIT]) + data[3:20])),
)


def _add_trailing_bytes(data: bytes) -> bytes:
    return data[:8] + (len(data) + 4).to_bytes(4, "little") + data[12:] + bytes(4)


def _is_later_acknowledgment(qm: QueueManager, session: Session, packet: SessionAckPacket) -> bool:
    return packet.SessionHeader.AckSequenceNumber > 1


def _is_acknowledgment_of_initiator(qm: QueueManager, session: Session, packet: SessionAckPacket) -> bool:
    return session.initiator


for _name, _says, _when in (
    ("receiver-later-session-ack-with-trailing-bytes", "that counts several messages", _is_later_acknowledgment),
    ("initiator-session-ack-with-trailing-bytes", "of an initiator", _is_acknowledgment_of_initiator),
    ("receiver-session-ack-with-trailing-bytes-beside-session", "sent beside an open session", has_other_session),
):
    add(
        _name,
        "MQQB-2.2.6-D01",
        f"A SessionAck {_says} has trailing bytes.",
        change_sent_packet(SessionAckPacket, _add_trailing_bytes, _when),
        blind=True,
    )
