"""Faults that break the rules MQMQ-2.2.19.2-31 to MQMQ-2.2.19.2-D08."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.fields import add_to_field, change_number_in_field
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.received_messages import change_received_message
from harness.faults.registry import add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import (
    NULL_GUID,
    Packet,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import (
    INFINITE_TIMEOUT,
    MessagePosition,
    RecoverableReceipt,
    Session,
)
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_2_user_header.fault_steps import SECONDS_PER_HOUR

add(
    "sender-administration-queue-missing-if-only-receipt-is-acknowledged",
    "MQMQ-2.2.19.2-31",
    "The sender names no administration queue in a message in which NR is the only acknowledgment flag that is set.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(7 << 13), AdminQueue=None),
        ).build(),
        lambda packet: packet.MessagePropertiesHeader.Flags == 8 and packet.UserHeader.AdminQueue is not None,
    ),
)


@fault("receiver-stores-message-with-undefined-aq-if-no-ack-is-requested", breaks="MQMQ-2.2.19.2-34")
class ReceiverStoresMessageWithUndefinedAqIfNoAckIsRequested(Identifying):
    """The receiver stores a message with an undefined AQ when the message requests no acknowledgment."""

    def identify_packet(self, data: bytes) -> Packet:
        if data[2] & 8 == 0 and len(data) > 64:
            flags = int.from_bytes(data[60:64], "little")
            if flags >> 13 & 7 in (1, 4):
                cleared = data[:60] + (flags & ~(7 << 13)).to_bytes(4, "little") + data[64:]
                packet = super().identify_packet(cleared)
                if isinstance(packet, UserMessagePacket) and not packet.MessagePropertiesHeader.Flags:
                    return packet
        return super().identify_packet(data)


def _is_response_queue_on_admin_host(packet: UserMessagePacket) -> bool:
    user = packet.UserHeader
    return user.RQ == 4 and isinstance(user.AdminQueue, PrivateQueueFormatName)


add(
    "receiver-response-queue-type-4-on-source-if-administration-queue-on-third-host",
    "MQMQ-2.2.19.2-37",
    "The receiver resolves a response queue with RQ 4 on the source when AQ is 6.",
    change_received_message(
        {"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}, _is_response_queue_on_admin_host
    ),
)


def _swap_bytes_of_fields(first: int, second: int, size: int) -> Callable[[UserMessagePacket], bytes]:
    """Swap two fields of a UserMessage, each given by offset and size."""

    def swap_fields_in_packet(packet: UserMessagePacket) -> bytes:
        data = bytearray(packet.build())
        one, other = slice(first, first + size), slice(second, second + size)
        data[one], data[other] = data[other], data[one]
        return bytes(data)

    return swap_fields_in_packet


def _swap_journaling_flags(packet: UserMessagePacket) -> int:
    """Swap JN and JP with the two bits after DQ."""
    user = packet.UserHeader
    return user.Flags & ~UserHeader.flags(JN=1, JP=1) | UserHeader.flags(JN=user.JP, JP=user.JN)


for _name, _rule, _says, _install in (
    (
        "sender-user-header-guids-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "The sender's UserHeader has QueueManagerAddress before SourceQueueManager.",
        change_packets_of_kind(UserMessagePacket, _swap_bytes_of_fields(16, 32, 16)),
    ),
    (
        "sender-user-header-times-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "The sender's UserHeader has SentTime before TimeToBeReceived.",
        change_packets_of_kind(UserMessagePacket, _swap_bytes_of_fields(48, 52, 4)),
    ),
    (
        "sender-user-header-jn-and-jp-swapped",
        "MQMQ-2.2.19.2-D02",
        "The sender's UserHeader has JN and JP two bits too low, and the two bits after DQ in their place.",
        change_packets_of_kind(
            UserMessagePacket,
            lambda packet: set_fields(packet, {"UserHeader.Flags": _swap_journaling_flags(packet)}).build(),
        ),
    ),
    (
        "sender-user-header-dm-one-bit-too-high",
        "MQMQ-2.2.19.2-D02",
        "The sender writes DM of the UserHeader one bit too high.",
        change_number_in_field(UserMessagePacket, "UserHeader.DM", lambda delivery: delivery << 1),
    ),
    (
        "sender-time-to-be-received-in-milliseconds",
        "MQMQ-2.2.19.2-D03",
        "The sender writes TimeToBeReceived of a UserMessage in milliseconds.",
        change_number_in_field(UserMessagePacket, "UserHeader.TimeToBeReceived", lambda seconds: seconds * 1_000),
    ),
    (
        "sender-sent-time-in-other-time-zone",
        ("MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "The sender's UserMessage carries SentTime in the local time of a time zone 8 hours east of UTC.",
        add_to_field(UserMessagePacket, "UserHeader.SentTime", 8 * SECONDS_PER_HOUR),
    ),
):
    add(_name, _rule, _says, _install)


@fault("receiver-time-to-be-received-zero-never-expires", breaks="MQMQ-2.2.19.2-D03", blind=True)
class ReceiverTimeToBeReceivedZeroNeverExpires(MessageLifetimes):
    """The receiver keeps a message with TimeToBeReceived 0 in its queue forever."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if position.MessageReference.TimeToBeReceived:
            super().start_time_to_be_received_timer(position)


