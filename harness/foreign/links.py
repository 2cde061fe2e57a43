"""Find the start of the IP packet in a frame, by link type. Spec: https://www.tcpdump.org/linktypes.html."""

from __future__ import annotations

from collections.abc import Callable

IP_OFFSET_IF_FRAME_IS_NOT_IP = -1
"""The result for a frame without an IP packet, such as an ARP frame."""
IP_OFFSET_IF_FRAME_IS_CUT = -2
"""The result for a frame that is truncated before the protocol field."""

_IPV4_ETHERTYPE, _IPV6_ETHERTYPE = 0x0800, 0x86DD
_VLAN_ETHERTYPES = (0x8100, 0x88A8, 0x9100, 0x9200)
"""The EtherTypes of VLAN tags. Each VLAN tag has 4 bytes."""
_IP_ADDRESS_FAMILIES = frozenset((2, 10, 24, 28, 30))
"""The address families: the value of AF_INET, and the values that AF_INET6 has on the systems that write captures with
these link types.
"""


def _find_ip_offset(data: bytes, at: int) -> int:
    """Return the offset of the IP packet that follows the EtherType at the offset ``at`` and any number of VLAN
    tags.
    """
    while at + 2 <= len(data):
        kind = data[at] << 8 | data[at + 1]
        if kind in (_IPV4_ETHERTYPE, _IPV6_ETHERTYPE):
            return at + 2
        if kind not in _VLAN_ETHERTYPES:
            return IP_OFFSET_IF_FRAME_IS_NOT_IP
        at += 4
    return IP_OFFSET_IF_FRAME_IS_CUT


def _find_ip_in_ethernet_frame(data: bytes) -> int:
    return 14 if data[12:14] == b"\x08\x00" else _find_ip_offset(data, 12)


def _find_ip_after_address_family(data: bytes) -> int:
    """Read the address family, which is in the byte order of the capturing computer."""
    if len(data) < 4:
        return IP_OFFSET_IF_FRAME_IS_CUT
    return (
        4
        if min(int.from_bytes(data[:4], order) for order in ("little", "big")) in _IP_ADDRESS_FAMILIES
        else IP_OFFSET_IF_FRAME_IS_NOT_IP
    )


def _find_ip_in_raw_ip_frame(data: bytes) -> int:
    return 0


def _find_ip_in_linux_cooked_frame(data: bytes) -> int:
    return _find_ip_offset(data, 14)


def _find_ip_in_linux_cooked_2_frame(data: bytes) -> int:
    """Return the offset of the IP packet. The EtherType is at the start of the header; VLAN tags follow the header
    of 20 bytes.
    """
    if len(data) < 20:
        return IP_OFFSET_IF_FRAME_IS_CUT
    kind = data[0] << 8 | data[1]
    if kind in (_IPV4_ETHERTYPE, _IPV6_ETHERTYPE):
        return 20
    return _find_ip_offset(data, 22) if kind in _VLAN_ETHERTYPES else IP_OFFSET_IF_FRAME_IS_NOT_IP


PAYLOAD_OFFSET_BY_LINK_TYPE: dict[int, Callable[[bytes], int]] = {
    0: _find_ip_after_address_family,
    1: _find_ip_in_ethernet_frame,
    12: _find_ip_in_raw_ip_frame,
    14: _find_ip_in_raw_ip_frame,
    101: _find_ip_in_raw_ip_frame,
    108: _find_ip_after_address_family,
    113: _find_ip_in_linux_cooked_frame,
    228: _find_ip_in_raw_ip_frame,
    229: _find_ip_in_raw_ip_frame,
    276: _find_ip_in_linux_cooked_2_frame,
}
"""For each link type (null, Ethernet, raw IP, OpenBSD's loopback, Linux cooked v1 and v2), the function that finds
the IP packet in a frame. The function returns the offset of the IP packet, `IP_OFFSET_IF_FRAME_IS_NOT_IP` or
`IP_OFFSET_IF_FRAME_IS_CUT`.
"""
