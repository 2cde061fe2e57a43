"""Faults of the UserHeader that occur only in messages of one kind. Spec: MS-MQMQ 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.fields import change_number_in_field, set_field_value
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from suites.mqmq.steps.faulty_messages import change_sent_packets_starting_with_number, drop_messages
from suites.mqmq.steps.kinds_of_messages import (
    has_large_body,
    is_admin_ack,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

NULL_GUID = UUID(int=0)


def _is_normal_message_without_final_ack(packet: Any) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == 0 and not is_final_ack(packet)


def _has_direct_destination(packet: Any) -> bool:
    return bool(packet.UserHeader.DQ == 7)


for _rule, _bit in (
    ("MQMQ-2.2.19.2-12", "X1"),
    ("MQMQ-2.2.19.2-24", "X2"),
    ("MQMQ-2.2.19.2-26", "X3"),
    ("MQMQ-2.2.19.2-28", "X4"),
):
    for _name, _says, _when in (
        ("transactional-message", "a transactional message", is_transactional),
        (
            "message-with-connector-type",
            "a message with ConnectorType",
            lambda packet: packet.UserHeader.ConnectorType is not None,
        ),
        ("administration-acknowledgment", "an administration acknowledgment", is_admin_ack),
    ):
        add(
            f"receiver-user-flag-{_bit.lower()}-in-{_name}-dropped",
            _rule,
            f"The receiver drops {_says} with {_bit} set in UserHeader.Flags.",
            drop_messages(lambda packet, bit=_bit, when=_when: getattr(packet.UserHeader, bit) and when(packet)),  # type: ignore[misc]
            blind=True,
        )
add(
    "receiver-user-flag-x3-value-2-dropped",
    "MQMQ-2.2.19.2-26",
    "The receiver drops a message with the value 2 in X3 of UserHeader.Flags.",
    drop_messages(lambda packet: packet.UserHeader.X3 == 2),
    blind=True,
)
add(
    "receiver-user-flag-x4-value-4-dropped",
    "MQMQ-2.2.19.2-28",
    "The receiver drops a message with the value 4 in X4 of UserHeader.Flags.",
    drop_messages(lambda packet: packet.UserHeader.X4 == 4),
    blind=True,
)

_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "receiver-order-ack-source-of-acknowledged-message",
        "MQMQ-2.2.19.2-01",
        "The receiver sends an OrderAck whose SourceQueueManager is a GUID of another queue manager.",
        set_field_value(UserMessagePacket, "UserHeader.SourceQueueManager", MADE_UP_GUID, is_order_ack),
    ),
    (
        "receiver-report-source-null",
        "MQMQ-2.2.19.2-01",
        "The receiver sends a report whose SourceQueueManager is zero.",
        set_field_value(UserMessagePacket, "UserHeader.SourceQueueManager", NULL_GUID, is_report),
    ),
    (
        "sender-source-of-large-message-null",
        "MQMQ-2.2.19.2-01",
        "The sender sends a message with a body of more than 4 KiB whose SourceQueueManager is zero.",
        set_field_value(UserMessagePacket, "UserHeader.SourceQueueManager", NULL_GUID, has_large_body),
    ),
    (
        "sender-queue-manager-address-of-second-private-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in the second and every later message for a private queue.",
        change_sent_packets_starting_with_number(
            UserMessagePacket,
            2,
            lambda packet: set_fields(packet, {"UserHeader.QueueManagerAddress": NULL_GUID}).build(),
            lambda packet: 0 if packet.UserHeader.DQ == 3 else None,
        ),
    ),
    (
        "sender-queue-manager-address-of-transactional-private-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in a transactional message for a private queue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            NULL_GUID,
            lambda packet: packet.UserHeader.DQ == 3 and is_transactional(packet),
        ),
    ),
    (
        "sender-queue-manager-address-of-public-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in a message for a public queue.",
        set_field_value(
            UserMessagePacket, "UserHeader.QueueManagerAddress", NULL_GUID, lambda packet: packet.UserHeader.DQ == 5
        ),
    ),
    (
        "receiver-queue-manager-address-of-private-acknowledgment-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The receiver sets QueueManagerAddress to zero in an administration acknowledgment for a private queue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            NULL_GUID,
            lambda packet: packet.UserHeader.DQ == 3 and is_admin_ack(packet),
        ),
    ),
    (
        "sender-queue-manager-address-of-direct-transactional-message-set",
        "MQMQ-2.2.19.2-04",
        "The sender sets QueueManagerAddress to a GUID in a transactional message with a direct format name.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            MADE_UP_GUID,
            lambda packet: _has_direct_destination(packet) and is_transactional(packet),
        ),
    ),
    (
        "receiver-queue-manager-address-of-direct-acknowledgment-set",
        "MQMQ-2.2.19.2-04",
        "The receiver sets QueueManagerAddress to a GUID in an administration acknowledgment with a direct name.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            MADE_UP_GUID,
            lambda packet: _has_direct_destination(packet) and is_admin_ack(packet),
        ),
    ),
    (
        "receiver-queue-manager-address-of-direct-final-ack-set",
        "MQMQ-2.2.19.2-04",
        "The receiver sets QueueManagerAddress to a GUID in a FinalAck with a direct format name.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            MADE_UP_GUID,
            lambda packet: _has_direct_destination(packet) and is_final_ack(packet),
        ),
    ),
    (
        "sender-sent-time-of-transactional-message-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The sender sends a transactional message with SentTime 0.",
        set_field_value(UserMessagePacket, "UserHeader.SentTime", 0, is_transactional),
    ),
    (
        "receiver-sent-time-of-acknowledgment-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends an administration acknowledgment with SentTime 0.",
        set_field_value(UserMessagePacket, "UserHeader.SentTime", 0, is_admin_ack),
    ),
    (
        "receiver-sent-time-of-order-ack-one-hour-ahead",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends an OrderAck with a SentTime that is one hour ahead.",
        change_number_in_field(UserMessagePacket, "UserHeader.SentTime", lambda time: time + 3600, is_order_ack),
    ),
    (
        "receiver-sent-time-of-report-in-milliseconds",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends a report with a SentTime in milliseconds.",
        change_number_in_field(UserMessagePacket, "UserHeader.SentTime", lambda time: time * 1000, is_report),
    ),
    (
        "receiver-message-id-of-final-ack-7",
        "MQMQ-2.2.19.2-07",
        "The receiver sends every FinalAck with MessageID 7.",
        set_field_value(UserMessagePacket, "UserHeader.MessageID", 7, is_final_ack),
    ),
    (
        "receiver-message-id-of-order-ack-8",
        "MQMQ-2.2.19.2-07",
        "The receiver sends every OrderAck with MessageID 8.",
        set_field_value(UserMessagePacket, "UserHeader.MessageID", 8, is_order_ack),
    ),
    (
        "sender-message-id-of-8-bits",
        "MQMQ-2.2.19.2-07",
        "The sender sends large messages with only the lowest two bits of MessageID.",
        change_number_in_field(UserMessagePacket, "UserHeader.MessageID", lambda number: number & 3, has_large_body),
    ),
    (
        "receiver-rc-of-acknowledgment-0x1e",
        "MQMQ-2.2.19.2-08",
        "The receiver sends an administration acknowledgment with RC 0x1E.",
        set_field_value(UserMessagePacket, "UserHeader.RC", 0x1E, is_admin_ack),
    ),
    (
        "sender-rc-of-transactional-message-0x1e",
        "MQMQ-2.2.19.2-08",
        "The sender sends a transactional message with RC 0x1E.",
        set_field_value(UserMessagePacket, "UserHeader.RC", 0x1E, is_transactional),
    ),
    (
        "receiver-dm-of-final-ack-2",
        "MQMQ-2.2.19.2-09",
        "The receiver sends a FinalAck with DM 2.",
        set_field_value(UserMessagePacket, "UserHeader.DM", 2, is_final_ack),
    ),
    (
        "sender-dm-of-large-message-3",
        "MQMQ-2.2.19.2-09",
        "The sender sets DM to 3 in a message with a body of more than 4 KiB.",
        set_field_value(UserMessagePacket, "UserHeader.DM", 3, has_large_body),
    ),
    (
        "sender-dm-of-second-transactional-message-0",
        "MQMQ-2.2.19.2-20",
        "The sender sets DM to 0 in a transactional message with a TxSequenceNumber above 1.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.DM",
            0,
            lambda packet: is_transactional(packet) and packet.TransactionHeader.TxSequenceNumber > 1,
        ),
    ),
    (
        "sender-dm-of-large-transactional-message-0",
        "MQMQ-2.2.19.2-20",
        "The sender sets DM to 0 in a transactional message with a body of more than 4 KiB.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.DM",
            0,
            lambda packet: is_transactional(packet) and has_large_body(packet),
        ),
    ),
    (
        "receiver-dq-of-final-ack-0",
        "MQMQ-2.2.19.2-15",
        "The receiver sends a FinalAck with DQ 1.",
        set_field_value(UserMessagePacket, "UserHeader.DQ", 1, is_final_ack),
    ),
    (
        "receiver-dq-of-private-acknowledgment-2",
        "MQMQ-2.2.19.2-15",
        "The receiver sets DQ to 2 in an administration acknowledgment for a private queue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.DQ",
            2,
            lambda packet: is_admin_ack(packet) and packet.UserHeader.DQ == 3,
        ),
    ),
    (
        "sender-aq-of-transactional-message-1",
        "MQMQ-2.2.19.2-16",
        "The sender sets AQ to 1 in a transactional message without an administration queue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.AQ",
            1,
            lambda packet: is_transactional(packet) and packet.UserHeader.AQ == 0,
        ),
    ),
    (
        "sender-aq-of-private-queue-4",
        "MQMQ-2.2.19.2-16",
        "The sender sets AQ to 4 in a message with a private administration queue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.AQ",
            4,
            lambda packet: packet.UserHeader.AQ in (2, 3) and _is_normal_message_without_final_ack(packet),
        ),
    ),
):
    add(_name, _broken_rules, _says, _install, blind=True)
