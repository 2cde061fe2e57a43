"""Faults that break the rules MQMQ-2.2.18.1.5.1-01 to MQMQ-2.2.18.1.6-D03."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import (
    change_core_after_every_input,
    change_core_at_restart,
    change_packets_of_kind,
    send_wrong_field_values,
)
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    DirectQueueFormatName,
    FinalAckBody,
    MessageClass,
    OrderAckBody,
    PrivateQueueFormatNameId,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.directory.enums import PrivacyLevel, QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_18_1_packet_data_types.fault_steps import (
    SECOND_QUEUE_MANAGER_GUID,
    make_queue_name_kind_condition,
)

(
    PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE,
    PUBLIC_QUEUE_NAME_TYPE,
    PRIVATE_QUEUE_ON_OTHER_HOST_TYPE,
    DIRECT_QUEUE_NAME_TYPE,
) = 3, 5, 6, 7
"""The values of DQ and RQ for a private queue of the destination, a public queue, a private queue of another host, and
a direct name.
"""


QUEUE_NAMES_OFFSET = 64
"""The offset of the first queue name of the UserHeader."""


def _make_destination_name_kind_condition(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.DQ


def _make_response_name_kind_condition(kind: int) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: kind == packet.UserHeader.RQ


def _swap_private_number_bytes(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return (
        data[:QUEUE_NAMES_OFFSET]
        + data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 4][::-1]
        + data[QUEUE_NAMES_OFFSET + 4 :]
    )


def _swap_direct_name_bytes(packet: UserMessagePacket) -> bytes:
    data = bytearray(packet.build())
    start = QUEUE_NAMES_OFFSET + 2
    end = start + int.from_bytes(data[QUEUE_NAMES_OFFSET:start], "little")
    data[start:end:2], data[start + 1 : end : 2] = data[start + 1 : end : 2], data[start:end:2]
    return bytes(data)


def _append_to_response_name(packet: UserMessagePacket) -> bytes:
    """Append four bytes to the name of the response queue."""
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    return correct_packet_size(data[:end] + b"more" + data[end:])


def _change_direct_name(change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], bytes]:
    """Change the direct name of the destination; `change` is called with its count, text and padding as bytes."""

    def change_name_bytes(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        size = 2 + int.from_bytes(data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2], "little")
        end = QUEUE_NAMES_OFFSET + size + -size % 4
        return correct_packet_size(data[:QUEUE_NAMES_OFFSET] + change(data[QUEUE_NAMES_OFFSET:end]) + data[end:])

    return change_name_bytes


def _count_padding_in_queue_name_length(name: bytes) -> bytes:
    return (len(name) - 2).to_bytes(2, "little") + name[2:]


def _remove_name_padding(name: bytes) -> bytes:
    return name[: 2 + int.from_bytes(name[:2], "little")]


def _has_padded_name(packet: UserMessagePacket) -> bool:
    name = packet.build()[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 2]
    return (
        _make_destination_name_kind_condition(DIRECT_QUEUE_NAME_TYPE)(packet)
        and -(2 + int.from_bytes(name, "little")) % 4 > 0
    )


def _reset_private_queue_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number = 20


for _name, _broken_rules, _says, _install in (
    (
        "sender-private-name-number-big-endian",
        ("MQMQ-2.2.18.1.5.1-01", "MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The sender's PrivateQueueFormatNameId carries a big-endian number.",
        change_packets_of_kind(
            UserMessagePacket,
            _swap_private_number_bytes,
            _make_destination_name_kind_condition(PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE),
        ),
    ),
    (
        "queue-manager-new-private-queues-same-number",
        ("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04", "MQDMPR-3.1.7.1.3-D04"),
        "The queue manager assigns the same number to every new private queue.",
        change_core_after_every_input(_reset_private_queue_number),
    ),
    (
        "sender-direct-name-text-big-endian",
        ("MQMQ-2.2.18.1.5.2-01",),
        "The sender's DirectQueueFormatName carries big-endian text.",
        change_packets_of_kind(
            UserMessagePacket, _swap_direct_name_bytes, _make_destination_name_kind_condition(DIRECT_QUEUE_NAME_TYPE)
        ),
    ),
    (
        "sender-direct-name-count-includes-padding",
        ("MQMQ-2.2.18.1.5.2-D01",),
        "The sender's DirectQueueFormatName carries a count that includes the padding.",
        change_packets_of_kind(
            UserMessagePacket, _change_direct_name(_count_padding_in_queue_name_length), _has_padded_name
        ),
    ),
    (
        "sender-direct-name-without-padding",
        ("MQMQ-2.2.18.1.5.2-D02",),
        "The sender's DirectQueueFormatName has no padding.",
        change_packets_of_kind(UserMessagePacket, _change_direct_name(_remove_name_padding), _has_padded_name),
    ),
    (
        "sender-public-name-of-20-bytes",
        ("MQMQ-2.2.18.1.7.1-01",),
        "The sender's PublicQueueFormatName has 20 bytes.",
        change_packets_of_kind(
            UserMessagePacket, _append_to_response_name, _make_response_name_kind_condition(PUBLIC_QUEUE_NAME_TYPE)
        ),
    ),
    (
        "sender-public-name-has-wrong-guid",
        ("MQMQ-2.2.18.1.7.1-02",),
        "The sender's PublicQueueFormatName carries the GUID of an unknown queue.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.PublicQueueIdentifier": SECOND_QUEUE_MANAGER_GUID},
            _make_response_name_kind_condition(PUBLIC_QUEUE_NAME_TYPE),
        ),
    ),
    (
        "sender-private-name-of-24-bytes",
        ("MQMQ-2.2.18.1.7.2-01",),
        "The sender's PrivateQueueFormatName has 24 bytes.",
        change_packets_of_kind(
            UserMessagePacket,
            _append_to_response_name,
            _make_response_name_kind_condition(PRIVATE_QUEUE_ON_OTHER_HOST_TYPE),
        ),
    ),
    (
        "sender-private-name-has-wrong-host",
        ("MQMQ-2.2.18.1.7.2-02",),
        "The sender's PrivateQueueFormatName carries the GUID of an unknown host.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.SourceQueueManager": SECOND_QUEUE_MANAGER_GUID},
            _make_response_name_kind_condition(PRIVATE_QUEUE_ON_OTHER_HOST_TYPE),
        ),
    ),
    (
        "sender-private-name-has-wrong-number",
        ("MQMQ-2.2.18.1.7.2-03",),
        "The sender's PrivateQueueFormatName carries a wrong queue number.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda old: old ^ 1},
            _make_response_name_kind_condition(PRIVATE_QUEUE_ON_OTHER_HOST_TYPE),
        ),
    ),
):
    add(_name, _broken_rules, _says, _install)


add(
    "sender-response-queue-number-cut-to-16-bits",
    "MQMQ-2.2.18.1.5.1-01",
    "The sender writes only the lower 16 bits of a queue's number into the name of a private response queue.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda number: number & 0xFFFF},
        make_queue_name_kind_condition("ResponseQueue", PrivateQueueFormatNameId),
    ),
)


def reset_private_queue_number_counter(qm: QueueManager) -> None:
    """Start the numbers of new private queues at 1 again."""
    qm.adm.last_private_queue_number = 0


add(
    "queue-manager-private-queue-number-counted-from-1-after-restart",
    ("MQMQ-2.2.18.1.5.1-02", "MQMQ-2.2.18.1.7.2-04"),
    "After a restart, the queue manager numbers new private queues from 1, although older queues have these numbers.",
    change_core_at_restart(reset_private_queue_number_counter),
)


@fault("queue-manager-reuses-number-of-queue-without-privacy", breaks="MQMQ-2.2.18.1.5.1-02")
class QueueManagerReusesNumberOfQueueWithoutPrivacy(QueueLifecycle):
    """If a queue has PrivacyLevel None, the queue manager assigns the queue's number also to the next new queue."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        made = super().create_without_directory(queue, utc_s)
        if queue.PrivacyLevel is PrivacyLevel.NONE:
            self.qm.adm.last_private_queue_number -= 1
        return made


