"""The kind of each packet, found by its record of the strict codec, which parses a packet several times faster than
scapy.
"""

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
"""The kind of a packet, by the class of its record; ``harness.wire.kind`` returns the same names."""
