"""Faults in the elements of the lists of a MultiQueueFormatHeader: MQMQ-2.2.18.1.4-01 to MQMQ-2.2.18.1.4.1-02."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import MQFDirectQueueFormatName, UserMessagePacket

_DESTINATION_LIST_NAME, _ADMINISTRATION_LIST_NAME, _RESPONSE_LIST_NAME = "Destination", "Administration", "Response"
_FORMAT_TYPE_SIZE_BYTES = 2
_DIRECT_FORMAT_TYPE = 3
_NULL_TERMINATOR = bytes(2)

ElementBuilder = Callable[[Any, bytes, int], bytes]
"""The type of functions that build an element from the element, its correct bytes and its place in the list."""


def _change_elements_of_list(name: str, build: ElementBuilder) -> Install:
    """Build each element of one of the three lists with a function, and correct HeaderSize and PacketSize."""

    def rebuild_list_in_packet(packet: Any) -> bytes:
        listed = getattr(packet.MultiQueueFormatHeader, name)
        built, wire = listed.build(), bytearray(listed.build()[:12])
        for place, element in enumerate(listed.FormatNameList, 1):
            wire += build(element, element.build(len(wire)), place)
        wire += bytes(-len(wire) % 4)
        wire[:4] = len(wire).to_bytes(4, "little")
        return correct_packet_size(packet.build().replace(built, bytes(wire)))

    return change_packets_of_kind(
        UserMessagePacket,
        rebuild_list_in_packet,
        lambda packet: (
            packet.MultiQueueFormatHeader is not None and getattr(packet.MultiQueueFormatHeader, name).ElementCount > 0
        ),
    )


def _is_direct_name(element: Any) -> bool:
    return isinstance(element.FormatName, MQFDirectQueueFormatName)


def _make_format_type_writer(kind: int) -> ElementBuilder:
    return lambda element, data, place: kind.to_bytes(2, "little") + data[_FORMAT_TYPE_SIZE_BYTES:]


def _write_wrong_format_type_of_later_direct_name(element: Any, data: bytes, place: int) -> bytes:
    return (
        (0x0103).to_bytes(2, "little") + data[_FORMAT_TYPE_SIZE_BYTES:]
        if place > 1 and _is_direct_name(element)
        else data
    )


def _make_direct_name_text_changer(change: Callable[[bytes], bytes]) -> ElementBuilder:
    """Change the bytes of the text of a direct name."""
    return lambda element, data, place: (
        data[:_FORMAT_TYPE_SIZE_BYTES] + change(data[_FORMAT_TYPE_SIZE_BYTES:]) if _is_direct_name(element) else data
    )


def _write_direct_format_type(element: Any, data: bytes, place: int) -> bytes:
    return (
        data if _is_direct_name(element) else _DIRECT_FORMAT_TYPE.to_bytes(2, "little") + data[_FORMAT_TYPE_SIZE_BYTES:]
    )


for _name, _rule, _says, _install in (
    (
        "second-destination-format-type-0x0103",
        "MQMQ-2.2.18.1.4-01",
        "The sender's second direct name in the list of destinations has FormatType 0x0103.",
        _change_elements_of_list(_DESTINATION_LIST_NAME, _write_wrong_format_type_of_later_direct_name),
    ),
    (
        "response-list-format-type-9",
        "MQMQ-2.2.18.1.4-01",
        "The sender's list of response queues has an element of FormatType 9.",
        _change_elements_of_list(_RESPONSE_LIST_NAME, _make_format_type_writer(9)),
    ),
    (
        "administration-list-format-type-0",
        "MQMQ-2.2.18.1.4-01",
        "The sender's list of administration queues has an element of FormatType 0.",
        _change_elements_of_list(_ADMINISTRATION_LIST_NAME, _make_format_type_writer(0)),
    ),
    (
        "administration-list-direct-name-with-format-type-1",
        "MQMQ-2.2.18.1.4-02",
        "The sender's list of administration queues has a direct name in an element of FormatType 1.",
        _change_elements_of_list(_ADMINISTRATION_LIST_NAME, _make_format_type_writer(1)),
    ),
    (
        "destination-list-other-names-with-format-type-3",
        "MQMQ-2.2.18.1.4-02",
        "The sender's list of destinations has names of FormatType 3 that are not direct names.",
        _change_elements_of_list(_DESTINATION_LIST_NAME, _write_direct_format_type),
    ),
    (
        "response-list-direct-name-with-format-type-2",
        "MQMQ-2.2.18.1.4-02",
        "The sender's list of response queues has a direct name in an element of FormatType 2.",
        _change_elements_of_list(_RESPONSE_LIST_NAME, _make_format_type_writer(2)),
    ),
    (
        "response-list-direct-name-without-path",
        "MQMQ-2.2.18.1.4.1-02",
        "The sender's list of response queues has a direct name without a path name.",
        _change_elements_of_list(
            _RESPONSE_LIST_NAME, _make_direct_name_text_changer(lambda text: "TCP:127.0.0.1\0".encode("utf-16-le"))
        ),
    ),
    (
        "administration-list-direct-name-empty",
        "MQMQ-2.2.18.1.4.1-02",
        "The sender's list of administration queues has an empty direct name.",
        _change_elements_of_list(
            _ADMINISTRATION_LIST_NAME, _make_direct_name_text_changer(lambda text: _NULL_TERMINATOR)
        ),
    ),
    (
        "destination-list-direct-name-without-protocol",
        "MQMQ-2.2.18.1.4.1-02",
        "The sender's list of destinations has direct names without their protocol.",
        _change_elements_of_list(
            _DESTINATION_LIST_NAME,
            _make_direct_name_text_changer(
                lambda text: (text.decode("utf-16-le").partition(":")[2]).encode("utf-16-le")
            ),
        ),
    ),
):
    add(f"sender-{_name}", _rule, _says, _install, blind=True)
