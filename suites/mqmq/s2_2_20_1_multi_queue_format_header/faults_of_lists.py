"""Faults in the copies and lists of a message for several queues: MQMQ-2.2.20.1-D02 and MQMQ-2.2.20.1-D03."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

QueueListBytes = list[bytes]


def _change_bytes_of_lists(change: Callable[[QueueListBytes], QueueListBytes]) -> Install:
    """Change the bytes of the three lists and of the signature in a MultiQueueFormatHeader."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        header: Any = packet.MultiQueueFormatHeader
        parts = [header.Destination, header.Administration, header.Response, header.Signature]
        built = [one.build() for one in parts]
        return correct_packet_size(packet.build().replace(b"".join(built), b"".join(change(built))))

    return change_packets_of_kind(UserMessagePacket, change_packet, has_header("MultiQueueFormatHeader"))


for _name, _says, _change in (
    (
        "sender-response-list-before-administration-list",
        "The sender's MultiQueueFormatHeader has the list of response queues before the list of administration queues.",
        lambda parts: [parts[0], parts[2], parts[1], parts[3]],
    ),
    (
        "sender-signature-before-lists",
        "The sender's MultiQueueFormatHeader has the signature before the three lists.",
        lambda parts: [parts[3], *parts[:3]],
    ),
    (
        "sender-empty-lists-omitted",
        "The sender's MultiQueueFormatHeader omits the list of administration or response queues if the list is empty.",
        lambda parts: [one for one in parts[:3] if int.from_bytes(one[8:12], "little")] + parts[3:],
    ),
    (
        "sender-lists-padded-to-8-bytes",
        "The sender's MultiQueueFormatHeader has lists that are padded to multiples of 8 bytes.",
        lambda parts: [*(one + bytes(-len(one) % 8) for one in parts[:3]), parts[3]],
    ),
):
    add(_name, "MQMQ-2.2.20.1-D03", _says, _change_bytes_of_lists(_change), blind=True)


@fault("sender-recoverable-copies-have-destination-of-first-copy", breaks="MQMQ-2.2.20.1-D02", blind=True)
class SenderRecoverableCopiesHaveDestinationOfFirstCopy(MessageSending):
    """The UserHeader of each recoverable copy has the destination of the first such copy that the sender built."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.names: dict[str, DirectQueueFormatName] = {}

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        name, listed = packet.UserHeader.DestinationQueue, position.MessageReference.DestinationMultiQueueFormatName
        if listed is None or not isinstance(name, DirectQueueFormatName) or not packet.UserHeader.DM:
            return packet
        first = self.names.setdefault(listed, name)
        return replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=first))


@fault("sender-express-copies-have-destination-of-first-copy", breaks="MQMQ-2.2.20.1-D02", blind=True)
class SenderExpressCopiesHaveDestinationOfFirstCopy(MessageSending):
    """The UserHeader of each express copy has the destination of the first such copy that the sender built."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.names: dict[str, DirectQueueFormatName] = {}

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        name, listed = packet.UserHeader.DestinationQueue, position.MessageReference.DestinationMultiQueueFormatName
        if listed is None or not isinstance(name, DirectQueueFormatName) or packet.UserHeader.DM:
            return packet
        first = self.names.setdefault(listed, name)
        return replace(packet, UserHeader=replace(packet.UserHeader, DestinationQueue=first))


@fault("sender-last-copy-of-transactional-message-not-sent", breaks="MQMQ-2.2.20.1-D02", blind=True)
class SenderLastCopyOfTransactionalMessageNotSent(MessageEnqueueing):
    """The sender sends no copy of a transactional message to the last of several queues."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        names = (message.DestinationMultiQueueFormatName or "").split(",")
        if transaction is not None and len(names) > 1 and message.DestinationQueueFormatName == names[-1]:
            return EnqueueStatus.NO_ERROR
        return super()._enqueue_message(queue, message, now, transaction)
