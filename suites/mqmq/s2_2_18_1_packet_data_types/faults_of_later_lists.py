"""Faults in the elements of a MultiQueueFormatHeader (MS-MQMQ 2.2.18.1.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import MQFDistributionQueueFormatName, UserMessagePacket


def _repeat_guid_of_first_distribution_list(header: Any) -> Any:
    """Replace the GUID of each distribution list in a list of names by the GUID of the first one."""
    if header is None:
        return None
    lists = [one for one in header.FormatNameList if isinstance(one.FormatName, MQFDistributionQueueFormatName)]
    names = [replace(one, FormatName=lists[0].FormatName) if one in lists else one for one in header.FormatNameList]
    return replace(header, FormatNameList=tuple(names), HeaderSize=None, Padding=None)


def _reverse_guids_of_distribution_lists(header: Any) -> Any:
    if header is None:
        return None
    names = [
        replace(
            element,
            FormatName=MQFDistributionQueueFormatName(
                UUID(bytes=element.FormatName.DistributionListIdentifier.bytes_le)
            ),
        )
        if isinstance(element.FormatName, MQFDistributionQueueFormatName)
        else element
        for element in header.FormatNameList
    ]
    return replace(header, FormatNameList=tuple(names), HeaderSize=None, Padding=None)


def _has_distribution_lists(packet: Any) -> bool:
    return packet.MultiQueueFormatHeader is not None


add(
    "sender-format-name-element-second-distribution-list-guid-of-first",
    "MQMQ-2.2.18.1.4.2-02",
    "The sender puts the GUID of the first distribution list into the MQFFormatNameElement of the second one.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MultiQueueFormatHeader.Destination": _repeat_guid_of_first_distribution_list},
        _has_distribution_lists,
    ),
    blind=True,
)
add(
    "sender-format-name-element-distribution-list-guid-bytes-swapped",
    "MQMQ-2.2.18.1.4.2-02",
    "The sender puts the GUID of a distribution list with the wrong order of bytes into the MQFFormatNameElement.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MultiQueueFormatHeader.Destination": _reverse_guids_of_distribution_lists},
        _has_distribution_lists,
    ),
    blind=True,
)
