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

KINDS: dict[type[Packet | PingPacket], str] = {
    EstablishConnectionPacket: "EstablishConnection",
    ConnectionParametersPacket: "ConnectionParameters",
    SessionAckPacket: "SessionAck",
    UnknownInternalPacket: "unknown internal",
    UserMessagePacket: "UserMessage",
    PingPacket: "Ping",
}
"""The kind of a packet, by the class that represents the packet in the strict codec. ``harness.wire.kind`` returns
the same kinds.
"""
