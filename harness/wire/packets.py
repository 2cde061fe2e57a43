"""Dissect bytes into scapy layers. No byte is silently ignored."""

from __future__ import annotations

from scapy.packet import Packet

from harness.wire.base import MIN_PACKET_BYTES, BaseHeader
from harness.wire.internal import (
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    InternalHeader,
    UnknownInternal,
)
from harness.wire.layer import Layer
from harness.wire.ping import PingPacket
from harness.wire.session import SessionHeader
from harness.wire.user import UserHeader
from harness.wire.wire_error import WireError

PING_PACKET_BYTES = 24

KINDS = {
    EstablishConnectionHeader: "EstablishConnection",
    ConnectionParametersHeader: "ConnectionParameters",
    SessionHeader: "SessionAck",
    UnknownInternal: "unknown internal",
}
"""The kind of a packet, by the class of the header after the InternalHeader."""


def dissect(data: bytes) -> Packet:
    """Dissect one packet of a connection completely. Raise WireError if this fails."""
    return _dissect_bytes(BaseHeader, data, MIN_PACKET_BYTES)


def dissect_ping(data: bytes) -> Packet:
    """Dissect a datagram that arrived at the ping port. Raise WireError if the datagram is not a ping."""
    return _dissect_bytes(PingPacket, data, PING_PACKET_BYTES)


def kind(data: bytes, ping: bool = False) -> str:
    """Return the kind of a packet: EstablishConnection, ConnectionParameters, SessionAck, UserMessage, Ping or
    unknown internal.

    ``ping`` states whether the packet arrived as a datagram. Raise WireError if the packet cannot be dissected.
    """
    return get_packet_kind(dissect_ping(data) if ping else dissect(data))


def get_packet_kind(packet: Packet) -> str:
    """Return the kind of a packet that is already dissected."""
    if isinstance(packet, PingPacket):
        return "Ping"
    if isinstance(packet.payload, UserHeader):
        return "UserMessage"
    return KINDS[packet[InternalHeader].next_layer()]


def _dissect_bytes(layer: type[Layer], data: bytes, smallest: int) -> Packet:
    """Dissect bytes. Raise WireError for fewer than ``smallest`` bytes, because scapy turns empty input into a
    layer with default values.
    """
    if len(data) < smallest:
        raise WireError(f"{layer.__name__} has {len(data)} bytes, but needs at least {smallest}")
    return layer(bytes(data))
