"""Faults in one list or one element of a MultiQueueFormatHeader, which break the rules of MS-MQMQ 2.2.20.2 and
2.2.20.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import add_to_field, change_number_in_field, set_field_value
from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import set_packet_size
from reference_qm.codec import MQFDirectQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    PacketCondition,
    make_destination_list_length_condition,
    split_headers,
)

_LIST_NAMES = ("Destination", "Administration", "Response")
_DESTINATION_LIST_FIXED_BYTES = 12
"""The size of the fields of an MQFAddressHeader before its names."""


def _make_list_length_condition(name: str, least: int = 1) -> PacketCondition:
    def has_list_of_length(packet: Any) -> bool:
        lists = packet.MultiQueueFormatHeader
        return lists is not None and len(getattr(lists, name).FormatNameList) >= least

    return has_list_of_length


def _has_list_signature(packet: Any) -> bool:
    lists = packet.MultiQueueFormatHeader
    return lists is not None and bool(lists.Signature.Signature)


def _has_lists_without_signature(packet: Any) -> bool:
    lists = packet.MultiQueueFormatHeader
    return lists is not None and not lists.Signature.Signature


def _change_bytes_of_list_or_signature(
    name: str, build: Callable[[Any, bytes], bytes], when: PacketCondition
) -> Install:
    """Let the sender change the bytes of one list, or of the signature, of a MultiQueueFormatHeader. ``build`` is
    called with the record and its bytes.
    """

    def build_with_changed_record(packet: Any) -> bytes:
        lists, wire = packet.MultiQueueFormatHeader, b""
        for one in (*_LIST_NAMES, "Signature"):
            record = getattr(lists, one)
            wire += build(record, record.build()) if one == name else record.build()
        headers = {**split_headers(packet), "MultiQueueFormatHeader": wire}
        sized = sum(len(data) for one, data in headers.items() if one != "SessionHeader")
        return set_packet_size(b"".join(headers.values()), sized)

    return change_packets_of_kind(UserMessagePacket, build_with_changed_record, when)


def _build_list_of_elements(
    record: Any, build_element: Callable[[int, Any, int], bytes], *, size: bool = True, alignment: int = 4
) -> bytes:
    """Build a list. ``build_element`` is called with the position of the element in the list, the element, and the
    offset of the element.
    """
    wire = record.build()[:_DESTINATION_LIST_FIXED_BYTES]
    for place, element in enumerate(record.FormatNameList, 1):
        wire += build_element(place, element, len(wire))
    wire += bytes(-len(wire) % alignment)
    return len(wire).to_bytes(4, "little") + wire[4:] if size else wire


def _make_builder_without_format_type(least_place: int, *kinds: type) -> Callable[[Any, bytes], bytes]:
    def build_element(place: int, element: Any, offset: int) -> bytes:
        wire: bytes = element.build(offset)
        meant = place >= least_place and (not kinds or isinstance(element.FormatName, kinds))
        return wire[2:] if meant else wire

    return lambda record, old: _build_list_of_elements(record, build_element)


def _omit_last_element(record: Any, old: bytes) -> bytes:
    last = len(record.FormatNameList)
    return _build_list_of_elements(
        record, lambda place, element, offset: b"" if place == last else element.build(offset)
    )


def _append_uncounted_element(record: Any, old: bytes) -> bytes:
    """Write the last element of a list twice, and count it once."""
    last = len(record.FormatNameList)

    def build_element(place: int, element: Any, offset: int) -> bytes:
        wire: bytes = element.build(offset)
        return wire + element.build(offset + len(wire)) if place == last else wire

    return _build_list_of_elements(record, build_element)


_MULTI_QUEUE_HEADER_NAME = "MultiQueueFormatHeader"
for _name, _rule, _says, _install in (
    (
        "third-name-of-destinations-without-format-type",
        "MQMQ-2.2.20.2-05",
        "The third name and the later names of the sender's list of destinations have no FormatType.",
        _change_bytes_of_list_or_signature(
            "Destination", _make_builder_without_format_type(3), _make_list_length_condition("Destination", 3)
        ),
    ),
    (
        "response-names-without-format-type",
        "MQMQ-2.2.20.2-05",
        "The names of the sender's list of response queues have no FormatType.",
        _change_bytes_of_list_or_signature(
            "Response", _make_builder_without_format_type(1), _make_list_length_condition("Response")
        ),
    ),
    (
        "administration-names-without-format-type",
        "MQMQ-2.2.20.2-05",
        "The names of the sender's list of administration queues have no FormatType.",
        _change_bytes_of_list_or_signature(
            "Administration", _make_builder_without_format_type(1), _make_list_length_condition("Administration")
        ),
    ),
    (
        "direct-name-after-first-destination-without-format-type",
        "MQMQ-2.2.20.2-05",
        "A direct name after the first name of the sender's list of destinations has no FormatType.",
        _change_bytes_of_list_or_signature(
            "Destination",
            _make_builder_without_format_type(2, MQFDirectQueueFormatName),
            _make_list_length_condition("Destination", 2),
        ),
    ),
    (
        "administration-element-count-before-header-id",
        "MQMQ-2.2.20.2-D02",
        "The sender writes ElementCount of the list of administration queues before HeaderID.",
        _change_bytes_of_list_or_signature(
            "Administration",
            lambda record, old: old[:4] + old[8:12] + old[4:8] + old[12:],
            _make_list_length_condition("Administration"),
        ),
    ),
    (
        "empty-list-header-size-0",
        "MQMQ-2.2.20.2-D02",
        "The sender sets HeaderSize of an empty list of administration queues to 0.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Administration.HeaderSize",
            0,
            lambda packet: (
                make_destination_list_length_condition(1)(packet)
                and not _make_list_length_condition("Administration")(packet)
            ),
        ),
    ),
    (
        "response-list-without-reserved",
        "MQMQ-2.2.20.2-D02",
        "The sender omits Reserved in a list of response queues.",
        _change_bytes_of_list_or_signature(
            "Response", lambda record, old: old[:6] + old[8:], _make_list_length_condition("Response")
        ),
    ),
    (
        "response-header-size-without-fixed-fields",
        "MQMQ-2.2.20.2-01",
        "The sender sets HeaderSize of a list of response queues to the size of the names.",
        add_to_field(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Response.HeaderSize",
            -_DESTINATION_LIST_FIXED_BYTES,
            _make_list_length_condition("Response"),
        ),
    ),
    (
        "administration-header-size-8-too-high",
        "MQMQ-2.2.20.2-01",
        "The sender sets HeaderSize of a list of administration queues to 8 bytes more than the size of the list.",
        add_to_field(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Administration.HeaderSize",
            8,
            _make_list_length_condition("Administration"),
        ),
    ),
    (
        "header-size-of-3-destinations-4-too-low",
        "MQMQ-2.2.20.2-01",
        "The sender sets HeaderSize of a list of three destinations to 4 bytes less than the size of the list.",
        add_to_field(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Destination.HeaderSize",
            -4,
            _make_list_length_condition("Destination", 3),
        ),
    ),
    (
        "administration-element-count-0",
        "MQMQ-2.2.20.2-04",
        "The sender sets ElementCount of a list of administration queues that is not empty to 0.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Administration.ElementCount",
            0,
            _make_list_length_condition("Administration"),
        ),
    ),
    (
        "response-element-count-one-too-high",
        "MQMQ-2.2.20.2-04",
        "The sender sets ElementCount of a list of response queues to one more than the number of names.",
        add_to_field(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Response.ElementCount",
            1,
            _make_list_length_condition("Response"),
        ),
    ),
    (
        "element-count-of-3-destinations-2",
        "MQMQ-2.2.20.2-04",
        "The sender sets ElementCount of a list of three destinations to 2.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Destination.ElementCount",
            2,
            _make_list_length_condition("Destination", 3),
        ),
    ),
    (
        "last-of-3-destinations-omitted",
        "MQMQ-2.2.20.2-06",
        "The sender counts the last of three destinations in ElementCount, but does not write its name.",
        _change_bytes_of_list_or_signature(
            "Destination", _omit_last_element, _make_list_length_condition("Destination", 3)
        ),
    ),
    (
        "last-response-name-written-twice",
        "MQMQ-2.2.20.2-06",
        "The sender writes the last name of a list of response queues twice, and counts the name once.",
        _change_bytes_of_list_or_signature(
            "Response", _append_uncounted_element, _make_list_length_condition("Response")
        ),
    ),
    (
        "last-administration-name-omitted",
        "MQMQ-2.2.20.2-06",
        "The sender counts the last administration queue in ElementCount, but does not write its name.",
        _change_bytes_of_list_or_signature(
            "Administration", _omit_last_element, _make_list_length_condition("Administration")
        ),
    ),
    (
        "administration-header-id-of-destinations",
        "MQMQ-2.2.20.2-D01",
        "The sender sets HeaderID of a list of administration queues to 0x64.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Administration.HeaderID",
            0x64,
            _make_list_length_condition("Administration"),
        ),
    ),
    (
        "response-header-id-one-byte",
        "MQMQ-2.2.20.2-D01",
        "The sender sets HeaderID of a list of response queues to 0x2C.",
        change_number_in_field(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Response.HeaderID",
            lambda old: old & 0xFF,
            _make_list_length_condition("Response"),
        ),
    ),
    (
        "empty-response-list-header-id-0",
        "MQMQ-2.2.20.2-D01",
        "The sender sets HeaderID of an empty list of response queues to 0.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Response.HeaderID",
            0,
            lambda packet: (
                make_destination_list_length_condition(1)(packet)
                and not _make_list_length_condition("Response")(packet)
            ),
        ),
    ),
    (
        "header-id-of-3-destinations-of-administration",
        "MQMQ-2.2.20.2-D01",
        "The sender sets HeaderID of a list of three destinations to 0xC8.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Destination.HeaderID",
            0xC8,
            _make_list_length_condition("Destination", 3),
        ),
    ),
    (
        "administration-list-with-4-bytes-more",
        "MQMQ-2.2.20.2-D03",
        "The sender adds 4 bytes of padding to a list of administration queues that needs no more padding.",
        _change_bytes_of_list_or_signature(
            "Administration", lambda record, old: old + bytes(4), _make_list_length_condition("Administration")
        ),
    ),
    (
        "response-list-not-padded",
        "MQMQ-2.2.20.2-D03",
        "The sender does not pad a list of response queues.",
        _change_bytes_of_list_or_signature(
            "Response",
            lambda record, old: _build_list_of_elements(
                record, lambda place, element, offset: element.build(offset), alignment=1
            ),
            _make_list_length_condition("Response"),
        ),
    ),
    (
        "list-of-3-destinations-not-padded",
        "MQMQ-2.2.20.2-D03",
        "The sender does not pad a list of three destinations.",
        _change_bytes_of_list_or_signature(
            "Destination",
            lambda record, old: _build_list_of_elements(
                record, lambda place, element, offset: element.build(offset), alignment=1
            ),
            _make_list_length_condition("Destination", 3),
        ),
    ),
    (
        "signature-id-one-byte",
        "MQMQ-2.2.20.3-01",
        "The sender sets ID of an MQFSignatureHeader with a signature to 0x5E.",
        set_field_value(UserMessagePacket, f"{_MULTI_QUEUE_HEADER_NAME}.Signature.ID", 0x5E, _has_list_signature),
    ),
    (
        "empty-signature-id-0",
        "MQMQ-2.2.20.3-01",
        "The sender sets ID of an MQFSignatureHeader without a signature to 0.",
        set_field_value(UserMessagePacket, f"{_MULTI_QUEUE_HEADER_NAME}.Signature.ID", 0, _has_lists_without_signature),
    ),
    (
        "signature-id-of-3-destinations-reversed",
        "MQMQ-2.2.20.3-01",
        "The sender sets ID of an MQFSignatureHeader in a message to three queues to 0x5E01.",
        set_field_value(
            UserMessagePacket,
            f"{_MULTI_QUEUE_HEADER_NAME}.Signature.ID",
            0x5E01,
            _make_list_length_condition("Destination", 3),
        ),
    ),
    (
        "signature-size-with-fixed-fields",
        "MQMQ-2.2.20.3-03",
        "The sender adds the 8 bytes before Signature to Size of an MQFSignatureHeader with a signature.",
        add_to_field(UserMessagePacket, f"{_MULTI_QUEUE_HEADER_NAME}.Signature.Size", 8, _has_list_signature),
    ),
    (
        "signature-size-one-byte",
        "MQMQ-2.2.20.3-03",
        "The sender writes only seven bits of the number of bytes of Signature to Size of an MQFSignatureHeader.",
        change_number_in_field(
            UserMessagePacket, f"{_MULTI_QUEUE_HEADER_NAME}.Signature.Size", lambda old: old & 0x7F, _has_list_signature
        ),
    ),
    (
        "empty-signature-size-8",
        "MQMQ-2.2.20.3-03",
        "The sender sets Size of an MQFSignatureHeader without a signature to 8.",
        set_field_value(
            UserMessagePacket, f"{_MULTI_QUEUE_HEADER_NAME}.Signature.Size", 8, _has_lists_without_signature
        ),
    ),
    (
        "signature-cut-by-4-bytes",
        "MQMQ-2.2.20.3-04",
        "The sender omits the last 4 bytes of Signature of an MQFSignatureHeader.",
        _change_bytes_of_list_or_signature("Signature", lambda record, old: old[:-4], _has_list_signature),
    ),
    (
        "signature-with-4-bytes-more",
        "MQMQ-2.2.20.3-04",
        "The sender appends 4 bytes, which Size does not count, to the signature in an MQFSignatureHeader.",
        _change_bytes_of_list_or_signature("Signature", lambda record, old: old + bytes(4), _has_list_signature),
    ),
    (
        "empty-signature-with-4-bytes",
        "MQMQ-2.2.20.3-04",
        "The sender writes 4 bytes after an MQFSignatureHeader whose Size is 0.",
        _change_bytes_of_list_or_signature(
            "Signature", lambda record, old: old + bytes(4), _has_lists_without_signature
        ),
    ),
    (
        "signature-size-before-id",
        "MQMQ-2.2.20.3-D01",
        "The sender writes Size of an MQFSignatureHeader before ID and Reserved.",
        _change_bytes_of_list_or_signature(
            "Signature", lambda record, old: old[4:8] + old[:4] + old[8:], _has_list_signature
        ),
    ),
    (
        "empty-signature-without-reserved",
        "MQMQ-2.2.20.3-D01",
        "The sender omits Reserved in an MQFSignatureHeader without a signature.",
        _change_bytes_of_list_or_signature(
            "Signature", lambda record, old: old[:2] + old[4:], _has_lists_without_signature
        ),
    ),
    (
        "signature-before-its-size",
        "MQMQ-2.2.20.3-D01",
        "The sender writes Signature of an MQFSignatureHeader before ID, Reserved and Size.",
        _change_bytes_of_list_or_signature("Signature", lambda record, old: old[8:] + old[:8], _has_list_signature),
    ),
):
    add(_name, _rule, _says, _install)


def _sign_changed_packet(change: Callable[[Any], Any]) -> type[MessageSecuring]:
    """Let the sender compute the signature of an MQFSignatureHeader from a changed packet."""

    class ChangedPacketSigner(MessageSecuring):
        def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
            if packet.MultiQueueFormatHeader is None:
                return super().sign_packet(message, packet)
            signed = super().sign_packet(message, change(packet))
            if signed.MultiQueueFormatHeader is None or not signed.MultiQueueFormatHeader.Signature.Signature:
                return signed
            return replace(
                super().sign_packet(message, packet),
                MultiQueueFormatHeader=replace(
                    packet.MultiQueueFormatHeader, Signature=signed.MultiQueueFormatHeader.Signature
                ),
            )

    return ChangedPacketSigner


for _name, _says, _change in (
    (
        "signature-in-lists-without-label",
        "The sender omits Label when it computes the signature of an MQFSignatureHeader.",
        lambda packet: set_fields(packet, {"MessagePropertiesHeader.Label": None}),
    ),
    (
        "signature-in-lists-with-sha-1",
        "The sender always uses SHA-1 when it computes the signature of an MQFSignatureHeader.",
        lambda packet: set_fields(packet, {"MessagePropertiesHeader.HashAlgorithm": 0x8004}),
    ),
    (
        "signature-in-lists-without-body-type",
        "The sender takes BodyType 0 when it computes the signature of an MQFSignatureHeader.",
        lambda packet: set_fields(packet, {"MessagePropertiesHeader.BodyType": 0}),
    ),
):
    add(_name, "MQMQ-2.2.20.3-05", _says, replace_part(_sign_changed_packet(_change)))
