"""Build and parse IPv4 and IPv6 packets that contain TCP segments or UDP datagrams. Spec: RFC 791, 8200, 9293, 768,
1071.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import Struct
from typing import NamedTuple

from reference_qm.surface.inputs import Endpoint

IpAddress = IPv4Address | IPv6Address

TCP_PROTOCOL_NUMBER, UDP_PROTOCOL_NUMBER = 6, 17
MAX_DATAGRAM_BYTES = 0xFFFF - 20 - 8
"""int bytes: the largest payload of a UDP datagram over IPv4."""

_IPV4_HEADER_LAYOUT = Struct(">BBHHHBBH4s4s")
_IPV6_HEADER_LAYOUT = Struct(">IHBB16s16s")
_TCP_HEADER_LAYOUT = Struct(">HHIIBBHHH")
_UDP_HEADER_LAYOUT = Struct(">HHHH")
_PSEUDO_HEADER_END_LAYOUT = Struct(">II")
_PROTOCOL_NAMES = {TCP_PROTOCOL_NUMBER: "TCP", UDP_PROTOCOL_NUMBER: "UDP"}
_DO_NOT_FRAGMENT_FLAG = 0x4000
_DEFAULT_HOP_LIMIT = 64
_TCP_WINDOW_BYTES = 0xFFFF
_TCP_SYN_OPTIONS = bytes.fromhex("0204ffd7 01 03030e")
"""The TCP options: a maximum segment size of 65495, and a window scale of 14. With this scale, unacknowledged data
never fill the window.
"""


class TcpFlags(IntFlag):
    """The TCP header flags that occur in captures."""

    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    PSH = 0x08
    ACK = 0x10


_SYN_FLAG = int(TcpFlags.SYN)


class TcpSegment(NamedTuple):
    """One TCP segment. ``sequence`` and ``acknowledged`` are the sequence number and the acknowledgment number
    (u32); ``flags`` are bits of TcpFlags.
    """

    source: Endpoint
    target: Endpoint
    sequence: int
    acknowledged: int
    flags: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class UdpDatagram:
    """One UDP datagram."""

    source: Endpoint
    target: Endpoint
    data: bytes


def build_tcp_packet(segment: TcpSegment, identification: int) -> bytes:
    """Return the IP packet that contains a TCP segment. Raise ValueError if an address is invalid, or if the
    addresses are of different families.
    """
    options = _TCP_SYN_OPTIONS if segment.flags & _SYN_FLAG else b""
    header = _TCP_HEADER_LAYOUT.pack(
        segment.source.port,
        segment.target.port,
        segment.sequence,
        segment.acknowledged,
        (_TCP_HEADER_LAYOUT.size + len(options)) // 4 << 4,
        segment.flags,
        _TCP_WINDOW_BYTES,
        0,
        0,
    )
    return _build_ip_packet(
        segment.source, segment.target, TCP_PROTOCOL_NUMBER, header + options + segment.data, 16, identification
    )


def build_udp_packet(datagram: UdpDatagram, identification: int) -> bytes:
    """Return the IP packet that contains a UDP datagram. Raise ValueError if an address is invalid, or if the
    addresses are of different families.
    """
    header = _UDP_HEADER_LAYOUT.pack(
        datagram.source.port, datagram.target.port, _UDP_HEADER_LAYOUT.size + len(datagram.data), 0
    )
    return _build_ip_packet(
        datagram.source, datagram.target, UDP_PROTOCOL_NUMBER, header + datagram.data, 6, identification
    )


def _build_ip_packet(
    source: Endpoint, target: Endpoint, protocol: int, payload: bytes, checksum_at: int, identification: int
) -> bytes:
    """Return an IP packet that contains the given TCP or UDP packet with its checksum."""
    version, sender, receiver = _pack_address_pair(source.host, target.host)
    checksum = _compute_checksum(_build_pseudo_header(sender, receiver, protocol, len(payload)) + payload)
    if protocol == UDP_PROTOCOL_NUMBER and checksum == 0:
        checksum = 0xFFFF  # zero would mean that the datagram has no checksum
    payload = payload[:checksum_at] + checksum.to_bytes(2, "big") + payload[checksum_at + 2 :]
    if version == 6:
        return _IPV6_HEADER_LAYOUT.pack(6 << 28, len(payload), protocol, _DEFAULT_HOP_LIMIT, sender, receiver) + payload
    head = _IPV4_HEADER_LAYOUT.pack(
        0x45,
        0,
        _IPV4_HEADER_LAYOUT.size + len(payload),
        identification,
        _DO_NOT_FRAGMENT_FLAG,
        _DEFAULT_HOP_LIMIT,
        protocol,
        0,
        sender,
        receiver,
    )
    return head[:10] + _compute_checksum(head).to_bytes(2, "big") + head[12:] + payload


@lru_cache(maxsize=256)
def _pack_address_pair(source: str, target: str) -> tuple[int, bytes, bytes]:
    """Return the IP version and the bytes of two addresses. The results are cached, because the packets of a run
    use only a few addresses.
    """
    sender, receiver = ip_address(source), ip_address(target)
    if sender.version != receiver.version:
        raise ValueError(f"{sender} and {receiver} are addresses of different families")
    return sender.version, sender.packed, receiver.packed


def _build_pseudo_header(sender: bytes, receiver: bytes, protocol: int, length: int) -> bytes:
    return sender + receiver + _PSEUDO_HEADER_END_LAYOUT.pack(protocol, length)


def _compute_checksum(data: bytes) -> int:
    """Return the Internet checksum. A single division computes it, because a number modulo 0xFFFF equals the folded sum
    of the number's 16-bit digits.
    """
    folded = int.from_bytes(data + bytes(len(data) % 2), "big") % 0xFFFF or 0xFFFF
    return 0xFFFF - folded


def has_valid_checksum(sender: bytes, receiver: bytes, protocol: int, payload: bytes) -> bool:
    """Return whether the checksum of a complete TCP segment or UDP datagram is correct."""
    return _compute_checksum(_build_pseudo_header(sender, receiver, protocol, len(payload)) + payload) == 0


def parse_ip_packet(packet: bytes) -> TcpSegment | UdpDatagram:
    """Parse an IP packet that contains TCP or UDP. For an invalid packet, raise ValueError with a description of
    the error.
    """
    sender, receiver, protocol, payload = _read_ip_packet(packet)
    if protocol not in _PROTOCOL_NAMES:
        raise ValueError(f"IP protocol {protocol} is not supported; only TCP (6) and UDP (17) are supported")
    header = _TCP_HEADER_LAYOUT if protocol == TCP_PROTOCOL_NUMBER else _UDP_HEADER_LAYOUT
    if len(payload) < header.size:
        raise ValueError(f"the {_PROTOCOL_NAMES[protocol]} header is truncated")
    if not has_valid_checksum(sender.packed, receiver.packed, protocol, payload):
        raise ValueError(f"the {_PROTOCOL_NAMES[protocol]} checksum is wrong")
    source, target = (
        Endpoint(str(sender), int.from_bytes(payload[:2], "big")),
        Endpoint(str(receiver), int.from_bytes(payload[2:4], "big")),
    )
    if protocol == UDP_PROTOCOL_NUMBER:
        if _UDP_HEADER_LAYOUT.unpack_from(payload)[2] != len(payload):
            raise ValueError("the UDP length differs from the length of the packet")
        return UdpDatagram(source, target, payload[_UDP_HEADER_LAYOUT.size :])
    _, _, sequence, acknowledged, offset, flags, *_ = _TCP_HEADER_LAYOUT.unpack_from(payload)
    start = (offset >> 4) * 4
    if not _TCP_HEADER_LAYOUT.size <= start <= len(payload):
        raise ValueError(f"a TCP header of {start} bytes does not fit into its packet")
    return TcpSegment(source, target, sequence, acknowledged, TcpFlags(flags), payload[start:])


def _read_ip_packet(packet: bytes) -> tuple[IpAddress, IpAddress, int, bytes]:
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= _IPV4_HEADER_LAYOUT.size:
        return _read_ipv4_packet(packet)
    if version == 6 and len(packet) >= _IPV6_HEADER_LAYOUT.size:
        _, length, protocol, _, sender6, receiver6 = _IPV6_HEADER_LAYOUT.unpack_from(packet)
        if _IPV6_HEADER_LAYOUT.size + length != len(packet):
            raise ValueError("the IPv6 length differs from the length of the packet")
        return IPv6Address(sender6), IPv6Address(receiver6), protocol, packet[_IPV6_HEADER_LAYOUT.size :]
    raise ValueError("the packet is neither an IPv4 nor an IPv6 packet")


def _read_ipv4_packet(packet: bytes) -> tuple[IpAddress, IpAddress, int, bytes]:
    first, _, total, _, fragment, _, protocol, _, sender, receiver = _IPV4_HEADER_LAYOUT.unpack_from(packet)
    start = (first & 0x0F) * 4
    if total != len(packet) or not _IPV4_HEADER_LAYOUT.size <= start <= total:
        raise ValueError("the lengths in the IPv4 header differ from the length of the packet")
    if fragment & ~_DO_NOT_FRAGMENT_FLAG:
        raise ValueError("the packet is a fragment; reassemble the capture first")
    if _compute_checksum(packet[:start]) != 0:
        raise ValueError("the IPv4 header checksum is wrong")
    return IPv4Address(sender), IPv4Address(receiver), protocol, packet[start:]
