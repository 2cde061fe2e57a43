"""Faults in the DebugHeader of messages of one kind, which break the rules of MS-MQMQ 2.2.20.8."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import field_is
from harness.faults.primitives import packets
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from suites.mqmq.s2_2_20_user_message_packet.fault_steps import (
    HIDDEN_QUEUE,
    Check,
    change_received,
    join_headers,
    split_headers,
)
from suites.mqmq.steps.faulty_messages import drop_received
from suites.mqmq.steps.kinds_of_messages import is_express, is_large, is_transactional


def _has_bit(name: str, when: Check) -> Check:
    def has_bit(packet: Any) -> bool:
        header = packet.DebugHeader
        return header is not None and bool(getattr(header, name)) and bool(when(packet))

    return has_bit


def _names_queue(packet: Any) -> bool:
    return bool(packet.DebugHeader is not None and packet.DebugHeader.QT)


def _names_no_queue(packet: Any) -> bool:
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
            drop_received(_has_bit(_bit, is_transactional)),
        ),
        (
            "large-message-dropped",
            f"The receiver drops a large message if {_bit} is set in its DebugHeader.",
            drop_received(_has_bit(_bit, is_large)),
        ),
        (
            "queue-of-express-message-ignored",
            f"The receiver sends no report about an express message if {_bit} is set in its DebugHeader.",
            change_received(_has_bit(_bit, lambda packet: is_express(packet) and _names_queue(packet)), HIDDEN_QUEUE),
        ),
        (
            "message-without-queue-dropped",
            f"The receiver drops a message whose DebugHeader names no queue if {_bit} is set in the DebugHeader.",
            drop_received(_has_bit(_bit, _names_no_queue)),
        ),
    ):
        add(f"receiver-{_bit.lower()}-{_kind}", _rule, _says, _install)


def _is_traced(when: Check) -> Check:
    return lambda packet: packet.DebugHeader is not None and bool(when(packet))


def _omit_queue(packet: UserMessagePacket) -> bytes:
    headers = split_headers(packet)
    return join_headers({**headers, "DebugHeader": headers["DebugHeader"][:4]})


def _append_queue(packet: UserMessagePacket) -> bytes:
    headers = split_headers(packet)
    return join_headers({**headers, "DebugHeader": headers["DebugHeader"] + bytes(16)})


for _name, _rule, _says, _install in (
    (
        "transactional-message-qt-2",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT of a transactional message to 2.",
        field_is(UserMessagePacket, "DebugHeader.QT", 2, _is_traced(is_transactional)),
    ),
    (
        "debug-header-without-queue-qt-3",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT to 3 in a DebugHeader without QueueIdentifier.",
        field_is(UserMessagePacket, "DebugHeader.QT", 3, _names_no_queue),
    ),
    (
        "large-message-qt-2",
        "MQMQ-2.2.20.8-01",
        "The sender sets DebugHeader.Flags.QT of a large message to 2.",
        field_is(UserMessagePacket, "DebugHeader.QT", 2, _is_traced(is_large)),
    ),
    (
        "transactional-message-qt-1-without-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender omits QueueIdentifier in the DebugHeader of a transactional message in which QT is 1.",
        packets(
            UserMessagePacket,
            _omit_queue,
            lambda packet: packet.DebugHeader is not None and _names_queue(packet) and is_transactional(packet),
        ),
    ),
    (
        "debug-header-qt-0-with-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender adds a QueueIdentifier of zeros to a DebugHeader in which QT is 0.",
        packets(UserMessagePacket, _append_queue, _names_no_queue),
    ),
    (
        "large-message-qt-0-with-queue-identifier",
        "MQMQ-2.2.20.8-17",
        "The sender clears QT in the DebugHeader of a large message, and keeps QueueIdentifier.",
        field_is(UserMessagePacket, "DebugHeader.QT", 0, _is_traced(is_large)),
    ),
):
    add(_name, _rule, _says, _install)
