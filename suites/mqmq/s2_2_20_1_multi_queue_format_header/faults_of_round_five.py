"""Faults of the fifth round that break rules of MS-MQMQ 2.2.20.1 MultiQueueFormatHeader."""

from __future__ import annotations

from typing import Any

from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import UserMessagePacket

_ALIGNMENT = 4
_ADDRESS_HEADER_SIZE = 12


def _add_padding_after_destination_list(packet: Any) -> bytes:
    listed = packet.MultiQueueFormatHeader.Destination.build()
    data: bytes = packet.build()
    return correct_packet_size(data.replace(listed, listed + bytes(_ALIGNMENT), 1))


def _has_aligned_destination_list(packet: Any) -> bool:
    header = packet.MultiQueueFormatHeader
    if header is None:
        return False
    end = _ADDRESS_HEADER_SIZE
    for element in header.Destination.FormatNameList:
        end += len(element.build(end))
    return not end % _ALIGNMENT


add(
    "sender-aligned-destination-list-padded-by-4-bytes",
    "MQMQ-2.2.20.1-D03",
    "The sender adds 4 bytes of padding after the destination list if the list already ends on a 4-byte boundary.",
    change_packets_of_kind(UserMessagePacket, _add_padding_after_destination_list, _has_aligned_destination_list),
    blind=True,
)
