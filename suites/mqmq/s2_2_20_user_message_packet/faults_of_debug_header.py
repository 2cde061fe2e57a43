"""Faults in the DebugHeader of messages of one kind, which break the rules of MS-MQMQ 2.2.20.8."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    REMOVED_TRACE_QUEUE_FIELDS,
    PacketCondition,
    change_received_fields,
    join_headers,
    split_headers,
)
from suites.mqmq.steps.faulty_messages import drop_messages
from suites.mqmq.steps.kinds_of_messages import has_large_body, is_express, is_transactional


def _make_debug_header_bit_condition(name: str, when: PacketCondition) -> PacketCondition:
    def has_debug_header_bit(packet: Any) -> bool:
        header = packet.DebugHeader
        return header is not None and bool(getattr(header, name)) and bool(when(packet))

    return has_debug_header_bit


def _has_trace_queue(packet: Any) -> bool:
    return bool(packet.DebugHeader is not None and packet.DebugHeader.QT)


def _has_no_trace_queue(packet: Any) -> bool:
    return packet.DebugHeader is not None and not packet.DebugHeader.QT


for _bit, _rule in (
    ("X3", "MQMQ-2.2.20.8-03"),
    ("X4", "MQMQ-2.2.20.8-04"),
    ("X5", "MQMQ-2.2.20.8-05"),
    ("X6", "MQMQ-2.2.20.8-06"),
    ("X9", "MQMQ-2.2.20.8-09"),
    ("X10", "MQMQ-2.2.20.8-10"),
    ("X11", "MQMQ-2.2.20.8-11"),
    ("X13", "MQMQ-2.2.20.8-13"),
):
    for _kind, _says, _install in (
        (
            "transactional-message-dropped",
            f"The receiver drops a transactional message if {_bit} is set in its DebugHeader.",
            drop_messages(_make_debug_header_bit_condition(_bit, is_transactional)),
        ),
        (
            "large-message-dropped",
            f"The receiver drops a large message if {_bit} is set in its DebugHeader.",
            drop_messages(_make_debug_header_bit_condition(_bit, has_large_body)),
        ),
        (
            "queue-of-express-message-ignored",
            f"The receiver sends no report about an express message if {_bit} is set in its DebugHeader.",
            change_received_fields(
                _make_debug_header_bit_condition(_bit, lambda packet: is_express(packet) and _has_trace_queue(packet)),
                REMOVED_TRACE_QUEUE_FIELDS,
            ),
        ),
        (
            "message-without-queue-dropped",
            f"The receiver drops a message whose DebugHeader names no queue if {_bit} is set in the DebugHeader.",
            drop_messages(_make_debug_header_bit_condition(_bit, _has_no_trace_queue)),
        ),
    ):
        add(f"receiver-{_bit.lower()}-{_kind}", _rule, _says, _install)


def _make_condition_with_debug_header(when: PacketCondition) -> PacketCondition:
    return lambda packet: packet.DebugHeader is not None and bool(when(packet))


def _omit_trace_queue(packet: UserMessagePacket) -> bytes:
    headers = split_headers(packet)
    return join_headers({**headers, "DebugHeader": headers["DebugHeader"][:4]})


def _append_zero_trace_queue(packet: UserMessagePacket) -> bytes:
    headers = split_headers(packet)
    return join_headers({**headers, "DebugHeader": headers["DebugHeader"] + bytes(16)})


for _name, _rule, _says, _install in (
    (
        "transactional-message-qt-2",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT of a transactional message to 2.",
        set_field_value(UserMessagePacket, "DebugHeader.QT", 2, _make_condition_with_debug_header(is_transactional)),
    ),
    (
        "debug-header-without-queue-qt-3",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT to 3 in a DebugHeader without QueueIdentifier.",
        set_field_value(UserMessagePacket, "DebugHeader.QT", 3, _has_no_trace_queue),
    ),
    (
        "large-message-qt-2",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT of a large message to 2.",
        set_field_value(UserMessagePacket, "DebugHeader.QT", 2, _make_condition_with_debug_header(has_large_body)),
    ),
    (
        "transactional-message-qt-1-without-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender omits QueueIdentifier in the DebugHeader of a transactional message in which QT is 1.",
        change_packets_of_kind(
            UserMessagePacket,
            _omit_trace_queue,
            lambda packet: packet.DebugHeader is not None and _has_trace_queue(packet) and is_transactional(packet),
        ),
    ),
    (
        "debug-header-qt-0-with-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender adds a QueueIdentifier of zeros to a DebugHeader in which QT is 0.",
        change_packets_of_kind(UserMessagePacket, _append_zero_trace_queue, _has_no_trace_queue),
    ),
    (
        "large-message-qt-0-with-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender clears QT in the DebugHeader of a large message, and keeps QueueIdentifier.",
        set_field_value(UserMessagePacket, "DebugHeader.QT", 0, _make_condition_with_debug_header(has_large_body)),
    ),
):
    add(_name, _rule, _says, _install)


TRACE_REQUEST_FLAG = BaseHeader.flags(TR=1)


@fault("receiver-sends-no-trace-report-if-debug-flag-x13-is-set", breaks="MQMQ-2.2.20.8-13", blind=True)
class ReceiverSendsNoTraceReportIfDebugFlagX13IsSet(MessageAdmission):
    """The receiver stores a traced message with bit X13 of DebugHeader.Flags, but sends no report about it."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None or admitted.DebugHeader is None or not admitted.DebugHeader.X13:
            return admitted
        return set_fields(admitted, {"BaseHeader.Flags": lambda flags: flags & ~TRACE_REQUEST_FLAG})
