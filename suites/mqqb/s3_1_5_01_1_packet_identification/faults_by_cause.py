"""Faults that break rules of MS-MQQB 3.1.5.1.1 after one of several causes, or in one kind of session only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    MessageClass,
    PrivateQueueFormatNameId,
    UserMessagePacket,
)
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.order_acks import ORDER_ACK_BODY_SIZE, ORDER_ACK_LABEL, is_final_ack, is_order_ack
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

_FIRST_FINAL_ACK_CLASS = 0x4000


def _handle_messages_as_order_or_final_acks(final: bool, when: Callable[[UserMessagePacket], bool]) -> Install:
    """Return an installer of a fault: messages that meet a condition are handled as OrderAcks or FinalAcks."""

    class MessageHandledAsAck(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            if is_order_ack(packet) or is_final_ack(packet) or not when(packet):
                super().put_received_message_into_queue(session, packet, receipt, now)
                return
            receipt.is_on_disk = True
            body = (packet.MessagePropertiesHeader.MessageBody + bytes(ORDER_ACK_BODY_SIZE))[:ORDER_ACK_BODY_SIZE]
            properties = replace(packet.MessagePropertiesHeader, MessageBody=body)
            meant = replace(packet, MessagePropertiesHeader=properties)
            (self.qm.final_acks if final else self.qm.order_acks).receive(session, meant, now)

    return replace_part(MessageHandledAsAck)


def _has_order_ack_class(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK


def _has_final_ack_class(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass >= _FIRST_FINAL_ACK_CLASS


def _has_order_ack_label(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.Label == ORDER_ACK_LABEL


def _has_ack_body_size(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.MessageBody) == ORDER_ACK_BODY_SIZE


def _get_queue_path_in_direct_name(packet: UserMessagePacket) -> str:
    queue = packet.UserHeader.DestinationQueue
    return queue.DirectFormatName.partition("\\")[2].lower() if isinstance(queue, DirectQueueFormatName) else ""


def _is_sent_to_private_queue_number(packet: UserMessagePacket) -> bool:
    return isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId)


def _has_only_allowed_flags(packet: UserMessagePacket, **allowed: int) -> bool:
    flags = packet.BaseHeader.Flags
    return (
        bool(flags)
        and not flags & ~BaseHeader.flags(**allowed)
        and _has_order_ack_label(packet)
        and is_for_order_queue(packet)
    )


add(
    "sender-order-ack-to-any-private-number-taken",
    "MQQB-3.1.5.1.1-05",
    "The sender takes a message to another private queue number as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_ack_body_size(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _is_sent_to_private_queue_number(packet)
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-to-longer-queue-name-taken",
    "MQQB-3.1.5.1.1-05",
    "The sender takes a message to a direct name that begins with order_queue$ as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_ack_body_size(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _get_queue_path_in_direct_name(packet).startswith("private$\\order_queue$")
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-to-public-queue-of-same-name-taken",
    "MQQB-3.1.5.1.1-05",
    "The sender takes a message to a direct name of the public queue order_queue$ as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_ack_body_size(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _get_queue_path_in_direct_name(packet) == "order_queue$"
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-with-priority-taken",
    "MQQB-3.1.5.1.1-04",
    "The sender takes a message with a priority above 0 as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet) and _has_ack_body_size(packet) and _has_only_allowed_flags(packet, PR=7)
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-with-session-header-taken",
    "MQQB-3.1.5.1.1-04",
    "The sender takes a message with a SessionHeader as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet) and _has_ack_body_size(packet) and _has_only_allowed_flags(packet, SH=1)
        ),
    ),
    blind=True,
)

add(
    "sender-final-ack-to-any-private-number-taken",
    "MQQB-3.1.5.1.1-10",
    "The sender takes a message to another private queue number as a FinalAck.",
    _handle_messages_as_order_or_final_acks(
        True,
        lambda packet: (
            _has_final_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _is_sent_to_private_queue_number(packet)
        ),
    ),
    blind=True,
)

add(
    "sender-final-ack-to-longer-queue-name-taken",
    "MQQB-3.1.5.1.1-10",
    "The sender takes a message to a direct name that begins with order_queue$ as a FinalAck.",
    _handle_messages_as_order_or_final_acks(
        True,
        lambda packet: (
            _has_final_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _get_queue_path_in_direct_name(packet).startswith("private$\\order_queue$")
        ),
    ),
    blind=True,
)

add(
    "sender-final-ack-to-public-queue-of-same-name-taken",
    "MQQB-3.1.5.1.1-10",
    "The sender takes a message to a direct name of the public queue order_queue$ as a FinalAck.",
    _handle_messages_as_order_or_final_acks(
        True,
        lambda packet: (
            _has_final_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and _get_queue_path_in_direct_name(packet) == "order_queue$"
        ),
    ),
    blind=True,
)

add(
    "sender-final-ack-with-priority-taken",
    "MQQB-3.1.5.1.1-09",
    "The sender takes a message with a priority above 0 as a FinalAck.",
    _handle_messages_as_order_or_final_acks(
        True, lambda packet: _has_final_ack_class(packet) and _has_only_allowed_flags(packet, PR=7)
    ),
    blind=True,
)

add(
    "sender-order-ack-with-40-bytes-taken",
    "MQQB-3.1.5.1.1-07",
    "The sender takes a message with a body of 40 bytes as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and is_for_order_queue(packet)
            and len(packet.MessagePropertiesHeader.MessageBody) == 40
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-with-16-bytes-taken",
    "MQQB-3.1.5.1.1-07",
    "The sender takes a message with a body of 16 bytes as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and is_for_order_queue(packet)
            and len(packet.MessagePropertiesHeader.MessageBody) == 16
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-with-35-bytes-taken",
    "MQQB-3.1.5.1.1-07",
    "The sender takes a message with a body of 35 bytes as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_order_ack_class(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and is_for_order_queue(packet)
            and len(packet.MessagePropertiesHeader.MessageBody) == 35
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-of-class-normal-taken",
    "MQQB-3.1.5.1.1-08",
    "The sender takes a message of class NORMAL as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_ack_body_size(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and is_for_order_queue(packet)
            and packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NORMAL
        ),
    ),
    blind=True,
)

add(
    "sender-order-ack-of-class-ack-reach-queue-taken",
    "MQQB-3.1.5.1.1-08",
    "The sender takes a message of class ACK_REACH_QUEUE as an OrderAck.",
    _handle_messages_as_order_or_final_acks(
        False,
        lambda packet: (
            _has_ack_body_size(packet)
            and _has_order_ack_label(packet)
            and not packet.BaseHeader.Flags
            and is_for_order_queue(packet)
            and packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        ),
    ),
    blind=True,
)


@fault("sender-message-with-debug-header-taken-as-order-ack", breaks="MQQB-3.1.5.1.1-04", blind=True)
class SenderMessageWithDebugHeaderTakenAsOrderAck(MessageReceiving):
    """The sender treats a message as an OrderAck although BaseHeader.Flags has DH, or both DH and TR, set."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(DH=1, TR=1)
        untraced = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags))
        super().put_received_message_into_queue(session, untraced if is_order_ack(untraced) else packet, receipt, now)
