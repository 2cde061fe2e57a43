"""Faults of the MessagePropertiesHeader. Spec: MS-MQMQ 2.2.19.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.messages import MESSAGE, add, resized
from harness.faults.primitives import packets, procedure, skip, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import FormatError, MessageClass, Packet, UserMessagePacket
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.order_acks import LABEL
from reference_qm.core.queueing.positions import Positions

RULE = "MQMQ-2.2.19.3-"
LABEL_LENGTH_AT, MESSAGE_SIZE_AT, EXTENSION_SIZE_AT, FIXED_SIZE = 1, 32, 52, 56
HUGE = 0x7FFF_FFFF


def _properties_at(packet: UserMessagePacket) -> int:
    headers = (packet.BaseHeader, packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    return sum(len(header.build()) for header in headers if header is not None)


def number_at(place: int, size: int, change: Callable[[int], int]) -> Install:
    """Change a number of the header, and nothing that belongs to it."""

    def changed(packet: UserMessagePacket) -> bytes:
        data, at = packet.build(), _properties_at(packet) + place
        value = change(int.from_bytes(data[at : at + size], "little"))
        return data[:at] + value.to_bytes(size, "little") + data[at + size :]

    return packets(MESSAGE, changed)


def _four_bytes_more(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    at = _properties_at(packet) + FIXED_SIZE + 2 * packet.MessagePropertiesHeader.LabelLength
    return resized(data[:at] + b"more" + data[at:])


def _unpadded(packet: UserMessagePacket) -> bytes:
    properties = packet.MessagePropertiesHeader
    used = FIXED_SIZE + 2 * properties.LabelLength + properties.ExtensionSize + properties.MessageSize
    data = packet.build()
    return resized(data[: len(data) - -used % 4])


def _is_last(packet: UserMessagePacket) -> bool:
    others = (packet.DebugHeader, packet.SoapHeader, packet.MultiQueueFormatHeader, packet.SessionHeader)
    return all(header is None for header in others)


def _refuse_bit(bit: int) -> Install:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def check_form(qm: Any, packet: Packet) -> None:
            if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.Flags >> bit & 1:
                raise FormatError("MessagePropertiesHeader.Flags", 0, "a fault", f"bit {bit} is set")
            original(qm, packet)

        return check_form

    return procedure(Identifying.check_form, make)


def _handed_on(**changes: Any) -> Install:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda qm, queue, message, *rest: original(qm, queue, replace(message, **changes), *rest)

    return procedure(Positions.insert_message, make)


def _header(when: Callable[[Any], bool] | None = None, **changes: Any) -> Install:
    return wrong_fields(MESSAGE, {f"MessagePropertiesHeader.{name}": change for name, change in changes.items()}, when)


def _labelled(packet: UserMessagePacket) -> bool:
    return bool(packet.MessagePropertiesHeader.Label)


for _bit in range(4, 8):
    _says = f"A message with bit {_bit} of MessagePropertiesHeader.Flags set is refused."
    add(f"properties-bit-{_bit}-refused", f"{RULE}{_bit + 1:02}", _says, _refuse_bit(_bit))

for _name, _numbers, _says, _install in (
    ("label-length", ("09",), "LabelLength counts bytes.", number_at(LABEL_LENGTH_AT, 1, lambda old: 2 * old & 0xFF)),
    (
        "more-than-sizes",
        ("10", "31", "32", "33"),
        "Four bytes that no size counts follow the label.",
        packets(MESSAGE, _four_bytes_more, _is_last),
    ),
    ("label-unterminated", ("11", "30"), "A label has no null.", _header(_labelled, LabelTerminated=False)),
    ("label-two-nulls", ("30",), "A label has a null in it.", _header(_labelled, Label=lambda old: f"{old}\0x")),
    ("class-unlisted", ("12",), "MessageClass is 0x0200.", _header(MessageClass=0x0200)),
    ("correlation-lost", ("13",), "CorrelationID is not handed on.", _handed_on(CorrelationIdentifier=bytes(20))),
    ("tag-lost", ("16",), "ApplicationTag is not handed on.", _handed_on(AppSpecific=1)),
    ("body-type", ("15",), "BodyType is 0x77.", _header(BodyType=0x77)),
    ("size-one-more", ("17",), "MessageSize is one more.", number_at(MESSAGE_SIZE_AT, 4, lambda old: old + 1)),
    ("size-huge", ("18",), "MessageSize is beyond the packet.", number_at(MESSAGE_SIZE_AT, 4, lambda old: HUGE)),
    ("allocation-size", ("19",), "AllocationBodySize is 0.", _header(AllocationBodySize=0)),
    ("privacy-level", ("20",), "PrivacyLevel is 2.", _header(PrivacyLevel=2)),
    ("encryption-algorithm", ("24",), "EncryptionAlgorithm is 0x1234.", _header(EncryptionAlgorithm=0x1234)),
    ("extension-size", ("27",), "ExtensionSize is 4 more.", number_at(EXTENSION_SIZE_AT, 4, lambda old: old + 4)),
    (
        "extension-huge",
        ("28",),
        "ExtensionSize is beyond the packet.",
        number_at(EXTENSION_SIZE_AT, 4, lambda old: HUGE),
    ),
    ("label-too-long", ("29",), "A label has 508 bytes.", _header(_labelled, Label="x" * 253)),
    ("unpadded", ("34",), "The header is not padded.", packets(MESSAGE, _unpadded, _is_last)),
):
    add(f"properties-{_name}", [f"{RULE}{number}" for number in _numbers], _says, _install)


# -- acknowledgments that the bits ask for -------------------------------------------------------------------------


def _unless(which: Callable[[MessageClass], bool]) -> Install:
    """Leave out the acknowledgments of some reasons for which a message left its queue."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def acknowledge(qm: Any, message: Any, reason: MessageClass, now: Any) -> None:
            if not which(reason):
                original(qm, message, reason, now)

        return acknowledge

    return procedure(AdminAcks.acknowledge_receive, make)


def _is_admin_ack(packet: UserMessagePacket) -> bool:
    value = packet.MessagePropertiesHeader.MessageClass
    return value > MessageClass.MQMSG_CLASS_REPORT and packet.MessagePropertiesHeader.Label != LABEL


RECEIVED = MessageClass.MQMSG_CLASS_ACK_RECEIVE
for _name, _number, _says, _install in (
    ("arrival", "01", "PA asks for nothing.", skip(AdminAcks.acknowledge_arrival)),
    ("receive", "02", "PR asks for nothing.", _unless(lambda reason: reason is RECEIVED)),
    ("failure", "03", "NA asks for nothing.", skip(AdminAcks.acknowledge_failure)),
    ("removal", "04", "NR asks for nothing.", _unless(lambda reason: reason is not RECEIVED)),
    (
        "correlation",
        "14",
        "CorrelationID of it is zero.",
        _header(_is_admin_ack, CorrelationID=bytes(20)),
    ),
):
    add(f"properties-ack-{_name}", f"{RULE}{_number}", _says, _install)
