"""Faults of MS-MQQB 3.1.5.1.1 Packet Identification."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.packet_sizes import identify_by_size
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
from reference_qm.core.transfer.order_acks import (
    BODY_SIZE,
    FIRST_FINAL_ACK_CLASS,
    ORDER_ACK_LABEL,
    is_final_ack,
    is_order_ack,
)
from reference_qm.surface.inputs import BytesReceived, Input

add(
    "any-packet-of-32-bytes-taken-as-connection-parameters",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "A queue manager treats each packet of 32 bytes as a ConnectionParameters, regardless of IN.",
    identify_by_size(32),
)
add(
    "any-packet-of-36-bytes-taken-as-session-ack",
    ("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"),
    "A queue manager treats each packet of 36 bytes as a SessionAck, regardless of IN.",
    identify_by_size(36),
)


@fault("any-session-ack-with-sh-clear-accepted", breaks=("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"))
class AnySessionAckWithShClearAccepted(Identifying):
    """A queue manager accepts a SessionAck with SH clear."""

    def check_form(self, packet: Packet) -> None:
        if not isinstance(packet, SessionAckPacket):
            super().check_form(packet)


@fault("receiver-user-message-of-class-normal-refused", breaks="MQQB-3.1.5.1.1-13")
class ReceiverUserMessageOfClassNormalRefused(Identifying):
    """The receiver refuses a UserMessage of class NORMAL as malformed."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == 0:
            raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "is NORMAL")
        return packet


def _refuse_packet_kind(kind: type[Packet]) -> Install:
    """Refuse every packet of a kind."""

    class Unknown(Identifying):
        def identify_packet(self, data: bytes) -> Packet:
            packet = super().identify_packet(data)
            if isinstance(packet, kind):
                raise FormatError("InternalHeader.PT", 0, "a fault", "is not known")
            return packet

    return replace_part(Unknown)


add(
    "any-establish-connection-not-recognized",
    ("MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1-03"),
    "A queue manager does not recognize an EstablishConnection packet by PT 2.",
    _refuse_packet_kind(EstablishConnectionPacket),
)
add(
    "any-connection-parameters-not-recognized",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "A queue manager does not recognize a ConnectionParameters packet by PT 3.",
    _refuse_packet_kind(ConnectionParametersPacket),
)


# -- messages that are acknowledgments except for one field -------------------------------------------------------


def _ignore_identifying_fields(identified: Callable[[UserMessagePacket], bool], fields: dict[str, Any]) -> Install:
    """Make the queue manager treat a message as an acknowledgment although the given fields show that it is not an
    acknowledgment.
    """

    def filter_received_bytes(event: Input) -> Iterable[Input]:
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

    return inputs(filter_received_bytes)


_FLAGS: dict[str, Any] = {"BaseHeader.Flags": 0}
_QUEUE: dict[str, Any] = {
    "UserHeader.DestinationQueue": DirectQueueFormatName(r"TCP:127.0.0.1\PRIVATE$\order_queue$"),
    "UserHeader.Flags": lambda old: old | UserHeader.flags(DQ=7),
}
_LABEL_FIELD: dict[str, Any] = {"MessagePropertiesHeader.Label": ORDER_ACK_LABEL}
_BODY_SIZE_FIELD: dict[str, Any] = {"MessagePropertiesHeader.MessageBody": lambda old: old[:BODY_SIZE]}
_ORDER_CLASS: dict[str, Any] = {"MessagePropertiesHeader.MessageClass": int(MessageClass.MQMSG_CLASS_ORDER_ACK)}
_FINAL_CLASS: dict[str, Any] = {"MessagePropertiesHeader.MessageClass": lambda old: max(old, FIRST_FINAL_ACK_CLASS)}

for _name, _rule, _field, _fields in (
    ("sender-order-ack-base-flags-not-checked", "MQQB-3.1.5.1.1-04", "BaseHeader.Flags", _FLAGS),
    ("sender-order-ack-destination-not-checked", "MQQB-3.1.5.1.1-05", "destination", _QUEUE),
    ("sender-order-ack-label-not-checked", "MQQB-3.1.5.1.1-06", "label", _LABEL_FIELD),
    ("sender-order-ack-body-size-not-checked", "MQQB-3.1.5.1.1-07", "size", _BODY_SIZE_FIELD),
    ("sender-order-ack-class-not-checked", "MQQB-3.1.5.1.1-08", "class", _ORDER_CLASS),
):
    _says = f"The sender accepts a message as an OrderAck without checking its {_field}."
    add(_name, _rule, _says, _ignore_identifying_fields(is_order_ack, _fields))
for _name, _rule, _field, _fields in (
    ("sender-final-ack-base-flags-not-checked", "MQQB-3.1.5.1.1-09", "BaseHeader.Flags", _FLAGS),
    ("sender-final-ack-destination-not-checked", "MQQB-3.1.5.1.1-10", "destination", _QUEUE),
    ("sender-final-ack-label-not-checked", "MQQB-3.1.5.1.1-11", "label", _LABEL_FIELD),
    ("sender-final-ack-class-not-checked", "MQQB-3.1.5.1.1-12", "class", _FINAL_CLASS),
):
    _says = f"The sender accepts a message as a FinalAck without checking its {_field}."
    add(_name, _rule, _says, _ignore_identifying_fields(is_final_ack, _fields))