class LifetimeDoublerAfterRestart(MessageLifetimes):
    """After a restart, the receiver keeps each message in its queue for twice its TimeToBeReceived."""

    def recover_message_deadlines(self) -> None:
        vars(self)["restored"] = True
        super().recover_message_deadlines()
        vars(self)["restored"] = False

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if not getattr(self, "restored", False) or message.TimeToBeReceived == INFINITE_TIMEOUT:
            super().start_time_to_be_received_timer(position)
            return
        self.qm.to_be_received.add(position, message.SentTime + 2 * message.TimeToBeReceived)


add(
    "receiver-time-to-be-received-begins-again-at-restart",
    "MQMQ-2.2.19.2-D04",
    "After a restart, the receiver keeps each message in its queue for twice its TimeToBeReceived.",
    replace_part(LifetimeDoublerAfterRestart),
)


add(
    "sender-admin-queue-of-third-host-sent-with-aq-2",
    ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
    "The sender's UserMessage carries AQ 2 for an administration queue on a third host.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            UserHeader=replace(
                packet.UserHeader,
                Flags=packet.UserHeader.Flags & ~UserHeader.flags(AQ=7) | UserHeader.flags(AQ=2),
                AdminQueue=PrivateQueueFormatNameId(packet.UserHeader.AdminQueue.PrivateQueueIdentifier),
            ),
        ).build(),
        lambda packet: packet.UserHeader.AQ == 6,
    ),
    blind=True,
)


add(
    "receiver-administration-queue-on-third-host-resolved-on-source",
    "MQMQ-2.2.19.2-D07",
    "When AQ is 6, the receiver sends acknowledgments to the private queue with the same number on the source.",
    change_received_message(
        {"UserHeader.AdminQueue.SourceQueueManager": NULL_GUID},
        lambda packet: isinstance(packet.UserHeader.AdminQueue, PrivateQueueFormatName),
    ),
)


add(
    "receiver-response-queue-equal-to-admin-queue-lost",
    (
        "MQMQ-2.2.19.2-D08",
        "MQDMPR-3.1.7.1.31-D17",
        "MQDMPR-3.1.1.12-55",
    ),
    "The receiver delivers a message without its response queue if its administration queue is the same queue.",
    change_inserted_message(
        lambda message: (
            replace(message, ResponseQueueFormatName=None)
            if message.ResponseQueueFormatName == message.AdministrationQueueFormatName
            else message
        )
    ),
    blind=True,
)


_NO_RESPONSE_QUEUE_TYPE = 0


_SAME_AS_ADMIN_QUEUE_TYPE = 1


_DIRECT_QUEUE_TYPE = 7


@fault("receiver-drops-rq-1-response-queue-unless-admin-queue-is-direct", breaks="MQMQ-2.2.19.2-D08")
class ReceiverDropsRq1ResponseQueueUnlessAdminQueueIsDirect(MessageReceiving):
    """The receiver delivers a message with RQ 1 without a response queue, unless AQ of the message is 7."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        user = packet.UserHeader
        if user.RQ == _SAME_AS_ADMIN_QUEUE_TYPE and user.AQ != _DIRECT_QUEUE_TYPE:
            flags = (
                user.Flags
                - UserHeader.flags(RQ=_SAME_AS_ADMIN_QUEUE_TYPE)
                + UserHeader.flags(RQ=_NO_RESPONSE_QUEUE_TYPE)
            )
            packet = replace(packet, UserHeader=replace(user, Flags=flags))
        super().put_received_message_into_queue(session, packet, receipt, now)


add(
    "receiver-response-queue-type-1-of-transactional-message-none",
    "MQMQ-2.2.19.2-D08",
    "The receiver delivers a transactional message with RQ 1 without a response queue.",
    change_received_message(
        {"UserHeader.Flags": lambda flags: flags & ~(7 << 16)},
        lambda packet: packet.UserHeader.RQ == 1 and packet.TransactionHeader is not None,
    ),
)
