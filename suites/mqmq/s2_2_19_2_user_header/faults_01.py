"""Faults that break the rule MQMQ-2.2.19.2-01."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import add_to_field, clear_bits, set_bits, set_field_value
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.received_messages import change_received_message
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    UserHeader,
    UserMessagePacket,
)
from suites.mqmq.s2_2_19_2_user_header.fault_steps import (
    DIRECT_QUEUE_NAME_TYPE,
    PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE,
    PUBLIC_QUEUE_NAME_TYPE,
    SECOND_QUEUE_MANAGER_GUID,
    SECONDS_PER_HOUR,
    has_admin_queue,
    make_destination_queue_type_condition,
)
from suites.mqmq.steps.kinds_of_messages import (
    has_destination_lists,
    is_admin_ack,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)


def _has_no_admin_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.AdminQueue is None


def _has_response_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.ResponseQueue is not None


def _remove_response_queue(packet: UserMessagePacket) -> bytes:
    """Remove the response queue from a UserMessage, but keep its RQ."""
    user = packet.UserHeader
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(user.build())
    bare = replace(user, ResponseQueue=None, Flags=user.Flags & ~UserHeader.flags(RQ=7))
    return correct_packet_size(data[: end - len(user.build()) + len(bare.build())] + data[end:])


for _name, _broken_rules, _says, _install in (
    (
        "sender-user-message-source-queue-manager-wrong",
        ("MQMQ-2.2.19.2-01", "MQDMPR-3.1.1.12-D51", "MQMQ-2.2.18.1.3-01"),
        "The sender's UserMessage carries the GUID of an unknown queue manager as SourceQueueManager.",
        set_field_value(UserMessagePacket, "UserHeader.SourceQueueManager", SECOND_QUEUE_MANAGER_GUID),
    ),
    (
        "sender-direct-message-queue-manager-address-not-zero",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-04"),
        "The sender's UserMessage to a direct name carries a nonzero QueueManagerAddress.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            SECOND_QUEUE_MANAGER_GUID,
            make_destination_queue_type_condition(DIRECT_QUEUE_NAME_TYPE),
        ),
    ),
    (
        "sender-queue-manager-address-wrong-for-private-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender's UserMessage to a private queue carries the QueueManagerAddress of an unknown queue manager.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            SECOND_QUEUE_MANAGER_GUID,
            make_destination_queue_type_condition(PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE),
        ),
    ),
    (
        "sender-user-message-sent-time-1-hour-early",
        ("MQMQ-2.2.19.2-06",),
        "The sender's UserMessage carries a SentTime that is one hour too early.",
        add_to_field(UserMessagePacket, "UserHeader.SentTime", -SECONDS_PER_HOUR),
    ),
    (
        "sender-user-message-message-id-always-7",
        ("MQMQ-2.2.19.2-07", "MQDMPR-3.1.1.12-D02", "MQMQ-2.2.18.1.3-02"),
        "The sender's UserMessages all carry MessageID 7.",
        set_field_value(UserMessagePacket, "UserHeader.MessageID", 7),
    ),
    (
        "sender-user-message-rc-0x1e",
        ("MQMQ-2.2.19.2-08",),
        "The sender's UserMessage carries RC 0x1E.",
        set_field_value(UserMessagePacket, "UserHeader.RC", 0x1E),
    ),
    (
        "sender-user-message-dm-2",
        ("MQMQ-2.2.19.2-09",),
        "The sender's UserMessage carries DM 2.",
        set_field_value(UserMessagePacket, "UserHeader.DM", 2),
    ),
    (
        "sender-user-message-dq-1",
        ("MQMQ-2.2.19.2-15",),
        "The sender's UserMessage carries DQ 1.",
        set_field_value(UserMessagePacket, "UserHeader.DQ", 1),
    ),
    (
        "sender-user-message-aq-1",
        ("MQMQ-2.2.19.2-16",),
        "The sender's UserMessage carries AQ 1.",
        set_field_value(UserMessagePacket, "UserHeader.AQ", 1),
    ),
    (
        "sender-user-message-sh-without-security-header",
        ("MQMQ-2.2.19.2-18", "MQMQ-2.2.20-04"),
        "The sender's UserMessage has UserHeader.Flags.SH set, but contains no SecurityHeader.",
        set_bits(UserMessagePacket, "UserHeader.SH"),
    ),
    (
        "sender-user-message-th-without-transaction-header",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "The sender's UserMessage has TH set, but contains no TransactionHeader.",
        set_bits(UserMessagePacket, "UserHeader.TH"),
    ),
    (
        "sender-transactional-message-th-clear",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "The sender's UserMessage contains a TransactionHeader, but has TH clear.",
        clear_bits(UserMessagePacket, "UserHeader.TH"),
    ),
    (
        "sender-transactional-message-dm-0",
        ("MQMQ-2.2.19.2-20",),
        "The sender's transactional UserMessage carries DM 0.",
        clear_bits(UserMessagePacket, "UserHeader.DM", is_transactional),
    ),
    (
        "sender-user-message-mp-clear",
        ("MQMQ-2.2.19.2-21", "MQMQ-2.2.20-01", "MQMQ-2.2.20-05"),
        "The sender leaves MP clear in a UserMessage.",
        clear_bits(UserMessagePacket, "UserHeader.MP"),
    ),
    (
        "sender-user-message-cq-without-connector-type",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "The sender's UserMessage has CQ set, but contains no ConnectorType.",
        set_bits(UserMessagePacket, "UserHeader.CQ"),
    ),
    (
        "sender-user-message-mq-without-lists",
        ("MQMQ-2.2.19.2-23", "MQMQ-2.2.20-08"),
        "The sender's UserMessage has MQ set, but contains no MultiQueueFormatHeader.",
        set_bits(UserMessagePacket, "UserHeader.MQ"),
    ),
    (
        "sender-user-message-ah-set",
        ("MQMQ-2.2.19.2-25",),
        "The sender sets AH in a UserMessage.",
        set_bits(UserMessagePacket, "UserHeader.AH"),
    ),
    (
        "sender-user-message-hh-without-soap-header",
        ("MQMQ-2.2.19.2-27", "MQMQ-2.2.20-07"),
        "The sender's UserMessage has HH set, but contains no SoapHeader.",
        set_bits(UserMessagePacket, "UserHeader.HH"),
    ),
    (
        "sender-acks-requested-without-admin-queue",
        ("MQMQ-2.2.19.2-31",),
        "The sender's UserMessage requests acknowledgments, but names no administration queue.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda old: old & ~UserHeader.flags(AQ=7)},
            has_admin_queue,
        ),
    ),
    (
        "sender-user-message-aq-5-without-admin-queue",
        ("MQMQ-2.2.19.2-32",),
        "The sender's UserMessage has AQ 5, but contains no AdminQueue.",
        set_field_value(UserMessagePacket, "UserHeader.AQ", PUBLIC_QUEUE_NAME_TYPE, _has_no_admin_queue),
    ),
    (
        "sender-user-message-aq-0-with-admin-queue",
        ("MQMQ-2.2.19.2-33",),
        "The sender's UserMessage has AQ 0, but contains an AdminQueue.",
        clear_bits(UserMessagePacket, "UserHeader.AQ", has_admin_queue),
    ),
    (
        "sender-user-message-rq-without-response-queue",
        ("MQMQ-2.2.19.2-35",),
        "The sender's UserMessage has a nonzero RQ, but contains no ResponseQueue.",
        change_packets_of_kind(UserMessagePacket, _remove_response_queue, _has_response_queue),
    ),
    (
        "sender-user-message-rq-0-with-response-queue",
        ("MQMQ-2.2.19.2-36",),
        "The sender's UserMessage has RQ 0, but contains a ResponseQueue.",
        clear_bits(UserMessagePacket, "UserHeader.RQ", _has_response_queue),
    ),
):
    add(_name, _broken_rules, _says, _install)


USER_MESSAGE_TYPE = UserMessagePacket


for _name, _rule, _says, _install in (
    (
        "admin-ack-source-queue-manager-wrong",
        "MQMQ-2.2.19.2-01",
        "A queue manager sends an administration acknowledgment whose SourceQueueManager is a wrong GUID.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.SourceQueueManager", MADE_UP_GUID, is_admin_ack),
    ),
    (
        "final-ack-source-queue-manager-wrong",
        "MQMQ-2.2.19.2-01",
        "A queue manager sends a FinalAck whose SourceQueueManager is a wrong GUID.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.SourceQueueManager", MADE_UP_GUID, is_final_ack),
    ),
    (
        "sender-copy-for-several-queues-address-not-zero",
        "MQMQ-2.2.19.2-04",
        "A queue manager sends to several direct names a message whose QueueManagerAddress is not zero.",
        set_field_value(
            USER_MESSAGE_TYPE,
            "UserHeader.QueueManagerAddress",
            MADE_UP_GUID,
            lambda p: has_destination_lists(p) and p.UserHeader.DQ == 7,
        ),
    ),
    (
        "admin-ack-dm-3",
        "MQMQ-2.2.19.2-09",
        "A queue manager sends an administration acknowledgment whose DM is 3.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.DM", 3, is_admin_ack),
    ),
    (
        "admin-ack-dq-6",
        "MQMQ-2.2.19.2-15",
        "A queue manager sends an administration acknowledgment whose DQ is 6.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.DQ", 6, is_admin_ack),
    ),
    (
        "sender-transactional-message-user-header-x2-set",
        "MQMQ-2.2.19.2-24",
        "A queue manager sends a transactional message with bit X2 of UserHeader.Flags set.",
        set_bits(USER_MESSAGE_TYPE, "UserHeader.X2", is_transactional),
    ),
    (
        "order-ack-user-header-x1-set",
        "MQMQ-2.2.19.2-12",
        "A queue manager sends an OrderAck with bit X1 of UserHeader.Flags set.",
        set_bits(USER_MESSAGE_TYPE, "UserHeader.X1", is_order_ack),
    ),
    (
        "report-user-header-x4-set",
        "MQMQ-2.2.19.2-28",
        "A queue manager sends a report with the bits X4 of UserHeader.Flags set.",
        set_bits(USER_MESSAGE_TYPE, "UserHeader.X4", is_report),
    ),
    (
        "admin-ack-ah-set",
        "MQMQ-2.2.19.2-25",
        "A queue manager sends an administration acknowledgment with AH set.",
        set_bits(USER_MESSAGE_TYPE, "UserHeader.AH", is_admin_ack),
    ),
    (
        "order-ack-mp-clear",
        "MQMQ-2.2.19.2-21",
        "A queue manager sends an OrderAck with MP clear.",
        clear_bits(USER_MESSAGE_TYPE, "UserHeader.MP", is_order_ack),
    ),
    (
        "sender-transactional-message-to-several-queues-dm-0",
        "MQMQ-2.2.19.2-20",
        "A queue manager sends a transactional message to several queues with DM 0.",
        set_field_value(
            USER_MESSAGE_TYPE, "UserHeader.DM", 0, lambda p: is_transactional(p) and has_destination_lists(p)
        ),
    ),
    (
        "receiver-x1-of-message-with-admin-queue-response-queue-lost",
        "MQMQ-2.2.19.2-12",
        "The receiver clears JN and JP of a message with bit X1 of UserHeader.Flags set.",
        change_received_message({"UserHeader.Flags": lambda old: old & ~0x300}, lambda p: p.UserHeader.X1),
    ),
    (
        "receiver-x2-of-transactional-message-tag-lost",
        "MQMQ-2.2.19.2-24",
        "The receiver sets ApplicationTag to 0 in a transactional message with bit X2 of UserHeader.Flags set.",
        change_received_message(
            {"MessagePropertiesHeader.ApplicationTag": 0}, lambda p: p.UserHeader.X2 and is_transactional(p)
        ),
    ),
    (
        "receiver-x3-lower-bit-response-queue-lost",
        "MQMQ-2.2.19.2-26",
        "The receiver treats a message as express when the lower bit of X3 in UserHeader.Flags is set.",
        change_received_message(
            {"UserHeader.Flags": lambda old: old & ~(3 << 5)}, lambda p: p.UserHeader.X3 & 1 and not is_transactional(p)
        ),
    ),
    (
        "receiver-time-to-be-received-of-express-message-ignored",
        "MQMQ-2.2.19.2-05",
        "The receiver keeps an express message in its queue after TimeToBeReceived has expired.",
        change_received_message({"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, lambda p: not p.UserHeader.DM),
    ),
    (
        "receiver-time-to-be-received-of-message-of-priority-7-ignored",
        "MQMQ-2.2.19.2-05",
        "The receiver keeps a message of priority 7 in its queue after TimeToBeReceived has expired.",
        change_received_message({"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, lambda p: p.BaseHeader.PR == 7),
    ),
    (
        "receiver-time-to-be-received-in-16-bits",
        "MQMQ-2.2.19.2-D03",
        "The receiver uses only the low 16 bits of TimeToBeReceived.",
        change_received_message(
            {"UserHeader.TimeToBeReceived": lambda old: old & 0xFFFF if old != 0xFFFFFFFF else old}, lambda p: True
        ),
    ),
    (
        "sender-second-copy-same-message-id",
        "MQMQ-2.2.19.2-07",
        "The sender gives all copies of a message to several queues the same MessageID.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.MessageID", 0x77, has_destination_lists),
    ),
    (
        "report-sent-time-0",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends a report whose SentTime is 0.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.SentTime", 0, is_report),
    ),
    (
        "order-ack-sent-time-0",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends an OrderAck whose SentTime is 0.",
        set_field_value(USER_MESSAGE_TYPE, "UserHeader.SentTime", 0, is_order_ack),
    ),
    (
        "admin-ack-sent-time-of-one-hour-ago",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends an administration acknowledgment whose SentTime is one hour in the past.",
        add_to_field(USER_MESSAGE_TYPE, "UserHeader.SentTime", -3600, is_admin_ack),
    ),
    (
        "sender-transactional-message-to-private-queue-address-zero",
        "MQMQ-2.2.19.2-03",
        "A queue manager sends to a private queue a transactional message whose QueueManagerAddress is a wrong GUID.",
        set_field_value(
            USER_MESSAGE_TYPE,
            "UserHeader.QueueManagerAddress",
            MADE_UP_GUID,
            lambda p: is_transactional(p) and p.UserHeader.DQ == 3,
        ),
    ),
    (
        "receiver-connector-type-of-transactional-message-drops-acks",
        "MQMQ-2.2.19.2-39",
        "The receiver sends no acknowledgments for a transactional message with a ConnectorType.",
        change_received_message(
            {"MessagePropertiesHeader.Flags": 0}, lambda p: p.UserHeader.ConnectorType and is_transactional(p)
        ),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)


def _remove_admin_queue(packet: Any) -> bytes:
    data: bytes = packet.build()
    header = packet.UserHeader
    admin, response = header.AdminQueue.build(), header.ResponseQueue.build()
    at = data.index(header.DestinationQueue.build() + admin + response) + len(header.DestinationQueue.build())
    return correct_packet_size(data[:at] + data[at + len(admin) :])


add(
    "sender-admin-queue-equal-to-response-queue-left-out",
    "MQMQ-2.2.19.2-32",
    "The sender leaves out AdminQueue when ResponseQueue is the same queue.",
    change_packets_of_kind(
        UserMessagePacket,
        _remove_admin_queue,
        lambda packet: (
            packet.UserHeader.AdminQueue is not None and packet.UserHeader.AdminQueue == packet.UserHeader.ResponseQueue
        ),
    ),
    blind=True,
)
