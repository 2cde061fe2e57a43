"""Read the complete IP packets of a capture, and reassemble fragmented packets.

Spec: RFC 791, 8200, 9293, 768. Checksums are verified only on request. In a capture from the sending machine,
checksums are often wrong, because the network card computes them later.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.capture.ip import has_valid_checksum

TCP, UDP = 6, 17
_FRAGMENT_HEADER_NUMBER, _ENCRYPTED_PAYLOAD_HEADER_NUMBER, _AUTHENTICATION_HEADER_NUMBER, _NO_NEXT_HEADER_NUMBER = (
    44,
    50,
    51,
    59,
)
_IPV6_EXTENSION_HEADERS = frozenset((0, 43, 60, 135, 139, 140))
"""The IPv6 extension headers whose length field counts units of 8 bytes and does not count the first 8 bytes."""
MAX_INCOMPLETE_FRAGMENTED_PACKETS = 1024
"""The maximum number of packets that wait for fragments. An additional packet replaces the oldest packet."""


class IpPayload(NamedTuple):
    """The payload of an IP packet. Addresses have 4 or 16 bytes. ``missing_byte_count``: the number of bytes at the end
    of the payload that are missing in the capture.

    ``number``: the number of the frame in which the packet begins.
    """

    protocol: int
    source: bytes
    target: bytes
    data: bytes
    missing_byte_count: int
    number: int

    def verify_checksum(self) -> None:
        """Raise FrameWithoutJudgeableData if the checksum is wrong. Truncated payloads, and UDP datagrams without a
        checksum, are not verified.
        """
        without = self.protocol == UDP and self.data[6:8] == b"\0\0"
        if self.missing_byte_count or without or self.protocol not in (TCP, UDP):
            return
        if not has_valid_checksum(self.source, self.target, self.protocol, self.data):
            raise FrameWithoutJudgeableData("packets with a wrong checksum")


class FrameWithoutJudgeableData(Exception):
    """The error when a frame contains no data that can be judged. The text of the error describes what the frame
    contains instead.
    """


class IncompleteFragmentedPackets:
    """The fragmented IP packets of a capture that are still incomplete."""

    def __init__(self) -> None:
        self._open: dict[tuple[bytes, bytes, int, int], _FragmentedIpPacket] = {}
        self.given_up = 0

    def add(
        self, key: tuple[bytes, bytes, int, int], at: int, data: bytes, more: bool, number: int
    ) -> IpPayload | None:
        """Add a fragment whose data begins at an offset in its packet; return the packet if this fragment completes
        it, or None if the packet is still incomplete.
        """
        whole = self._open.get(key)
        if whole is None:
            if len(self._open) >= MAX_INCOMPLETE_FRAGMENTED_PACKETS:
                self._open.pop(next(iter(self._open)))
                self.given_up += 1
            whole = self._open[key] = _FragmentedIpPacket()
        whole.take(at, data, number)
        if not more:
            whole.size = at + len(data)
        made = whole.build_payload()
        if made is None:
            return None
        del self._open[key]
        return IpPayload(key[2], key[0], key[1], made, 0, whole.parts[0][1])

    def end(self) -> int:
        """Return the number of IP packets that are still incomplete at the end of the capture."""
        return self.given_up + len(self._open)


class _FragmentedIpPacket:
    def __init__(self) -> None:
        self.parts: dict[int, tuple[bytes, int]] = {}
        self.size: int | None = None
        self._held = 0

    def take(self, at: int, data: bytes, number: int) -> None:
        if at not in self.parts:
            self.parts[at] = data, number
            self._held += len(data)

    def build_payload(self) -> bytes | None:
        """Return the packet if it is complete, otherwise None. Where fragments overlap, the packet contains the
        bytes that were received first.
        """
        if self.size is None or self._held < self.size:
            return None
        made = b""
        for at, (data, _) in sorted(self.parts.items()):
            if at > len(made):
                return None
            made += data[len(made) - at :]
        return made if len(made) >= self.size else None


def read_ip_packet(
    frame: bytes, at: int, size: int, number: int, fragments: IncompleteFragmentedPackets
) -> IpPayload | None:
    """Read the IP packet that begins at an offset of a frame and occupies ``size`` bytes; return None while
    fragments are missing.
    """
    if len(frame) <= at:
        raise FrameWithoutJudgeableData("frames that are truncated before their IP header")
    version = frame[at] >> 4
    if version == 4:
        return _read_ipv4_packet(frame, at, size, number, fragments)
    if version == 6:
        return _read_ipv6_packet(frame, at, size, number, fragments)
    raise FrameWithoutJudgeableData("frames without an IP packet")


def _read_ipv4_packet(
    frame: bytes, at: int, size: int, number: int, fragments: IncompleteFragmentedPackets
) -> IpPayload | None:
    start = at + (frame[at] & 0x0F) * 4
    if len(frame) < start or start < at + 20:
        raise FrameWithoutJudgeableData("frames that are truncated within their IP header")
    total = frame[at + 2] << 8 | frame[at + 3]
    end = at + total if total else size  # the length is 0 if the network card segments the packet
    if end < start:
        raise FrameWithoutJudgeableData("IP packets with a wrong length")
    source, target, protocol = frame[at + 12 : at + 16], frame[at + 16 : at + 20], frame[at + 9]
    data = frame[start:end]
    placed = frame[at + 6] << 8 | frame[at + 7]
    if placed & 0x3FFF:
        if len(data) < end - start:
            raise FrameWithoutJudgeableData("truncated fragments of IP packets")
        identification = frame[at + 4] << 8 | frame[at + 5]
        more, offset = bool(placed & 0x2000), (placed & 0x1FFF) * 8
        return fragments.add((source, target, protocol, identification), offset, data, more, number)
    return IpPayload(protocol, source, target, data, end - start - len(data), number)


def _read_ipv6_packet(
    frame: bytes, at: int, size: int, number: int, fragments: IncompleteFragmentedPackets
) -> IpPayload | None:
    start = at + 40
    if len(frame) < start:
        raise FrameWithoutJudgeableData("frames that are truncated within their IP header")
    length = frame[at + 4] << 8 | frame[at + 5]
    end = start + length if length else size
    source, target, protocol = frame[at + 8 : at + 24], frame[at + 24 : start], frame[at + 6]
    while protocol not in (TCP, UDP):
        if protocol in (_NO_NEXT_HEADER_NUMBER, _ENCRYPTED_PAYLOAD_HEADER_NUMBER):
            raise FrameWithoutJudgeableData(
                "encrypted IP packets (IPsec)" if protocol == _ENCRYPTED_PAYLOAD_HEADER_NUMBER else "empty IP packets"
            )
        if protocol not in _IPV6_EXTENSION_HEADERS and protocol not in (
            _FRAGMENT_HEADER_NUMBER,
            _AUTHENTICATION_HEADER_NUMBER,
        ):
            break
        if len(frame) < start + 8:
            raise FrameWithoutJudgeableData("frames that are truncated within their IP header")
        following = frame[start]
        if protocol == _FRAGMENT_HEADER_NUMBER:
            return _add_ipv6_fragment(frame, start, end, (source, target), number, fragments)
        units = frame[start + 1]
        start += (units + 2) * 4 if protocol == _AUTHENTICATION_HEADER_NUMBER else (units + 1) * 8
        protocol = following
    data = frame[start:end]
    return IpPayload(protocol, source, target, data, max(end - start - len(data), 0), number)


def _add_ipv6_fragment(
    frame: bytes, start: int, end: int, ends: tuple[bytes, bytes], number: int, fragments: IncompleteFragmentedPackets
) -> IpPayload | None:
    data = frame[start + 8 : end]
    if len(data) < end - start - 8:
        raise FrameWithoutJudgeableData("truncated fragments of IP packets")
    placed = frame[start + 2] << 8 | frame[start + 3]
    protocol, identification = frame[start], int.from_bytes(frame[start + 4 : start + 8], "big")
    if not placed & 0xFFF9:
        return IpPayload(protocol, *ends, data, 0, number)
    return fragments.add((*ends, protocol, identification), placed & 0xFFF8, data, bool(placed & 1), number)
