"""Faults that shorten Padding in some of the EstablishConnection packets of MS-MQQB 2.2.3.1."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from harness.faults.session_packets import change_sent_packet, has_earlier_request
from reference_qm.codec import EstablishConnectionPacket

_MISSING_PADDING_BYTE_COUNT = 4

add(
    "initiator-establish-connection-later-request-padding-508-bytes",
    "MQQB-2.2.3.1-D01",
    "The initiator sends a second EstablishConnection request to a destination with 508 bytes of Padding.",
    change_sent_packet(
        EstablishConnectionPacket,
        lambda data: correct_packet_size(data[:-_MISSING_PADDING_BYTE_COUNT]),
        has_earlier_request,
    ),
    blind=True,
)
add(
    "acceptor-establish-connection-refusal-padding-omitted",
    "MQQB-2.2.3.1-D01",
    "The acceptor sends an EstablishConnection response in which CS is set without Padding.",
    change_sent_packet(
        EstablishConnectionPacket,
        lambda data: correct_packet_size(data[:-512]),
        lambda qm, session, packet: bool(packet.InternalHeader.CS),
    ),
    blind=True,
)
