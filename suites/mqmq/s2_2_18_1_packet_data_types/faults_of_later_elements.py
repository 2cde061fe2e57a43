"""Faults in later elements, queues, sequences and acknowledgments (MS-MQMQ 2.2.18.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, change_packets_of_kind
from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import (
    DirectQueueFormatName,
    MessageClass,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


class _FormatNameElementWithChangedLayout(MQFFormatNameElement):
    """An element of a list of queue names, with a changed layout."""

    __slots__ = ()


class _FormatNameAlignedTo4Bytes(_FormatNameElementWithChangedLayout):
    __slots__ = ()

    def build(self, offset: int = 0) -> bytes:
        head = self.FormatType.to_bytes(2, "little")
        return head + bytes(-(offset + len(head)) % 4) + self.FormatName.build()


class _FormatNameAlignedTo8Bytes(_FormatNameElementWithChangedLayout):
    __slots__ = ()

    def build(self, offset: int = 0) -> bytes:
        head = self.FormatType.to_bytes(2, "little")
        return head + bytes(-(offset + len(head)) % 8) + self.FormatName.build()


class _PrivateFormatNameWithNumberBeforeGuid(_FormatNameElementWithChangedLayout):
    __slots__ = ()

    def build(self, offset: int = 0) -> bytes:
        head = self.FormatType.to_bytes(2, "little")
        name = self.FormatName.build()
        return head + bytes(-(offset + len(head)) % 4) + name[16:] + name[:16]


def _change_later_elements(
    kind: type, change: Callable[[MQFFormatNameElement], MQFFormatNameElement], first: int
) -> Callable[[UserMessagePacket], bytes]:
    """Return a function that changes the elements of one kind in Destination, from the element with the given index
    on.
    """

    def change_packet(packet: UserMessagePacket) -> bytes:
        header = packet.MultiQueueFormatHeader
        if header is None:
            return packet.build()
        elements = tuple(
            change(one) if index >= first and isinstance(one.FormatName, kind) else one
            for index, one in enumerate(header.Destination.FormatNameList)
        )
        listed = replace(header.Destination, FormatNameList=elements, HeaderSize=None, Padding=None)
        built = header.build()
        return correct_packet_size(
            replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))
            .build()
            .replace(built, replace(header, Destination=listed).build())
        )

    return change_packet


def _add_length_before_direct_name(element: MQFFormatNameElement) -> MQFFormatNameElement:
    name: Any = element.FormatName
    size = 2 * len(name.DirectFormatName) + 2
    return replace(element, FormatName=MQFDirectQueueFormatName(chr(size) + name.DirectFormatName))


add(
    "sender-list-later-direct-name-with-count",
    "MQMQ-2.2.18.1.4.1-01",
    "The sender puts a count of bytes before the text of a direct format name that is not the first element of a list.",
    change_packets_of_kind(
        UserMessagePacket, _change_later_elements(MQFDirectQueueFormatName, _add_length_before_direct_name, 1)
    ),
    blind=True,
)
add(
    "sender-list-later-direct-name-aligned-to-4",
    "MQMQ-2.2.18.1.4.1-01",
    "The sender aligns the text of a direct format name that is not the first element of a list to 4 bytes.",
    change_packets_of_kind(
        UserMessagePacket,
        _change_later_elements(MQFDirectQueueFormatName, lambda one: _FormatNameAlignedTo4Bytes(one.FormatName), 1),
    ),
    blind=True,
)
add(
    "sender-list-private-name-aligned-to-8",
    "MQMQ-2.2.18.1.7.2-D01",
    "The sender aligns SourceQueueManager of a private format name that is not the first element of a list to 8 bytes.",
    change_packets_of_kind(
        UserMessagePacket,
        _change_later_elements(PrivateQueueFormatName, lambda one: _FormatNameAlignedTo8Bytes(one.FormatName), 1),
    ),
    blind=True,
)
add(
    "sender-list-later-private-name-number-before-guid",
    "MQMQ-2.2.18.1.7.2-D01",
    "The sender puts PrivateQueueIdentifier before SourceQueueManager in a private format name that is not the first "
    "element of a list.",
    change_packets_of_kind(
        UserMessagePacket,
        _change_later_elements(
            PrivateQueueFormatName, lambda one: _PrivateFormatNameWithNumberBeforeGuid(one.FormatName), 1
        ),
    ),
    blind=True,
)


def _forget_newest_queue_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number -= 1


add(
    "manager-private-queue-number-reused-after-restart",
    "MQMQ-2.2.18.1.5.1-02",
    "The queue manager gives the first private queue that is created after a restart the number of the newest private "
    "queue.",
    change_core_at_restart(_forget_newest_queue_number),
    blind=True,
)


@fault("queue-manager-repeats-number-for-transactional-private-queue", breaks="MQMQ-2.2.18.1.5.1-02", blind=True)
class QueueManagerRepeatsNumberForTransactionalPrivateQueue(QueueLifecycle):
    """The queue manager gives a transactional private queue the number of an existing private queue that is not
    transactional.
    """

    def add(self, queue: Queue) -> None:
        others = [
            one.PrivateQueueNumber
            for one in self.qm.adm.QueueCollection.values()
            if one.PrivateQueueNumber and not one.Transactional
        ]
        if queue.PrivateQueueNumber and queue.Transactional and others:
            queue.PrivateQueueNumber = max(others)
        super().add(queue)


def _halve_count_in_response_queue_name(packet: UserMessagePacket) -> bytes:
    data, queue = packet.build(), packet.UserHeader.ResponseQueue
    if not isinstance(queue, DirectQueueFormatName):
        return data
    wire = queue.build()
    at = data.rfind(wire)
    return data[:at] + (queue.Count // 2).to_bytes(2, "little") + data[at + 2 :]


def _pad_admin_queue_name(packet: UserMessagePacket) -> bytes:
    data, queue = packet.build(), packet.UserHeader.AdminQueue
    if not isinstance(queue, DirectQueueFormatName):
        return data
    wire = queue.build()
    at = data.rfind(wire) + len(wire)
    return correct_packet_size(data[:at] + bytes(4) + data[at:])


def _has_unpadded_admin_queue_name(packet: UserMessagePacket) -> bool:
    queue = packet.UserHeader.AdminQueue
    return isinstance(queue, DirectQueueFormatName) and (queue.Count + 2) % 4 == 0


def _strip_terminator_of_response_queue_name(packet: UserMessagePacket) -> bytes:
    queue = packet.UserHeader.ResponseQueue
    if not isinstance(queue, DirectQueueFormatName):
        return packet.build()
    header = replace(packet.UserHeader, ResponseQueue=replace(queue, Terminated=False, Padding=None))
    return replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), UserHeader=header).build()


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass not in (
        MessageClass.MQMSG_CLASS_NORMAL,
        MessageClass.MQMSG_CLASS_REPORT,
        MessageClass.MQMSG_CLASS_ORDER_ACK,
    )


add(
    "receiver-acknowledgment-response-queue-count-in-characters",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02"),
    "The receiver counts characters in Count of the direct ResponseQueue of an administration acknowledgment.",
    change_packets_of_kind(UserMessagePacket, _halve_count_in_response_queue_name, _is_acknowledgment),
    blind=True,
)
add(
    "sender-direct-admin-queue-at-boundary-padded",
    ("MQMQ-2.2.18.1.5.2-01", "MQMQ-2.2.18.1.5.2-D02"),
    "The sender puts four bytes of padding after a direct AdminQueue that already ends at a multiple of 4 bytes.",
    change_packets_of_kind(UserMessagePacket, _pad_admin_queue_name, _has_unpadded_admin_queue_name),
    blind=True,
)
add(
    "sender-direct-response-queue-null-omitted",
    "MQMQ-2.2.18.1.5.2-D02",
    "The sender omits the terminating null of a direct ResponseQueue.",
    change_packets_of_kind(UserMessagePacket, _strip_terminator_of_response_queue_name),
    blind=True,
)


@fault("receiver-order-ack-sent-to-peer-of-first-session", breaks="MQMQ-2.2.18.1.6-01", blind=True)
class ReceiverOrderAckSentToPeerOfFirstSession(OrderAcks):
    """The receiver sends the OrderAck of a direct session to the queue manager of the session that was opened first."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        opened = [
            one
            for one in self.qm.sessions.values()
            if one.SessionState is SessionState.OPEN and one.DirectFormatSession and not one.initiator
        ]
        first = min([session, *opened], key=lambda one: one.number)
        if first is not session:
            first.order_acks_due, session.order_acks_due = session.order_acks_due, {}
        super().on_order_ack_send_timer(first, now)