def exclude_null_from_response_queue_name_count(packet: Any) -> bytes:
    """Return a message in which Count of the response queue does not include the terminating null."""
    name = packet.UserHeader.ResponseQueue.build()
    short = (int.from_bytes(name[:2], "little") - 2).to_bytes(2, "little") + name[2:]
    data: bytes = packet.build()
    place = data.rindex(name, 0, data.index(name) + 3 * len(name))
    return data[:place] + short + data[place + len(name) :]


add(
    "sender-response-direct-name-count-without-null",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D01"),
    "The sender excludes the terminating null from Count in the direct name of a response queue.",
    change_packets_of_kind(
        UserMessagePacket,
        exclude_null_from_response_queue_name_count,
        make_queue_name_kind_condition("ResponseQueue", DirectQueueFormatName),
    ),
)


add(
    "sender-administration-direct-name-not-terminated",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02"),
    "The sender omits the terminating null of the direct name of an administration queue.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.AdminQueue.Terminated": False, "UserHeader.AdminQueue.Padding": None},
        make_queue_name_kind_condition("AdminQueue", DirectQueueFormatName),
    ),
)


add(
    "receiver-order-ack-missing",
    ("MQMQ-2.2.18.1.6-01", "MQDMPR-3.1.1.12-D08"),
    "The receiver sends no OrderAck.",
    change_packets_of_kind(UserMessagePacket, lambda packet: None, is_order_ack),
)


@fault("receiver-sends-queue-deleted-nack-for-purge-of-subqueue", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class ReceiverSendsQueueDeletedNackForPurgeOfSubqueue(MessagePositions):
    """When a message is purged from a subqueue, the receiver sends an acknowledgment with the class for a deleted
    queue.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        queue = position.QueueReference
        if (
            reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
            and queue.parent is not None
            and queue.QueueType is not QueueType.SYSTEM
        ):
            reason = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().delete_message(position, reason)


@fault("receiver-sends-queue-deleted-final-ack-for-purged-message", breaks="MQMQ-2.2.18.1.6-D01")
class ReceiverSendsQueueDeletedFinalAckForPurgedMessage(OrderAcks):
    """When a transactional message is purged, the receiver sends a FinalAck with the class for a deleted queue."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            message_class = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-acknowledges-receive-of-express-message-as-arrival", breaks="MQMQ-2.2.18.1.6-D01", blind=True)
class ReceiverAcknowledgesReceiveOfExpressMessageAsArrival(AdminAcks):
    """The receiver acknowledges the receive of an express message with the class ACK_REACH_QUEUE."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is MessageClass.MQMSG_CLASS_ACK_RECEIVE and message.DeliveryGuarantee.name == "EXPRESS":
            message_class = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        super().send(message, message_class, now)


@fault(
    "sender-sends-receive-timeout-for-message-expired-before-sending",
    breaks=("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03"),
)
class SenderSendsReceiveTimeoutForMessageExpiredBeforeSending(AdminAcks):
    """When the TimeToBeReceived of a message expires before the message is sent, the sender sends an acknowledgment of
    class NACK_RECEIVE_TIMEOUT.
    """

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.TimeToBeReceived < message.TimeToReachQueue:
            self.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)
        else:
            super().acknowledge_expiration(message, now)
