"""Determine the kind of a packet with the strict codec, which is several times faster than scapy."""

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

KIND_BY_PACKET_CLASS: dict[type[Packet | PingPacket], str] = {
    EstablishConnectionPacket: "EstablishConnection",
    ConnectionParametersPacket: "ConnectionParameters",
    SessionAckPacket: "SessionAck",
    UnknownInternalPacket: "unknown internal",
    UserMessagePacket: "UserMessage",
    PingPacket: "Ping",
}
"""The kind of packet that each packet class of the strict codec represents. ``harness.wire.kind`` returns the same
kinds.
"""
