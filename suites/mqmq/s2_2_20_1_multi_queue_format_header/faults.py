"""Faults that break rules of MS-MQMQ 2.2.20.1 MultiQueueFormatHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet, has_header
from reference_qm.codec import DirectQueueFormatName, MQFDirectQueueFormatName, UserHeader, UserMessagePacket
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault(
    "sender-lists-only-one-destination-in-each-copy",
    breaks=("MQMQ-2.2.20.1-01", "MQDMPR-3.1.1.12-28", "MQDMPR-3.1.1.12-27"),
)
class SenderListsOnlyOneDestinationInEachCopy(MessageSending):
    """When a message is sent to several queues, each copy lists only the queue to which the sender sends this copy."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is not None:
            alone = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=alone)
        return super().construct_user_message(position)


def _remove_third_destination(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet
    listed = replace(header.Destination, FormatNameList=header.Destination.FormatNameList[:2])
    return replace(packet, MultiQueueFormatHeader=replace(header, Destination=listed))


add(
    "sender-third-destination-not-listed",
    (
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
    ),
    "The sender's message for several queues lists only the first two destinations.",
    change_constructed_packet(_remove_third_destination),
    blind=True,
)


@fault("sender-omits-own-queues-from-multi-queue-destination", breaks="MQMQ-2.2.20.1-01", blind=True)
class SenderOmitsOwnQueuesFromMultiQueueDestination(MessageEnqueueing):
    """In Destination of a MultiQueueFormatHeader, the sender lists only queues of other queue managers, and omits its
    own queues.
    """

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        names = (message.DestinationMultiQueueFormatName or "").split(",")
        remote = [name for name in names if name and self.qm.destination_resolving.find_local_queue(name) is None]
        if remote:
            message = replace(message, DestinationMultiQueueFormatName=",".join(remote))
        return super()._enqueue_message(queue, message, now, transaction)


@fault("sender-adds-multi-queue-format-header-for-single-queue", breaks=("MQMQ-2.2.20.1-D01", "MQDMPR-3.1.7.1.30-D05"))
class SenderAddsMultiQueueFormatHeaderForSingleQueue(MessageSending):
    """The sender adds a MultiQueueFormatHeader to a message for one queue."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is None:
            listed = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=listed)
        return super().construct_user_message(position)


@fault(
    "sender-omits-multi-queue-format-header-for-several-queues", breaks=("MQMQ-2.2.20.1-D01", "MQDMPR-3.1.7.1.30-D05")
)
class SenderOmitsMultiQueueFormatHeaderForSeveralQueues(MessageSending):
    """The sender adds no MultiQueueFormatHeader to a message for several queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        unlisted = replace(position.MessageReference, DestinationMultiQueueFormatName=None)
        return super().construct_user_message(replace(position, MessageReference=unlisted))


@fault("sender-multi-queue-format-header-missing-in-encrypted", breaks="MQMQ-2.2.20.1-D01", blind=True)
class SenderMultiQueueFormatHeaderMissingInEncrypted(MessageSending):
    """The sender adds no MultiQueueFormatHeader to a message for several queues whose body is encrypted."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is None or message.security is None:
            return packet
        if not message.security.PrivacyLevel:
            return packet
        return serialize_message(replace(message, DestinationMultiQueueFormatName=None))


def _write_first_destination_into_every_copy(packet: UserMessagePacket) -> bytes:
    """Write the first destination into the UserHeader of every copy."""
    header = packet.MultiQueueFormatHeader
    names = [] if header is None else [one.FormatName for one in header.Destination.FormatNameList]
    direct = next((name for name in names if isinstance(name, MQFDirectQueueFormatName)), None)
    if direct is None:
        return packet.build()
    name = DirectQueueFormatName(direct.DirectFormatName.removeprefix("DIRECT="))
    changes = {
        "UserHeader.DestinationQueue": name,
        "UserHeader.Flags": packet.UserHeader.Flags | UserHeader.flags(DQ=7),
    }
    moved: UserMessagePacket = set_fields(packet, {"BaseHeader.PacketSize": 0, **changes})
    return moved.build()


def _reorder_queue_lists(packet: UserMessagePacket) -> bytes:
    """Put the lists of administration and response queues before the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    first, *others = (one.build() for one in (header.Destination, header.Administration, header.Response))
    whole = b"".join([first, *others])
    return packet.build().replace(whole, b"".join([*others, first]))


for _name, _broken_rules, _says, _change in (
    (
        "sender-sends-copies-for-all-destinations-to-first-one",
        ("MQMQ-2.2.20.1-D02",),
        "The sender's copies of a message for several queues all carry the first queue as DestinationQueue.",
        _write_first_destination_into_every_copy,
    ),
    (
        "sender-destination-list-after-other-lists",
        ("MQMQ-2.2.20.1-D03", "MQDMPR-3.1.7.1.32-D06", "MQMQ-2.2.20.2-D01"),
        "The sender's MultiQueueFormatHeader has the list of destinations after all other lists.",
        _reorder_queue_lists,
    ),
):
    add(
        _name,
        _broken_rules,
        _says,
        change_packets_of_kind(UserMessagePacket, _change, has_header("MultiQueueFormatHeader")),
    )
