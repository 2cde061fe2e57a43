"""Faults of MS-MQQB 2.2.3 EstablishConnection Packet, 2.2.3.1 EstablishConnectionHeader."""

from __future__ import annotations

from harness.faults.fields import add_refusals, bit_clear, bit_inverted, field_is, off_by, sent_as
from harness.faults.primitives import packets, set_fields, wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import EstablishConnectionPacket

ESTABLISH = EstablishConnectionPacket


def _server_is_client(packet: EstablishConnectionPacket) -> bytes:
    client = packet.EstablishConnectionHeader.ClientGuid
    data: bytes = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": client}).build()
    return data


add_refusals(
    ESTABLISH,
    ("header-operating-system-flag-x11-refused", "MQQB-2.2.3.1-09", "EstablishConnectionHeader.X11"),
    ("header-operating-system-flag-x12-refused", "MQQB-2.2.3.1-10", "EstablishConnectionHeader.X12"),
    ("header-operating-system-flag-x13-refused", "MQQB-2.2.3.1-11", "EstablishConnectionHeader.X13"),
    ("header-operating-system-flag-x14-refused", "MQQB-2.2.3.1-12", "EstablishConnectionHeader.X14"),
    ("header-operating-system-flag-x15-refused", "MQQB-2.2.3.1-13", "EstablishConnectionHeader.X15"),
    ("header-establish-reserved-refused", "MQQB-2.2.3.1-14", "EstablishConnectionHeader.Reserved"),
)

for _name, _rules, _says, _install in (
    (
        "header-establish-in-clear",
        ("MQQB-2.2.3-01", "MQMQ-2.2.19.1-05"),
        "An EstablishConnection has IN clear.",
        bit_clear(ESTABLISH, "BaseHeader.IN"),
    ),
    (
        "header-establish-packet-type",
        ("MQQB-2.2.3-02",),
        "An EstablishConnection has PT 3.",
        field_is(ESTABLISH, "InternalHeader.PT", 3),
    ),
    (
        "header-establish-request-server-guid",
        ("MQQB-2.2.3.1-01",),
        "A request has the initiator's own GUID as ServerGuid.",
        sent_as("initiator", packets(ESTABLISH, _server_is_client)),
    ),
    (
        "header-establish-response-server-guid",
        ("MQQB-2.2.3.1-02",),
        "A response has the initiator's GUID as ServerGuid.",
        sent_as("acceptor", packets(ESTABLISH, _server_is_client)),
    ),
    (
        "header-establish-operating-system-re",
        ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
        "RE is 0x11.",
        off_by(ESTABLISH, "EstablishConnectionHeader.RE", 1),
    ),
    (
        "header-establish-request-session-flag",
        ("MQQB-2.2.3.1-05",),
        "A request has SE 0 although no ping was sent.",
        sent_as("initiator", bit_clear(ESTABLISH, "EstablishConnectionHeader.SE")),
    ),
    (
        "header-establish-response-session-flag",
        ("MQQB-2.2.3.1-06",),
        "A response has the other SE.",
        sent_as("acceptor", bit_inverted(ESTABLISH, "EstablishConnectionHeader.SE")),
    ),
    (
        "header-establish-request-operating-system",
        ("MQQB-2.2.3.1-07",),
        "A request has the other kind of operating system.",
        sent_as("initiator", bit_inverted(ESTABLISH, "EstablishConnectionHeader.OS")),
    ),
    (
        "header-establish-reserved-sent",
        ("MQQB-2.2.3.1-14",),
        "EstablishConnectionHeader.Reserved is sent as 0xBEEF.",
        field_is(ESTABLISH, "EstablishConnectionHeader.Reserved", 0xBEEF),
    ),
    (
        "header-establish-response-padding-empty",
        ("MQQB-2.2.3.1-15", "MQQB-3.1.5.3.1-12"),
        "The padding of a response is zeros.",
        sent_as("acceptor", field_is(ESTABLISH, "EstablishConnectionHeader.Padding", bytes(512))),
    ),
    (
        "header-establish-longer",
        ("MQQB-2.2.3-D01",),
        "An EstablishConnection has 4 bytes more behind its header.",
        wrong_bytes(ESTABLISH, lambda data: correct_packet_size(data + bytes(4))),
    ),
    (
        "header-establish-without-padding",
        ("MQQB-2.2.3.1-D01",),
        "An EstablishConnectionHeader has 512 bytes of Padding too few.",
        wrong_bytes(ESTABLISH, lambda data: correct_packet_size(data[:-512])),
    ),
):
    add(_name, _rules, _says, _install)
