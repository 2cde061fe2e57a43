"""Faults in the headers of messages that appear only together with another header or value (MS-MQMQ 2.2.20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying


def _refuse_message_on_condition(condition: Callable[[Any], Any], field: str) -> Install:
    """Return an installer of a fault with which the receiver closes the session for the messages that a condition
    selects.
    """

    class Refusing(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            if isinstance(packet, UserMessagePacket) and condition(packet):
                raise FormatError(field, 0, "a fault", "the value is refused")
            super().check_field_values(packet)

    return replace_part(Refusing)


add(
    "receiver-soap-header-reserved1-of-missing-body-refused",
    "MQMQ-2.2.20.7-05",
    "The receiver closes the session for a SoapHeader without Body whose Reserved1 is nonzero.",
    _refuse_message_on_condition(
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved1 and packet.SoapHeader.Body is None,
        "SoapHeader.Reserved1",
    ),
    blind=True,
)
add(
    "receiver-soap-header-reserved1-of-transactional-message-refused",
    "MQMQ-2.2.20.7-05",
    "The receiver closes the session for a transactional message whose SoapHeader has a nonzero Reserved1.",
    _refuse_message_on_condition(
        lambda packet: (
            packet.SoapHeader is not None and packet.SoapHeader.Reserved1 and packet.TransactionHeader is not None
        ),
        "SoapHeader.Reserved1",
    ),
    blind=True,
)
add(
    "receiver-soap-header-body-above-0xff-refused",
    "MQMQ-2.2.20.7-06",
    "The receiver uses only the low byte of BodyDataLength, and closes the session because the headers do not fit.",
    _refuse_message_on_condition(
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.BodyDataLength > 0xFF,
        "SoapHeader.BodyDataLength",
    ),
    blind=True,
)
add(
    "receiver-soap-header-body-before-list-refused",
    "MQMQ-2.2.20.7-06",
    "The receiver does not find the MultiQueueFormatHeader that follows a SoapHeader whose Body has an odd number of "
    "WCHARs, and closes the session.",
    _refuse_message_on_condition(
        lambda packet: (
            packet.SoapHeader is not None
            and packet.MultiQueueFormatHeader is not None
            and packet.SoapHeader.BodyDataLength % 2
        ),
        "SoapHeader.BodyDataLength",
    ),
    blind=True,
)


def _move_reserved_after_trace_queue(packet: Any) -> bytes:
    data, wire = packet.build(), packet.DebugHeader.build()
    return correct_packet_size(data.replace(wire, wire[:2] + wire[4:] + wire[2:4], 1))


add(
    "sender-debug-header-of-transactional-message-reserved-last",
    "MQMQ-2.2.20.8-D01",
    "The sender puts Reserved after QueueIdentifier in the DebugHeader of a transactional message.",
    change_packets_of_kind(
        UserMessagePacket,
        _move_reserved_after_trace_queue,
        lambda packet: packet.DebugHeader is not None and packet.TransactionHeader is not None,
    ),
    blind=True,
)
add(
    "receiver-debug-header-without-queue-before-list-refused",
    "MQMQ-2.2.20.8-D01",
    "The receiver expects a QueueIdentifier in a DebugHeader with QT 0 that precedes a MultiQueueFormatHeader, and "
    "closes the session.",
    _refuse_message_on_condition(
        lambda packet: (
            packet.DebugHeader is not None and not packet.DebugHeader.QT and packet.MultiQueueFormatHeader is not None
        ),
        "DebugHeader.QueueIdentifier",
    ),
    blind=True,
)
