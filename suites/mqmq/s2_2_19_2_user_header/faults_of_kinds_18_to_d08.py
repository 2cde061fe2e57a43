"""Faults of flags and names in the UserHeader that occur only in messages of one kind. Spec: MS-MQMQ 2.2.19.2."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.fields import clear_bits, set_bits, set_field_value
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values, set_fields
from harness.faults.received_messages import change_received_message
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from suites.mqmq.steps.faulty_messages import drop_messages, misread_messages
from suites.mqmq.steps.kinds_of_messages import (
    has_large_body,
    is_admin_ack,
    is_express,
    is_final_ack,
    is_report,
    is_transactional,
)

NULL_GUID = UUID(int=0)


def _is_normal_message_without_final_ack(packet: Any) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == 0 and not is_final_ack(packet)


_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "sender-th-clear-in-last-message-of-transaction",
        "MQMQ-2.2.19.2-19",
        "The sender clears TH in the last message of a transaction of several messages.",
        clear_bits(
            UserMessagePacket,
            "UserHeader.TH",
            lambda packet: is_transactional(packet) and packet.TransactionHeader.LM and not packet.TransactionHeader.FM,
        ),
    ),
    (
        "receiver-th-set-in-final-ack",
        "MQMQ-2.2.19.2-19",
        "The receiver sets TH in a FinalAck without a TransactionHeader.",
        set_bits(UserMessagePacket, "UserHeader.TH", is_final_ack),
    ),
    (
        "sender-security-sh-clear-in-transactional-message",
        "MQMQ-2.2.19.2-18",
        "The sender clears UserHeader.Flags.SH in a transactional message with a SecurityHeader.",
        clear_bits(
            UserMessagePacket,
            "UserHeader.SH",
            lambda packet: is_transactional(packet) and packet.SecurityHeader is not None,
        ),
    ),
    (
        "receiver-security-sh-set-in-acknowledgment",
        "MQMQ-2.2.19.2-18",
        "The receiver sets UserHeader.Flags.SH in an administration acknowledgment without a SecurityHeader.",
        set_bits(UserMessagePacket, "UserHeader.SH", is_admin_ack),
    ),
    (
        "receiver-mp-clear-in-final-ack",
        "MQMQ-2.2.19.2-21",
        "The receiver clears MP in a FinalAck.",
        clear_bits(UserMessagePacket, "UserHeader.MP", is_final_ack),
    ),
    (
        "sender-mp-clear-in-message-without-body",
        "MQMQ-2.2.19.2-21",
        "The sender clears MP in a message with an empty body.",
        clear_bits(
            UserMessagePacket,
            "UserHeader.MP",
            lambda packet: (
                _is_normal_message_without_final_ack(packet) and not packet.MessagePropertiesHeader.MessageBody
            ),
        ),
    ),
    (
        "sender-cq-clear-in-recoverable-message",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "The sender clears CQ in a recoverable message with ConnectorType.",
        clear_bits(
            UserMessagePacket,
            "UserHeader.CQ",
            lambda packet: packet.UserHeader.DM and packet.UserHeader.ConnectorType is not None,
        ),
    ),
    (
        "sender-mq-clear-in-transactional-message-with-lists",
        "MQMQ-2.2.19.2-23",
        "The sender clears MQ in a transactional message with a MultiQueueFormatHeader.",
        clear_bits(
            UserMessagePacket,
            "UserHeader.MQ",
            lambda packet: is_transactional(packet) and packet.MultiQueueFormatHeader is not None,
        ),
    ),
    (
        "receiver-mq-set-in-acknowledgment",
        "MQMQ-2.2.19.2-23",
        "The receiver sets MQ in an administration acknowledgment without a MultiQueueFormatHeader.",
        set_bits(UserMessagePacket, "UserHeader.MQ", is_admin_ack),
    ),
    (
        "receiver-ah-set-in-report",
        "MQMQ-2.2.19.2-25",
        "The receiver sets AH in a report.",
        set_bits(UserMessagePacket, "UserHeader.AH", is_report),
    ),
    (
        "receiver-ah-set-in-final-ack",
        "MQMQ-2.2.19.2-25",
        "The receiver sets AH in a FinalAck.",
        set_bits(UserMessagePacket, "UserHeader.AH", is_final_ack),
    ),
    (
        "sender-ah-set-in-message-with-lists",
        "MQMQ-2.2.19.2-25",
        "The sender sets AH in a message with a MultiQueueFormatHeader.",
        set_bits(UserMessagePacket, "UserHeader.AH", lambda packet: packet.MultiQueueFormatHeader is not None),
    ),
    (
        "sender-admin-queue-omitted-with-negative-receive",
        ("MQMQ-2.2.19.2-31",),
        "The sender omits the administration queue of a message that requests only NR.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~(7 << 13)},
            lambda packet: packet.MessagePropertiesHeader.Flags & 15 == 8,
        ),
    ),
    (
        "sender-admin-queue-omitted-in-transactional-message",
        ("MQMQ-2.2.19.2-31",),
        "The sender omits the administration queue of a transactional message that requests acknowledgments.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~(7 << 13)},
            is_transactional,
        ),
    ),
    (
        "receiver-connector-type-of-transactional-message-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops a transactional message with ConnectorType.",
        drop_messages(lambda packet: is_transactional(packet) and packet.UserHeader.ConnectorType is not None),
    ),
    (
        "receiver-zero-connector-type-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops a message whose ConnectorType is zero.",
        drop_messages(lambda packet: packet.UserHeader.ConnectorType == NULL_GUID),
    ),
    (
        "receiver-connector-type-of-encrypted-or-express-message-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops an express message with ConnectorType and an administration queue.",
        drop_messages(
            lambda packet: (
                is_express(packet)
                and packet.UserHeader.AdminQueue is not None
                and packet.UserHeader.ConnectorType is not None
            )
        ),
    ),
    (
        "receiver-connector-type-ends-acknowledgments",
        "MQMQ-2.2.19.2-39",
        "The receiver sends no administration acknowledgments for a message with ConnectorType.",
        change_received_message(
            {"MessagePropertiesHeader.Flags": 0}, lambda packet: packet.UserHeader.ConnectorType is not None
        ),
    ),
    (
        "receiver-response-queue-of-transactional-message-with-rq-4-on-source",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a transactional message as a private queue on the source host.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}),
            lambda packet: is_transactional(packet) and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-4-and-aq-3-on-source",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a message with AQ 3 as a private queue on the source host.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}),
            lambda packet: packet.UserHeader.AQ == 3 and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-4-and-aq-6-on-destination",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a message with AQ 6 as a private queue on the destination host.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 3 << 16}),
            lambda packet: packet.UserHeader.AQ == 6 and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-1-and-aq-7-missing",
        "MQMQ-2.2.19.2-D08",
        "The receiver delivers a message with RQ 1 and a direct administration queue without a response queue.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16)}),
            lambda packet: packet.UserHeader.AQ == 7 and packet.UserHeader.RQ == 1,
        ),
    ),
    (
        "receiver-response-queue-with-rq-2-on-destination",
        "MQMQ-2.2.19.2-D08",
        "The receiver resolves RQ 2 of a transactional message as a private queue on the destination host.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 3 << 16}),
            lambda packet: is_transactional(packet) and packet.UserHeader.RQ == 2,
        ),
    ),
    (
        "receiver-admin-queue-with-aq-2-on-destination-if-transactional",
        "MQMQ-2.2.19.2-D07",
        "The receiver resolves AQ 2 of a transactional message as a private queue on the destination host.",
        misread_messages(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 13) | 3 << 13}),
            lambda packet: is_transactional(packet) and packet.UserHeader.AQ == 2,
        ),
    ),
    (
        "receiver-public-admin-queue-dropped-if-response-queue",
        "MQMQ-2.2.19.2-D07",
        "The receiver drops a message with AQ 5 and a response queue.",
        drop_messages(lambda packet: packet.UserHeader.AQ == 5 and packet.UserHeader.RQ),
    ),
    (
        "receiver-private-destination-of-large-message-dropped",
        "MQMQ-2.2.19.2-D06",
        "The receiver drops a message with DQ 3 and a body of more than 4 KiB.",
        drop_messages(lambda packet: packet.UserHeader.DQ == 3 and has_large_body(packet)),
    ),
    (
        "receiver-jp-read-from-bit-8",
        "MQMQ-2.2.19.2-D02",
        "The receiver reads JN and JP of UserHeader.Flags interchanged.",
        misread_messages(
            lambda packet: set_fields(
                packet,
                {"UserHeader.Flags": lambda flags: flags & ~0x300 | (flags & 0x100) << 1 | (flags & 0x200) >> 1},
            ),
            lambda packet: True,
        ),
    ),
    (
        "sender-time-to-be-received-and-sent-time-interchanged-in-transactional-message",
        "MQMQ-2.2.19.2-D01",
        "The sender of a transactional message writes SentTime before TimeToBeReceived.",
        change_packets_of_kind(
            UserMessagePacket,
            lambda packet: set_fields(
                packet,
                {
                    "UserHeader.SentTime": packet.UserHeader.TimeToBeReceived,
                    "UserHeader.TimeToBeReceived": packet.UserHeader.SentTime,
                },
            ).build(),
            is_transactional,
        ),
    ),
    (
        "receiver-connector-type-read-before-queues",
        "MQMQ-2.2.19.2-D01",
        "The receiver drops a message with a response queue and ConnectorType.",
        drop_messages(
            lambda packet: packet.UserHeader.ConnectorType is not None and packet.UserHeader.ResponseQueue is not None
        ),
    ),
    (
        "sender-response-queue-of-transactional-message-omitted",
        "MQMQ-2.2.19.2-35",
        "The sender sets RQ in a transactional message without a response queue to 5.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.RQ",
            5,
            lambda packet: is_transactional(packet) and not packet.UserHeader.RQ,
        ),
    ),
    (
        "receiver-rq-cleared-in-acknowledgment-with-response-queue",
        "MQMQ-2.2.19.2-36",
        "The receiver clears RQ in an administration acknowledgment that contains ResponseQueue.",
        set_field_value(UserMessagePacket, "UserHeader.RQ", 0, is_admin_ack),
    ),
    (
        "sender-aq-cleared-in-message-with-both-queues",
        "MQMQ-2.2.19.2-33",
        "The sender clears AQ in a message that contains AdminQueue and ResponseQueue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.AQ",
            0,
            lambda packet: packet.UserHeader.AdminQueue is not None and packet.UserHeader.ResponseQueue is not None,
        ),
    ),
    (
        "sender-aq-7-without-admin-queue-in-transactional-message",
        "MQMQ-2.2.19.2-32",
        "The sender sets AQ to 7 in a transactional message without AdminQueue.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.AQ",
            7,
            lambda packet: is_transactional(packet) and packet.UserHeader.AdminQueue is None,
        ),
    ),
    (
        "receiver-aq-5-without-admin-queue-in-acknowledgment",
        "MQMQ-2.2.19.2-32",
        "The receiver sets AQ to 5 in an administration acknowledgment without AdminQueue.",
        set_field_value(UserMessagePacket, "UserHeader.AQ", 5, is_admin_ack),
    ),
):
    add(_name, _broken_rules, _says, _install, blind=True)
