"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import Install
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    UserMessagePacket,
)

SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""The GUID of an unknown queue manager or queue."""


def make_queue_name_kind_condition(name: str, kind: type) -> Callable[[Any], bool]:
    """Return a condition that selects messages in which a given queue of the UserHeader has a given kind of name."""
    return lambda packet: isinstance(getattr(packet.UserHeader, name), kind)


def change_destination_elements(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Install:
    """Change the names in the list of destinations of each message."""
    path = "MultiQueueFormatHeader.Destination"
    return send_wrong_field_values(
        UserMessagePacket,
        {f"{path}.FormatNameList": change, f"{path}.HeaderSize": None, f"{path}.Padding": None},
        lambda packet: packet.MultiQueueFormatHeader is not None,
    )


def build_destination_elements(build: Callable[[Any, int, bool], bytes]) -> Install:
    """Build each name of the list of destinations with a function that is called with the element, its offset, and
    whether the element is the last one.
    """

    def build_with_changed_destinations(packet: Any) -> bytes:
        listed = packet.MultiQueueFormatHeader.Destination
        built, wire = listed.build(), bytearray(listed.build()[:12])
        for place, element in enumerate(listed.FormatNameList, 1):
            wire += build(element, len(wire), place == len(listed.FormatNameList))
        wire += bytes(-len(wire) % 4)
        wire[:4] = len(wire).to_bytes(4, "little")
        return correct_packet_size(packet.build().replace(built, bytes(wire)))

    return change_packets_of_kind(
        UserMessagePacket, build_with_changed_destinations, lambda packet: packet.MultiQueueFormatHeader is not None
    )


def make_element_builder_without_padding(kind: type) -> Callable[[Any, int, bool], bytes]:
    """Return a function that builds an element of one kind without padding before its name."""

    def build_element(element: Any, offset: int, last: bool) -> bytes:
        whole: bytes = element.build(offset)
        name: bytes = element.FormatName.build()
        return whole[:2] + name if isinstance(element.FormatName, kind) else whole

    return build_element
