"""Faults of MS-MQQB 3.1.5.1.1 Packet Identification."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.packet_sizes import known_by_size
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import inputs, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionPacket,
    FormatError,
    MessageClass,
    Packet,
    SessionAckPacket,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import BODY_SIZE, FIRST_FINAL_CLASS, LABEL, is_final_ack, is_order_ack
from reference_qm.surface.inputs import BytesReceived, Input

add(
    "header-parameters-known-by-size",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "32 bytes are a ConnectionParameters, whatever IN is.",
    known_by_size(32),
)
add(
    "header-session-ack-known-by-size",
    ("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"),
    "36 bytes are a SessionAck, whatever IN is.",
    known_by_size(36),
)


@fault("header-session-ack-without-sh", breaks=("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"))
class SessionAckWithoutSH(Identifying):
    """A SessionAck is one also when SH is clear."""

    def check_form(self, packet: Packet) -> None:
        if not isinstance(packet, SessionAckPacket):
            super().check_form(packet)


@fault("header-normal-messages-unknown", breaks="MQQB-3.1.5.1.1-13")
class NormalMessagesUnknown(Identifying):
    """The class NORMAL is refused."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == 0:
            raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "is NORMAL")
        return packet


def _unknown(kind: type[Packet]) -> Install:
    """Refuse every packet of a kind."""

    class Unknown(Identifying):
        def identify_packet(self, data: bytes) -> Packet:
            packet = super().identify_packet(data)
            if isinstance(packet, kind):
                raise FormatError("InternalHeader.PT", 0, "a fault", "is not known")
            return packet

    return replace_part(Unknown)


add(
    "header-establish-unknown",
    ("MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1-03"),
    "PT 2 makes no EstablishConnection.",
    _unknown(EstablishConnectionPacket),
)
add(
    "header-parameters-unknown",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "PT 3 makes no ConnectionParameters.",
    _unknown(ConnectionParametersPacket),
)


# -- messages that are acknowledgments but for one field -----------------------------------------------------------


def _overlooked(identified: Callable[[UserMessagePacket], bool], fields: dict[str, Any]) -> Install:
    """Take a message for an acknowledgment that would be one with these fields."""

    def filter_(event: Input) -> Iterable[Input]:
        if not isinstance(event, BytesReceived):
            return [event]
        try:
            packet: Packet = parse_packet(event.data)
        except FormatError:
            return [event]
        if not isinstance(packet, UserMessagePacket):
            return [event]
        changed = set_fields(packet, {"BaseHeader.PacketSize": 0, **fields})
        return [replace(event, data=changed.build())] if identified(changed) else [event]

    return inputs(filter_)


_FLAGS: dict[str, Any] = {"BaseHeader.Flags": 0}
_QUEUE: dict[str, Any] = {
    "UserHeader.DestinationQueue": DirectQueueFormatName(r"TCP:127.0.0.1\PRIVATE$\order_queue$"),
    "UserHeader.Flags": lambda old: old | UserHeader.flags(DQ=7),
}
_LABEL: dict[str, Any] = {"MessagePropertiesHeader.Label": LABEL}
_SIZE: dict[str, Any] = {"MessagePropertiesHeader.MessageBody": lambda old: old[:BODY_SIZE]}
_ORDER_CLASS: dict[str, Any] = {"MessagePropertiesHeader.MessageClass": int(MessageClass.MQMSG_CLASS_ORDER_ACK)}
_FINAL_CLASS: dict[str, Any] = {"MessagePropertiesHeader.MessageClass": lambda old: max(old, FIRST_FINAL_CLASS)}

for _name, _rule, _field, _fields in (
    ("ordering-order-told-without-base-flags", "MQQB-3.1.5.1.1-04", "BaseHeader.Flags", _FLAGS),
    ("ordering-order-told-without-destination", "MQQB-3.1.5.1.1-05", "destination", _QUEUE),
    ("ordering-order-told-without-label", "MQQB-3.1.5.1.1-06", "label", _LABEL),
    ("ordering-order-told-without-size", "MQQB-3.1.5.1.1-07", "size", _SIZE),
    ("ordering-order-told-without-class", "MQQB-3.1.5.1.1-08", "class", _ORDER_CLASS),
):
    _says = f"A message is taken for an OrderAck whatever its {_field} is."
    add(_name, _rule, _says, _overlooked(is_order_ack, _fields))
for _name, _rule, _field, _fields in (
    ("ordering-final-told-without-base-flags", "MQQB-3.1.5.1.1-09", "BaseHeader.Flags", _FLAGS),
    ("ordering-final-told-without-destination", "MQQB-3.1.5.1.1-10", "destination", _QUEUE),
    ("ordering-final-told-without-label", "MQQB-3.1.5.1.1-11", "label", _LABEL),
    ("ordering-final-told-without-class", "MQQB-3.1.5.1.1-12", "class", _FINAL_CLASS),
):
    _says = f"A message is taken for a FinalAck whatever its {_field} is."
    add(_name, _rule, _says, _overlooked(is_final_ack, _fields))