@fault(
    "sender-expired-transactional-message-nack-class-receive-timeout",
    breaks=("MQMQ-2.2.18.1.6-D03", "MQMQ-2.2.19.3-03"),
    blind=True,
)
class SenderExpiredTransactionalMessageNackClassReceiveTimeout(AdminAcks):
    """If a transactional message expires before it is sent, the sender acknowledges it with NACK_RECEIVE_TIMEOUT."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        timed_out = message_class is MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT
        if timed_out and message.TransactionIdentifier is not None:
            message_class = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        super().acknowledge_failure(message, message_class, now)


@fault("sender-expired-message-of-paused-queue-nack-omitted", breaks="MQMQ-2.2.18.1.6-D03", blind=True)
class SenderExpiredMessageOfPausedQueueNackOmitted(AdminAcks):
    """The sender sends no NACK_REACH_QUEUE_TIMEOUT for a message that expired while its outgoing queue was paused."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        queue = self.qm.adm.OutgoingQueues.get(message.DestinationQueueFormatName.lower())
        if queue is None or queue.State is not OutgoingQueueState.ON_HOLD:
            super().acknowledge_expiration(message, now)


@fault(
    "receiver-bad-signature-nack-for-unsupported-provider-in-transaction",
    breaks=("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
    blind=True,
)
class ReceiverBadSignatureNackForUnsupportedProviderInTransaction(SecurityOnReceipt):
    """The receiver answers NACK_BAD_SIGNATURE for a transactional message that requires an unsupported cryptographic
    provider.
    """

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        found = super().check_security(session, packet, queue, now)
        unsupported = found is MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
        if unsupported and packet.TransactionHeader is not None:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return found


@fault(
    "receiver-bad-signature-nack-for-unsupported-provider-in-list",
    breaks=("MQMQ-2.2.18.1.6-D04", "MQDMPR-3.1.1.12-D21"),
    blind=True,
)
class ReceiverBadSignatureNackForUnsupportedProviderInList(SecurityOnReceipt):
    """The receiver answers NACK_BAD_SIGNATURE for a message with a MultiQueueFormatHeader that requires an unsupported
    cryptographic provider.
    """

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        found = super().check_security(session, packet, queue, now)
        unsupported = found is MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
        if unsupported and packet.MultiQueueFormatHeader is not None:
            return MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
        return found
