"""Faults that break the rules MQMQ-2.2.18.1.4.1-D01 to MQMQ-2.2.18.1.4.2-02."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import (
    FormatError,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    Packet,
    PrivateQueueFormatName,
    PublicQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.transfer.identifying import Identifying
from suites.mqmq.s2_2_18_1_packet_data_types.fault_steps import (
    SECOND_QUEUE_MANAGER_GUID,
    build_destination_elements,
    change_destination_elements,
    make_element_builder_without_padding,
)

_GuidAlignedFormatName = PrivateQueueFormatName | MQFDistributionQueueFormatName


def _remove_guid_alignment(
    kind: type[_GuidAlignedFormatName], format_type: bytes
) -> Callable[[UserMessagePacket], bytes]:
    """Remove the padding between FormatType and GUID in the destinations of one kind."""

    def remove_alignment_bytes(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        for one in packet.MultiQueueFormatHeader.Destination.FormatNameList if packet.MultiQueueFormatHeader else ():
            if isinstance(one.FormatName, kind):
                name = one.FormatName.build()
                data = data.replace(format_type + b"\0\0" + name, format_type + name)
        return correct_packet_size(data)

    return remove_alignment_bytes


def _shorten_name_terminator(packet: UserMessagePacket) -> bytes:
    """Shorten the terminator of the direct names in a list to one byte."""
    header = packet.MultiQueueFormatHeader
    data = packet.build()
    for one in header.Destination.FormatNameList if header is not None else ():
        name = one.build()
        data = data.replace(name, name[:-1])
    return correct_packet_size(data)


for _name, _rule, _says, _change in (
    (
        "sender-destination-list-private-name-unaligned",
        "MQMQ-2.2.18.1.7.2-D01",
        "The sender's list of destinations carries a private name that is not aligned to 4 bytes.",
        _remove_guid_alignment(PrivateQueueFormatName, b"\2\0"),
    ),
    (
        "sender-destination-list-distribution-list-unaligned",
        "MQMQ-2.2.18.1.4.2-D01",
        "The sender's list of destinations carries a distribution list whose GUID is not aligned to 4 bytes.",
        _remove_guid_alignment(MQFDistributionQueueFormatName, b"\6\0"),
    ),
    (
        "sender-destination-list-name-null-of-one-byte",
        "MQMQ-2.2.18.1.4.1-D01",
        "The sender's list of destinations carries direct names that end with a null of one byte.",
        _shorten_name_terminator,
    ),
):
    add(_name, _rule, _says, change_packets_of_kind(UserMessagePacket, _change, has_header("MultiQueueFormatHeader")))


LONGEST_NAME_LENGTH = 128


@fault("receiver-list-direct-name-over-128-characters-refused", breaks="MQMQ-2.2.18.1.4.1-D01", blind=True)
class ReceiverListDirectNameOver128CharactersRefused(Identifying):
    """The receiver refuses a list of queues with a direct name whose null is beyond the 128th character."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and packet.MultiQueueFormatHeader is not None:
            header = packet.MultiQueueFormatHeader
            for element in (*header.Destination.FormatNameList, *header.Administration.FormatNameList):
                name = element.FormatName
                if isinstance(name, MQFDirectQueueFormatName) and len(name.DirectFormatName) > LONGEST_NAME_LENGTH:
                    raise FormatError("MQFDirectQueueFormatName.DirectFormatName", 0, "a fault", "the name is too long")
        return packet


def build_last_element_without_null(element: Any, offset: int, last: bool) -> bytes:
    """Build an element; if it is a direct name at the end of the list, a letter replaces the terminating null."""
    whole: bytes = element.build(offset)
    return whole[:-2] + b"x\0" if last and isinstance(element.FormatName, MQFDirectQueueFormatName) else whole


add(
    "sender-list-last-direct-name-not-terminated",
    "MQMQ-2.2.18.1.4.1-D01",
    "The sender omits the terminating null of the last direct name in a list of destinations.",
    build_destination_elements(build_last_element_without_null),
)


def _change_distribution_lists(change: Callable[[MQFDistributionQueueFormatName], Any]) -> Install:
    """Change the distribution lists in the sender's list of destinations."""

    def change_list_bytes(elements: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(one, FormatName=change(one.FormatName), Padding=None)
            if isinstance(one.FormatName, MQFDistributionQueueFormatName)
            else one
            for one in elements
        )

    changes = {
        "MultiQueueFormatHeader.Destination.FormatNameList": change_list_bytes,
        "MultiQueueFormatHeader.Destination.HeaderSize": None,
        "MultiQueueFormatHeader.Destination.Padding": None,
    }
    return send_wrong_field_values(UserMessagePacket, changes, has_header("MultiQueueFormatHeader"))


add(
    "sender-distribution-list-sent-as-public-queue",
    "MQMQ-2.2.18.1.4.2-01",
    "The sender's list of destinations carries a distribution list in the form of a public queue.",
    _change_distribution_lists(lambda name: PublicQueueFormatName(name.DistributionListIdentifier)),
)


add(
    "sender-list-distribution-list-not-aligned",
    ("MQMQ-2.2.18.1.4.2-01", "MQMQ-2.2.18.1.4.2-D01"),
    "The sender writes the GUID of a distribution list directly after FormatType, without padding.",
    build_destination_elements(make_element_builder_without_padding(MQFDistributionQueueFormatName)),
)


add(
    "sender-distribution-list-has-wrong-guid",
    ("MQMQ-2.2.18.1.4.2-02", "MQDMPR-3.1.7.1.31-D06"),
    "The sender's list of destinations carries a wrong GUID for a distribution list.",
    _change_distribution_lists(lambda name: replace(name, DistributionListIdentifier=SECOND_QUEUE_MANAGER_GUID)),
)


def repeat_first_distribution_list(elements: Sequence[Any]) -> Sequence[Any]:
    """Return elements in which the first distribution list replaces every other distribution list."""
    lists = [one for one in elements if isinstance(one.FormatName, MQFDistributionQueueFormatName)]
    return tuple(lists[0] if one in lists else one for one in elements)


add(
    "sender-list-second-distribution-list-that-of-first",
    "MQMQ-2.2.18.1.4.2-02",
    "The sender writes the GUID of the first distribution list for every distribution list in a list of destinations.",
    change_destination_elements(repeat_first_distribution_list),
)
