"""Faults of the UserHeader that occur only in messages of one kind. Spec: MS-MQMQ 2.2.19.2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import bit_clear, bit_set, change_number, field_is
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, set_fields, wrong_fields
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.model.adm import INFINITE, MessagePosition
from suites.mqmq.steps.faulty_messages import change_nth, drop_received, misread_received
from suites.mqmq.steps.kinds_of_messages import (
    is_admin_ack,
    is_express,
    is_final_ack,
    is_large,
    is_order_ack,
    is_report,
    is_transactional,
)

NULL = UUID(int=0)


def _is_plain(packet: Any) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == 0 and not is_final_ack(packet)


def _has_direct_destination(packet: Any) -> bool:
    return bool(packet.UserHeader.DQ == 7)


def _or_flags(bits: int) -> Any:
    return lambda flags: flags | bits


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
            drop_received(lambda packet, bit=_bit, when=_when: getattr(packet.UserHeader, bit) and when(packet)),
            blind=True,
        )
add(
    "receiver-user-flag-x3-value-2-dropped",
    "MQMQ-2.2.19.2-26",
    "The receiver drops a message with the value 2 in X3 of UserHeader.Flags.",
    drop_received(lambda packet: packet.UserHeader.X3 == 2),
    blind=True,
)
add(
    "receiver-user-flag-x4-value-4-dropped",
    "MQMQ-2.2.19.2-28",
    "The receiver drops a message with the value 4 in X4 of UserHeader.Flags.",
    drop_received(lambda packet: packet.UserHeader.X4 == 4),
    blind=True,
)

_rules: str | tuple[str, ...]
for _name, _rules, _says, _install in (
    (
        "receiver-order-ack-source-of-acknowledged-message",
        "MQMQ-2.2.19.2-01",
        "The receiver sends an OrderAck whose SourceQueueManager is a GUID of another queue manager.",
        field_is(UserMessagePacket, "UserHeader.SourceQueueManager", OTHER_GUID, is_order_ack),
    ),
    (
        "receiver-report-source-null",
        "MQMQ-2.2.19.2-01",
        "The receiver sends a report whose SourceQueueManager is zero.",
        field_is(UserMessagePacket, "UserHeader.SourceQueueManager", NULL, is_report),
    ),
    (
        "sender-source-of-large-message-null",
        "MQMQ-2.2.19.2-01",
        "The sender sends a message with a body of more than 4 KiB whose SourceQueueManager is zero.",
        field_is(UserMessagePacket, "UserHeader.SourceQueueManager", NULL, is_large),
    ),
    (
        "sender-queue-manager-address-of-second-private-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in the second and every later message for a private queue.",
        change_nth(
            UserMessagePacket,
            2,
            lambda packet: set_fields(packet, {"UserHeader.QueueManagerAddress": NULL}).build(),
            lambda packet: 0 if packet.UserHeader.DQ == 3 else None,
        ),
    ),
    (
        "sender-queue-manager-address-of-transactional-private-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in a transactional message for a private queue.",
        field_is(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            NULL,
            lambda packet: packet.UserHeader.DQ == 3 and is_transactional(packet),
        ),
    ),
    (
        "sender-queue-manager-address-of-public-message-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender sets QueueManagerAddress to zero in a message for a public queue.",
        field_is(UserMessagePacket, "UserHeader.QueueManagerAddress", NULL, lambda packet: packet.UserHeader.DQ == 5),
    ),
    (
        "receiver-queue-manager-address-of-private-acknowledgment-null",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The receiver sets QueueManagerAddress to zero in an administration acknowledgment for a private queue.",
        field_is(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            NULL,
            lambda packet: packet.UserHeader.DQ == 3 and is_admin_ack(packet),
        ),
    ),
    (
        "sender-queue-manager-address-of-direct-transactional-message-set",
        "MQMQ-2.2.19.2-04",
        "The sender sets QueueManagerAddress to a GUID in a transactional message with a direct format name.",
        field_is(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            OTHER_GUID,
            lambda packet: _has_direct_destination(packet) and is_transactional(packet),
        ),
    ),
    (
        "receiver-queue-manager-address-of-direct-acknowledgment-set",
        "MQMQ-2.2.19.2-04",
        "The receiver sets QueueManagerAddress to a GUID in an administration acknowledgment with a direct name.",
        field_is(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            OTHER_GUID,
            lambda packet: _has_direct_destination(packet) and is_admin_ack(packet),
        ),
    ),
    (
        "receiver-queue-manager-address-of-direct-final-ack-set",
        "MQMQ-2.2.19.2-04",
        "The receiver sets QueueManagerAddress to a GUID in a FinalAck with a direct format name.",
        field_is(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            OTHER_GUID,
            lambda packet: _has_direct_destination(packet) and is_final_ack(packet),
        ),
    ),
    (
        "sender-sent-time-of-transactional-message-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The sender sends a transactional message with SentTime 0.",
        field_is(UserMessagePacket, "UserHeader.SentTime", 0, is_transactional),
    ),
    (
        "receiver-sent-time-of-acknowledgment-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends an administration acknowledgment with SentTime 0.",
        field_is(UserMessagePacket, "UserHeader.SentTime", 0, is_admin_ack),
    ),
    (
        "receiver-sent-time-of-order-ack-one-hour-ahead",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends an OrderAck with a SentTime that is one hour ahead.",
        change_number(UserMessagePacket, "UserHeader.SentTime", lambda time: time + 3600, is_order_ack),
    ),
    (
        "receiver-sent-time-of-report-in-milliseconds",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
        "The receiver sends a report with a SentTime in milliseconds.",
        change_number(UserMessagePacket, "UserHeader.SentTime", lambda time: time * 1000, is_report),
    ),
    (
        "receiver-message-id-of-final-ack-7",
        "MQMQ-2.2.19.2-07",
        "The receiver sends every FinalAck with MessageID 7.",
        field_is(UserMessagePacket, "UserHeader.MessageID", 7, is_final_ack),
    ),
    (
        "receiver-message-id-of-order-ack-8",
        "MQMQ-2.2.19.2-07",
        "The receiver sends every OrderAck with MessageID 8.",
        field_is(UserMessagePacket, "UserHeader.MessageID", 8, is_order_ack),
    ),
    (
        "sender-message-id-of-8-bits",
        "MQMQ-2.2.19.2-07",
        "The sender sends large messages with only the lowest two bits of MessageID.",
        change_number(UserMessagePacket, "UserHeader.MessageID", lambda number: number & 3, is_large),
    ),
    (
        "receiver-rc-of-acknowledgment-0x1e",
        "MQMQ-2.2.19.2-08",
        "The receiver sends an administration acknowledgment with RC 0x1E.",
        field_is(UserMessagePacket, "UserHeader.RC", 0x1E, is_admin_ack),
    ),
    (
        "sender-rc-of-transactional-message-0x1e",
        "MQMQ-2.2.19.2-08",
        "The sender sends a transactional message with RC 0x1E.",
        field_is(UserMessagePacket, "UserHeader.RC", 0x1E, is_transactional),
    ),
    (
        "receiver-dm-of-final-ack-2",
        "MQMQ-2.2.19.2-09",
        "The receiver sends a FinalAck with DM 2.",
        field_is(UserMessagePacket, "UserHeader.DM", 2, is_final_ack),
    ),
    (
        "sender-dm-of-large-message-3",
        "MQMQ-2.2.19.2-09",
        "The sender sends a message with a body of more than 4 KiB with DM 3.",
        field_is(UserMessagePacket, "UserHeader.DM", 3, is_large),
    ),
    (
        "sender-dm-of-second-transactional-message-0",
        "MQMQ-2.2.19.2-20",
        "The sender sends a transactional message with a TxSequenceNumber above 1 with DM 0.",
        field_is(
            UserMessagePacket,
            "UserHeader.DM",
            0,
            lambda packet: is_transactional(packet) and packet.TransactionHeader.TxSequenceNumber > 1,
        ),
    ),
    (
        "sender-dm-of-large-transactional-message-0",
        "MQMQ-2.2.19.2-20",
        "The sender sends a transactional message with a body of more than 4 KiB with DM 0.",
        field_is(
            UserMessagePacket,
            "UserHeader.DM",
            0,
            lambda packet: is_transactional(packet) and is_large(packet),
        ),
    ),
    (
        "receiver-dq-of-final-ack-0",
        "MQMQ-2.2.19.2-15",
        "The receiver sends a FinalAck with DQ 1.",
        field_is(UserMessagePacket, "UserHeader.DQ", 1, is_final_ack),
    ),
    (
        "receiver-dq-of-private-acknowledgment-2",
        "MQMQ-2.2.19.2-15",
        "The receiver sends an administration acknowledgment for a private queue with DQ 2.",
        field_is(
            UserMessagePacket,
            "UserHeader.DQ",
            2,
            lambda packet: is_admin_ack(packet) and packet.UserHeader.DQ == 3,
        ),
    ),
    (
        "sender-aq-of-transactional-message-1",
        "MQMQ-2.2.19.2-16",
        "The sender sends a transactional message without an administration queue with AQ 1.",
        field_is(
            UserMessagePacket,
            "UserHeader.AQ",
            1,
            lambda packet: is_transactional(packet) and packet.UserHeader.AQ == 0,
        ),
    ),
    (
        "sender-aq-of-private-queue-4",
        "MQMQ-2.2.19.2-16",
        "The sender sends a message with a private administration queue with AQ 4.",
        field_is(
            UserMessagePacket, "UserHeader.AQ", 4, lambda packet: packet.UserHeader.AQ in (2, 3) and _is_plain(packet)
        ),
    ),
    (
        "sender-th-clear-in-last-message-of-transaction",
        "MQMQ-2.2.19.2-19",
        "The sender clears TH in the last message of a transaction of several messages.",
        bit_clear(
            UserMessagePacket,
            "UserHeader.TH",
            lambda packet: is_transactional(packet) and packet.TransactionHeader.LM and not packet.TransactionHeader.FM,
        ),
    ),
    (
        "receiver-th-set-in-final-ack",
        "MQMQ-2.2.19.2-19",
        "The receiver sets TH in a FinalAck without a TransactionHeader.",
        bit_set(UserMessagePacket, "UserHeader.TH", is_final_ack),
    ),
    (
        "sender-security-sh-clear-in-transactional-message",
        "MQMQ-2.2.19.2-18",
        "The sender clears UserHeader.Flags.SH in a transactional message with a SecurityHeader.",
        bit_clear(
            UserMessagePacket,
            "UserHeader.SH",
            lambda packet: is_transactional(packet) and packet.SecurityHeader is not None,
        ),
    ),
    (
        "receiver-security-sh-set-in-acknowledgment",
        "MQMQ-2.2.19.2-18",
        "The receiver sets UserHeader.Flags.SH in an administration acknowledgment without a SecurityHeader.",
        bit_set(UserMessagePacket, "UserHeader.SH", is_admin_ack),
    ),
    (
        "receiver-mp-clear-in-final-ack",
        "MQMQ-2.2.19.2-21",
        "The receiver clears MP in a FinalAck.",
        bit_clear(UserMessagePacket, "UserHeader.MP", is_final_ack),
    ),
    (
        "sender-mp-clear-in-message-without-body",
        "MQMQ-2.2.19.2-21",
        "The sender clears MP in a message with an empty body.",
        bit_clear(
            UserMessagePacket,
            "UserHeader.MP",
            lambda packet: _is_plain(packet) and not packet.MessagePropertiesHeader.MessageBody,
        ),
    ),
    (
        "sender-cq-clear-in-recoverable-message",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "The sender clears CQ in a recoverable message with ConnectorType.",
        bit_clear(
            UserMessagePacket,
            "UserHeader.CQ",
            lambda packet: packet.UserHeader.DM and packet.UserHeader.ConnectorType is not None,
        ),
    ),
    (
        "sender-mq-clear-in-transactional-message-with-lists",
        "MQMQ-2.2.19.2-23",
        "The sender clears MQ in a transactional message with a MultiQueueFormatHeader.",
        bit_clear(
            UserMessagePacket,
            "UserHeader.MQ",
            lambda packet: is_transactional(packet) and packet.MultiQueueFormatHeader is not None,
        ),
    ),
    (
        "receiver-mq-set-in-acknowledgment",
        "MQMQ-2.2.19.2-23",
        "The receiver sets MQ in an administration acknowledgment without a MultiQueueFormatHeader.",
        bit_set(UserMessagePacket, "UserHeader.MQ", is_admin_ack),
    ),
    (
        "receiver-ah-set-in-report",
        "MQMQ-2.2.19.2-25",
        "The receiver sets AH in a report.",
        bit_set(UserMessagePacket, "UserHeader.AH", is_report),
    ),
    (
        "receiver-ah-set-in-final-ack",
        "MQMQ-2.2.19.2-25",
        "The receiver sets AH in a FinalAck.",
        bit_set(UserMessagePacket, "UserHeader.AH", is_final_ack),
    ),
    (
        "sender-ah-set-in-message-with-lists",
        "MQMQ-2.2.19.2-25",
        "The sender sets AH in a message with a MultiQueueFormatHeader.",
        bit_set(UserMessagePacket, "UserHeader.AH", lambda packet: packet.MultiQueueFormatHeader is not None),
    ),
    (
        "sender-admin-queue-omitted-with-negative-receive",
        ("MQMQ-2.2.19.2-31",),
        "The sender omits the administration queue of a message that requests only NR.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~(7 << 13)},
            lambda packet: packet.MessagePropertiesHeader.Flags & 15 == 8,
        ),
    ),
    (
        "sender-admin-queue-omitted-in-transactional-message",
        ("MQMQ-2.2.19.2-31",),
        "The sender omits the administration queue of a transactional message that requests acknowledgments.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~(7 << 13)},
            is_transactional,
        ),
    ),
    (
        "receiver-connector-type-of-transactional-message-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops a transactional message with ConnectorType.",
        drop_received(lambda packet: is_transactional(packet) and packet.UserHeader.ConnectorType is not None),
    ),
    (
        "receiver-zero-connector-type-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops a message whose ConnectorType is zero.",
        drop_received(lambda packet: packet.UserHeader.ConnectorType == NULL),
    ),
    (
        "receiver-connector-type-of-encrypted-or-express-message-dropped",
        "MQMQ-2.2.19.2-39",
        "The receiver drops an express message with ConnectorType and an administration queue.",
        drop_received(
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
        change_received(
            {"MessagePropertiesHeader.Flags": 0}, lambda packet: packet.UserHeader.ConnectorType is not None
        ),
    ),
    (
        "receiver-response-queue-of-transactional-message-with-rq-4-on-source",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a transactional message as a private queue on the source host.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}),
            lambda packet: is_transactional(packet) and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-4-and-aq-3-on-source",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a message with AQ 3 as a private queue on the source host.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}),
            lambda packet: packet.UserHeader.AQ == 3 and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-4-and-aq-6-on-destination",
        "MQMQ-2.2.19.2-37",
        "The receiver resolves RQ 4 of a message with AQ 6 as a private queue on the destination host.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 3 << 16}),
            lambda packet: packet.UserHeader.AQ == 6 and packet.UserHeader.RQ == 4,
        ),
    ),
    (
        "receiver-response-queue-with-rq-1-and-aq-7-missing",
        "MQMQ-2.2.19.2-D08",
        "The receiver reads RQ 1 of a message with a direct administration queue as no response queue.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16)}),
            lambda packet: packet.UserHeader.AQ == 7 and packet.UserHeader.RQ == 1,
        ),
    ),
    (
        "receiver-response-queue-with-rq-2-on-destination",
        "MQMQ-2.2.19.2-D08",
        "The receiver resolves RQ 2 of a transactional message as a private queue on the destination host.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 3 << 16}),
            lambda packet: is_transactional(packet) and packet.UserHeader.RQ == 2,
        ),
    ),
    (
        "receiver-admin-queue-with-aq-2-on-destination-if-transactional",
        "MQMQ-2.2.19.2-D07",
        "The receiver resolves AQ 2 of a transactional message as a private queue on the destination host.",
        misread_received(
            lambda packet: set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~(7 << 13) | 3 << 13}),
            lambda packet: is_transactional(packet) and packet.UserHeader.AQ == 2,
        ),
    ),
    (
        "receiver-public-admin-queue-dropped-if-response-queue",
        "MQMQ-2.2.19.2-D07",
        "The receiver drops a message with AQ 5 and a response queue.",
        drop_received(lambda packet: packet.UserHeader.AQ == 5 and packet.UserHeader.RQ),
    ),
    (
        "receiver-private-destination-of-large-message-dropped",
        "MQMQ-2.2.19.2-D06",
        "The receiver drops a message with DQ 3 and a body of more than 4 KiB.",
        drop_received(lambda packet: packet.UserHeader.DQ == 3 and is_large(packet)),
    ),
    (
        "receiver-jp-read-from-bit-8",
        "MQMQ-2.2.19.2-D02",
        "The receiver reads JN and JP of UserHeader.Flags interchanged.",
        misread_received(
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
        packets(
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
        drop_received(
            lambda packet: packet.UserHeader.ConnectorType is not None and packet.UserHeader.ResponseQueue is not None
        ),
    ),
    (
        "sender-response-queue-of-transactional-message-omitted",
        "MQMQ-2.2.19.2-35",
        "The sender sets RQ in a transactional message without a response queue to 5.",
        field_is(
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
        field_is(UserMessagePacket, "UserHeader.RQ", 0, is_admin_ack),
    ),
    (
        "sender-aq-cleared-in-message-with-both-queues",
        "MQMQ-2.2.19.2-33",
        "The sender clears AQ in a message that contains AdminQueue and ResponseQueue.",
        field_is(
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
        field_is(
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
        field_is(UserMessagePacket, "UserHeader.AQ", 5, is_admin_ack),
    ),
):
    add(_name, _rules, _says, _install, blind=True)


class _Watched(Lifetimes):
    """The receiver watches TimeToBeReceived only of some messages."""

    def is_watched(self, position: MessagePosition) -> bool:
        """Return whether the receiver watches a message."""
        raise NotImplementedError

    def watch_received(self, position: MessagePosition) -> None:
        if self.is_watched(position):
            super().watch_received(position)


@fault("receiver-expired-transactional-message-kept", breaks=("MQMQ-2.2.19.2-05", "MQMQ-2.2.19.2-D03"), blind=True)
class ReceiverExpiredTransactionalMessageKept(_Watched):
    """The receiver keeps a transactional message in its queue when TimeToBeReceived expires."""

    def is_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.TransactionIdentifier is None


@fault("receiver-second-expired-message-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverSecondExpiredMessageKept(_Watched):
    """The receiver keeps an expired message in its queue if another message was in the queue before."""

    def is_watched(self, position: MessagePosition) -> bool:
        return len(position.QueueReference.MessagePositionList) < 2


@fault("receiver-expired-large-message-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredLargeMessageKept(_Watched):
    """The receiver keeps a message with a body of more than 4 KiB in its queue when TimeToBeReceived expires."""

    def is_watched(self, position: MessagePosition) -> bool:
        return len(position.MessageReference.Body) <= 4096


@fault("receiver-expired-acknowledgment-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredAcknowledgmentKept(_Watched):
    """The receiver keeps an administration acknowledgment in its queue when TimeToBeReceived expires."""

    def is_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.Class == 0


@fault("receiver-expired-message-with-time-to-reach-queue-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredMessageWithTimeToReachQueueKept(_Watched):
    """The receiver keeps a message with a finite TimeToReachQueue in its queue when TimeToBeReceived expires."""

    def is_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.TimeToReachQueue == INFINITE


@fault("receiver-expired-message-after-restart-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredMessageAfterRestartKept(Lifetimes):
    """The receiver keeps a message that was in its queue before a restart when TimeToBeReceived expires."""

    def recover_deadlines(self) -> None:
        pass


@fault("receiver-time-to-be-received-of-16-bits", breaks="MQMQ-2.2.19.2-D03", blind=True)
class ReceiverTimeToBeReceivedOf16Bits(Lifetimes):
    """The receiver reads only the lowest 16 bits of a finite TimeToBeReceived."""

    def watch_received(self, position: MessagePosition) -> None:
        message = position.MessageReference
        life = message.TimeToBeReceived
        if life != INFINITE and life > 0xFFFF:
            position.MessageReference = replace(message, TimeToBeReceived=life & 0xFFFF)
        super().watch_received(position)


@fault("receiver-recoverable-message-after-second-restart-lost", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableMessageAfterSecondRestartLost(Restoring):
    """The receiver loses the recoverable acknowledgments of its queues at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if position.MessageReference.Class == 0:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-recoverable-messages-after-third-lost", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableMessagesAfterThirdLost(Restoring):
    """The receiver recovers only three messages of each queue at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if len(position.QueueReference.MessagePositionList) < 3:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-recoverable-large-message-lost", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableLargeMessageLost(Restoring):
    """The receiver loses recoverable messages with a body of more than 4 KiB at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if len(position.MessageReference.Body) <= 4096:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-recoverable-message-with-limited-life-lost", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableMessageWithLimitedLifeLost(Restoring):
    """The receiver loses recoverable messages with a finite TimeToBeReceived at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if position.MessageReference.TimeToBeReceived == INFINITE:
            super()._insert_message(position, lookup_identifier)


def _journal_unless(method: str, skipped: Any) -> Any:
    def journal(self: Any, position: MessagePosition) -> None:
        message = position.MessageReference
        if skipped(message):
            element = "PositiveJournalingRequested" if method == "journal_delivered" else "NegativeJournalingRequested"
            position.MessageReference = replace(message, **{element: False})
        getattr(super(cls, self), method)(position)

    cls = type("Skipping", (Journaling,), {method: journal})
    return cls


for _method, _rules, _queue in (
    ("journal_delivered", ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21"), "system journal"),
    ("journal_failed", ("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-24"), "dead-letter queue"),
):
    for _name, _says, _skipped in (
        (
            "transactional",
            "a transactional message",
            lambda message: message.TransactionIdentifier is not None,
        ),
        ("large", "a message with a body of more than 4 KiB", lambda message: len(message.Body) > 4096),
        (
            "recoverable",
            "a recoverable message that is not transactional",
            lambda message: message.TransactionIdentifier is None and message.DeliveryGuarantee.value != "Express",
        ),
        ("express", "an express message", lambda message: message.DeliveryGuarantee.value == "Express"),
        (
            "both",
            "a message with JN and JP set",
            lambda message: message.PositiveJournalingRequested and message.NegativeJournalingRequested,
        ),
    ):
        add(
            f"sender-{_name}-message-not-put-into-{_queue.replace(' ', '-')}",
            _rules,
            f"The sender does not put {_says} into its {_queue}.",
            replace_part(_journal_unless(_method, _skipped)),
            blind=True,
        )


@fault("queue-manager-message-ids-repeated-after-restart", breaks="MQMQ-2.2.19.2-07", blind=True)
class QueueManagerMessageIdsRepeatedAfterRestart(Restoring):
    """The queue manager begins with MessageID 1 after a restart."""

    def restore(self, entries: Any) -> None:
        super().restore(entries)
        self.qm.adm.MessageIdOrdinal = 0


@fault("queue-manager-message-id-repeated-after-16", breaks="MQMQ-2.2.19.2-07", blind=True)
class QueueManagerMessageIdRepeatedAfter16(Numbering):
    """The queue manager uses only the message identifiers 1 to 16."""

    def next_identifier(self) -> int:
        return super().next_identifier() % 17 or 1
