"""Faults of MS-MQQB 2.2.3 EstablishConnection Packet, 2.2.3.1 EstablishConnectionHeader."""

from __future__ import annotations

from harness.faults.fields import add_refusals, bit_clear, bit_inverted, field_is, off_by, sent_as
from harness.faults.primitives import packets, set_fields, wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import EstablishConnectionPacket

ESTABLISH_PACKET = EstablishConnectionPacket


def _set_server_to_client(packet: EstablishConnectionPacket) -> bytes:
    client = packet.EstablishConnectionHeader.ClientGuid
    data: bytes = set_fields(packet, {"EstablishConnectionHeader.ServerGuid": client}).build()
    return data


add_refusals(
    ESTABLISH_PACKET,
    ("receiver-establish-connection-x11-refused", "MQQB-2.2.3.1-09", "EstablishConnectionHeader.X11"),
    ("receiver-establish-connection-x12-refused", "MQQB-2.2.3.1-10", "EstablishConnectionHeader.X12"),
    ("receiver-establish-connection-x13-refused", "MQQB-2.2.3.1-11", "EstablishConnectionHeader.X13"),
    ("receiver-establish-connection-x14-refused", "MQQB-2.2.3.1-12", "EstablishConnectionHeader.X14"),
    ("receiver-establish-connection-x15-refused", "MQQB-2.2.3.1-13", "EstablishConnectionHeader.X15"),
    ("receiver-establish-connection-reserved-refused", "MQQB-2.2.3.1-14", "EstablishConnectionHeader.Reserved"),
)

for _name, _rules, _says, _install in (
    (
        "any-establish-connection-in-bit-clear",
        ("MQQB-2.2.3-01", "MQMQ-2.2.19.1-05"),
        "A queue manager sends an EstablishConnection packet with IN clear.",
        bit_clear(ESTABLISH_PACKET, "BaseHeader.IN"),
    ),
    (
        "any-establish-connection-pt-3",
        ("MQQB-2.2.3-02",),
        "A queue manager sends an EstablishConnection packet with PT 3.",
        field_is(ESTABLISH_PACKET, "InternalHeader.PT", 3),
    ),
    (
        "initiator-establish-connection-server-guid-set-to-own-guid",
        ("MQQB-2.2.3.1-01",),
        "The initiator's EstablishConnection request has the initiator's own GUID as ServerGuid.",
        sent_as("initiator", packets(ESTABLISH_PACKET, _set_server_to_client)),
    ),
    (
        "acceptor-establish-connection-server-guid-of-initiator",
        ("MQQB-2.2.3.1-02",),
        "The acceptor's EstablishConnection response has the initiator's GUID as ServerGuid.",
        sent_as("acceptor", packets(ESTABLISH_PACKET, _set_server_to_client)),
    ),
    (
        "any-establish-connection-re-0x11",
        ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
        "A queue manager sends an EstablishConnection packet with RE 0x11.",
        off_by(ESTABLISH_PACKET, "EstablishConnectionHeader.RE", 1),
    ),
    (
        "initiator-establish-connection-se-clear-without-ping",
        ("MQQB-2.2.3.1-05",),
        "The initiator's EstablishConnection request has SE 0 although it sent no Ping Request.",
        sent_as("initiator", bit_clear(ESTABLISH_PACKET, "EstablishConnectionHeader.SE")),
    ),
    (
        "acceptor-establish-connection-se-inverted",
        ("MQQB-2.2.3.1-06",),
        "The acceptor's EstablishConnection response inverts the SE of the request.",
        sent_as("acceptor", bit_inverted(ESTABLISH_PACKET, "EstablishConnectionHeader.SE")),
    ),
    (
        "initiator-establish-connection-os-inverted",
        ("MQQB-2.2.3.1-07",),
        "The initiator's EstablishConnection request has OS inverted.",
        sent_as("initiator", bit_inverted(ESTABLISH_PACKET, "EstablishConnectionHeader.OS")),
    ),
    (
        "any-establish-connection-reserved-not-zero",
        ("MQQB-2.2.3.1-14",),
        "A queue manager sends an EstablishConnection packet with EstablishConnectionHeader.Reserved 0xBEEF.",
        field_is(ESTABLISH_PACKET, "EstablishConnectionHeader.Reserved", 0xBEEF),
    ),
    (
        "acceptor-establish-connection-padding-zero",
        ("MQQB-2.2.3.1-15", "MQQB-3.1.5.3.1-12"),
        "The acceptor's EstablishConnection response has zeros in Padding.",
        sent_as("acceptor", field_is(ESTABLISH_PACKET, "EstablishConnectionHeader.Padding", bytes(512))),
    ),
    (
        "any-establish-connection-4-bytes-too-long",
        ("MQQB-2.2.3-D01",),
        "A queue manager sends an EstablishConnection packet with 4 bytes after its EstablishConnectionHeader.",
        wrong_bytes(ESTABLISH_PACKET, lambda data: correct_packet_size(data + bytes(4))),
    ),
    (
        "any-establish-connection-padding-missing",
        ("MQQB-2.2.3.1-D01",),
        "A queue manager sends an EstablishConnection packet without its 512 bytes of Padding.",
        wrong_bytes(ESTABLISH_PACKET, lambda data: correct_packet_size(data[:-512])),
    ),
):
    add(_name, _rules, _says, _install)
