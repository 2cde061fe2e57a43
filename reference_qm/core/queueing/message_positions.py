from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.events import MessageLeftQueue
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import RESERVED_ORDINAL_COUNT
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState

LOOKUP_ID_WITHOUT_PRIORITY_MASK = (1 << 56) - 1


class MessagePositions(QueueManagerPart):
    """Puts messages into queues and takes them out.

    Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.16, 3.1.7.2.1, 3.1.7.2.2, 3.1.7.1.10.
    """

    __slots__ = ()

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        """Put a message into a queue. The message cannot be received yet. Spec: MS-MQDMPR 3.1.7.1.9, MS-MQQB
        3.1.5.8.8.
        """
        position = MessagePosition(message, queue)
        position.LookupIdentifier = self.assign_lookup_identifier(message)
        queue.MessagePositionList.insert(position)
        return position

    def assign_lookup_identifier(self, message: Message) -> int:
        """Return the next LookupIdentifier, u64. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.1.12.

        Messages are ordered by LookupIdentifier, so its high byte is 7 minus the priority. According to the document,
        the high byte is 0 for a nontransactional message and the inverted priority for a transactional message.
        However, all transactional messages have priority 0, and a high byte of 0 would not order nontransactional
        messages by priority. This method therefore assumes that the document interchanges the two cases.
        """
        self.qm.adm.SequentialID = self.qm.adm.SequentialID + 1 & 0xFFFFFFFFFFFFFFFF
        if self.qm.adm.SequentialID > self.qm.disk.reserved_sequential - RESERVED_ORDINAL_COUNT // 2:
            self.qm.disk.save(self.qm.disk.build_sequential_id_reservation(self.qm.adm.SequentialID))
        return build_lookup_identifier(message, self.qm.adm.SequentialID)

    def on_message_available(self, position: MessagePosition) -> None:
        """Make a message available, and pass the message to the readers that wait for it. Spec: MS-MQDMPR
        3.1.7.2.2.
        """
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reset_search_start(position)
        self.qm.message_lifetimes.start_time_to_be_received_timer(position)
        position.is_disk_write_pending = False
        if position.QueueReference.OpenQueueDescriptorCollection:
            self.qm.waiting_reads.pass_new_message_to_waiting_readers(position)

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        """Delete a message from its queue, and post an event with the reason. Spec: MS-MQDMPR 3.1.7.2.1.

        A message that has already left its queue is not changed.
        """
        if position.State is not MessagePositionState.DELETED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
            self.qm.post_event(MessageLeftQueue(position, reason))

    def unlock_message(self, position: MessagePosition) -> None:
        """Make a locked message available again, unless it was purged in the meantime.

        Spec: MS-MQDMPR 3.1.7.1.12.
        """
        if position.State is MessagePositionState.PURGE_PENDING:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
            self.qm.disk.save(self.qm.durable_records.build_message_removal([position], reason))
            self.delete_message(position, reason)
        elif position.State is MessagePositionState.LOCKED:
            self.on_message_available(position)

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        """Move a message to a different queue, where the message is placed after all messages with the same
        priority. Spec: MS-MQDMPR 3.1.7.1.16, 3.1.1.12.

        The message keeps its LookupIdentifier. Return None if the message was discarded because a system queue is
        full.
        """
        if position.position_list_that_counts_size is not None:
            position.position_list_that_counts_size.remove(position)
        position.State = MessagePositionState.DELETED
        message = position.MessageReference
        admitted = queue.QueueType is not QueueType.SYSTEM or not self.qm.queue_quotas.check_room_for_message(
            queue, message
        )
        if not admitted:
            self.qm.disk.save(build_removal_change([position]))
            return None
        target = MessagePosition(message, queue, LookupIdentifier=position.LookupIdentifier)
        target.order_queue = position.order_queue
        target.key = self.qm.assign_persist_token() if position.key else 0  # keys follow the order of arrival
        if not target.LookupIdentifier:  # the message was in an outgoing queue, where it had no identifier
            target.LookupIdentifier = self.assign_lookup_identifier(message)
        queue.MessagePositionList.insert(target)
        self.qm.disk.save(build_removal_change([position]) | build_message_relocation(target))
        self.on_message_available(target)
        return target


def build_lookup_identifier(message: Message, sequential_id: int) -> int:
    """Return the LookupIdentifier of a message. Its high byte depends on the message, and ``sequential_id``
    contains its seven low bytes.
    """
    high = 0 if message.TransactionIdentifier is not None else 7 - message.Priority
    return high << 56 | sequential_id & LOOKUP_ID_WITHOUT_PRIORITY_MASK
