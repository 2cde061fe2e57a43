"""The kinds of packets, named by the strict codec: it reads a packet several times faster than scapy dissects it."""

from __future__ import annotations

from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    Packet,
    PingPacket,
    SessionAckPacket,
    UnknownInternalPacket,
    UserMessagePacket,
)

KINDS: dict[type[Packet | PingPacket], str] = {
    EstablishConnectionPacket: "EstablishConnection",
    ConnectionParametersPacket: "ConnectionParameters",
    SessionAckPacket: "SessionAck",
    UnknownInternalPacket: "unknown internal",
    UserMessagePacket: "UserMessage",
    PingPacket: "Ping",
}
"""By the class of the record; the names are those of ``harness.wire.kind``."""
