"""Faults of MS-MQMQ 2.2.19.2 that affect only one kind of message or one value."""

from __future__ import annotations

from harness.faults.fields import bit_clear, bit_set, field_is, off_by
from harness.faults.made_up import OTHER_GUID
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from suites.mqmq.steps.kinds_of_messages import (
    has_lists,
    is_admin_ack,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

MESSAGE = UserMessagePacket


for _name, _rule, _says, _install in (
    (
        "admin-ack-source-queue-manager-wrong",
        "MQMQ-2.2.19.2-01",
        "A queue manager sends an administration acknowledgment whose SourceQueueManager is a wrong GUID.",
        field_is(MESSAGE, "UserHeader.SourceQueueManager", OTHER_GUID, is_admin_ack),
    ),
    (
        "final-ack-source-queue-manager-wrong",
        "MQMQ-2.2.19.2-01",
        "A queue manager sends a FinalAck whose SourceQueueManager is a wrong GUID.",
        field_is(MESSAGE, "UserHeader.SourceQueueManager", OTHER_GUID, is_final_ack),
    ),
    (
        "sender-copy-for-several-queues-address-not-zero",
        "MQMQ-2.2.19.2-04",
        "A queue manager sends to several direct names a message whose QueueManagerAddress is not zero.",
        field_is(
            MESSAGE, "UserHeader.QueueManagerAddress", OTHER_GUID, lambda p: has_lists(p) and p.UserHeader.DQ == 7
        ),
    ),
    (
        "admin-ack-dm-3",
        "MQMQ-2.2.19.2-09",
        "A queue manager sends an administration acknowledgment whose DM is 3.",
        field_is(MESSAGE, "UserHeader.DM", 3, is_admin_ack),
    ),
    (
        "admin-ack-dq-6",
        "MQMQ-2.2.19.2-15",
        "A queue manager sends an administration acknowledgment whose DQ is 6.",
        field_is(MESSAGE, "UserHeader.DQ", 6, is_admin_ack),
    ),
    (
        "sender-transactional-message-user-header-x2-set",
        "MQMQ-2.2.19.2-24",
        "A queue manager sends a transactional message with bit X2 of UserHeader.Flags set.",
        bit_set(MESSAGE, "UserHeader.X2", is_transactional),
    ),
    (
        "order-ack-user-header-x1-set",
        "MQMQ-2.2.19.2-12",
        "A queue manager sends an OrderAck with bit X1 of UserHeader.Flags set.",
        bit_set(MESSAGE, "UserHeader.X1", is_order_ack),
    ),
    (
        "report-user-header-x4-set",
        "MQMQ-2.2.19.2-28",
        "A queue manager sends a report with the bits X4 of UserHeader.Flags set.",
        bit_set(MESSAGE, "UserHeader.X4", is_report),
    ),
    (
        "admin-ack-ah-set",
        "MQMQ-2.2.19.2-25",
        "A queue manager sends an administration acknowledgment with AH set.",
        bit_set(MESSAGE, "UserHeader.AH", is_admin_ack),
    ),
    (
        "order-ack-mp-clear",
        "MQMQ-2.2.19.2-21",
        "A queue manager sends an OrderAck with MP clear.",
        bit_clear(MESSAGE, "UserHeader.MP", is_order_ack),
    ),
    (
        "sender-transactional-message-to-several-queues-dm-0",
        "MQMQ-2.2.19.2-20",
        "A queue manager sends a transactional message to several queues with DM 0.",
        field_is(MESSAGE, "UserHeader.DM", 0, lambda p: is_transactional(p) and has_lists(p)),
    ),
    (
        "receiver-x1-of-message-with-admin-queue-response-queue-lost",
        "MQMQ-2.2.19.2-12",
        "The receiver clears JN and JP of a message with bit X1 of UserHeader.Flags set.",
        change_received({"UserHeader.Flags": lambda old: old & ~0x300}, lambda p: p.UserHeader.X1),
    ),
    (
        "receiver-x2-of-transactional-message-tag-lost",
        "MQMQ-2.2.19.2-24",
        "The receiver sets ApplicationTag to 0 in a transactional message with bit X2 of UserHeader.Flags set.",
        change_received(
            {"MessagePropertiesHeader.ApplicationTag": 0}, lambda p: p.UserHeader.X2 and is_transactional(p)
        ),
    ),
    (
        "receiver-x3-lower-bit-response-queue-lost",
        "MQMQ-2.2.19.2-26",
        "The receiver treats a message as express when the lower bit of X3 in UserHeader.Flags is set.",
        change_received(
            {"UserHeader.Flags": lambda old: old & ~(3 << 5)}, lambda p: p.UserHeader.X3 & 1 and not is_transactional(p)
        ),
    ),
    (
        "receiver-time-to-be-received-of-express-message-ignored",
        "MQMQ-2.2.19.2-05",
        "The receiver keeps an express message in its queue after TimeToBeReceived has expired.",
        change_received({"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, lambda p: not p.UserHeader.DM),
    ),
    (
        "receiver-time-to-be-received-of-message-of-priority-7-ignored",
        "MQMQ-2.2.19.2-05",
        "The receiver keeps a message of priority 7 in its queue after TimeToBeReceived has expired.",
        change_received({"UserHeader.TimeToBeReceived": 0xFFFFFFFF}, lambda p: p.BaseHeader.PR == 7),
    ),
    (
        "receiver-time-to-be-received-in-16-bits",
        "MQMQ-2.2.19.2-D03",
        "The receiver uses only the low 16 bits of TimeToBeReceived.",
        change_received(
            {"UserHeader.TimeToBeReceived": lambda old: old & 0xFFFF if old != 0xFFFFFFFF else old}, lambda p: True
        ),
    ),
    (
        "sender-second-copy-same-message-id",
        "MQMQ-2.2.19.2-07",
        "The sender gives all copies of a message to several queues the same MessageID.",
        field_is(MESSAGE, "UserHeader.MessageID", 0x77, has_lists),
    ),
    (
        "report-sent-time-0",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends a report whose SentTime is 0.",
        field_is(MESSAGE, "UserHeader.SentTime", 0, is_report),
    ),
    (
        "order-ack-sent-time-0",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends an OrderAck whose SentTime is 0.",
        field_is(MESSAGE, "UserHeader.SentTime", 0, is_order_ack),
    ),
    (
        "admin-ack-sent-time-of-one-hour-ago",
        "MQMQ-2.2.19.2-06",
        "A queue manager sends an administration acknowledgment whose SentTime is one hour in the past.",
        off_by(MESSAGE, "UserHeader.SentTime", -3600, is_admin_ack),
    ),
    (
        "sender-transactional-message-to-private-queue-address-zero",
        "MQMQ-2.2.19.2-03",
        "A queue manager sends to a private queue a transactional message whose QueueManagerAddress is a wrong GUID.",
        field_is(
            MESSAGE,
            "UserHeader.QueueManagerAddress",
            OTHER_GUID,
            lambda p: is_transactional(p) and p.UserHeader.DQ == 3,
        ),
    ),
    (
        "receiver-connector-type-of-transactional-message-drops-acks",
        "MQMQ-2.2.19.2-39",
        "The receiver sends no acknowledgments for a transactional message with a ConnectorType.",
        change_received(
            {"MessagePropertiesHeader.Flags": 0}, lambda p: p.UserHeader.ConnectorType and is_transactional(p)
        ),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)
