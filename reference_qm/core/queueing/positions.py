from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.events import MessageLeft
from reference_qm.core.part import Part
from reference_qm.core.store.disk import ORDINAL_BLOCK
from reference_qm.core.store.entries import relocation_of, removal_of
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import MessagePositionState

LOW_BYTES = (1 << 56) - 1


class Positions(Part):
    """Messages coming into queues and leaving them.

    Spec: MS-MQDMPR 3.1.7.1.9, .16, 3.1.7.2.1, 3.1.7.2.2, 3.1.7.1.10.
    """

    __slots__ = ()

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        """Put a message into a queue, not to be received yet. Spec: MS-MQDMPR 3.1.7.1.9, MS-MQQB 3.1.5.8.8."""
        position = MessagePosition(message, queue)
        position.LookupIdentifier = self.assign_lookup_identifier(message)
        queue.MessagePositionList.insert(position)
        return position

    def assign_lookup_identifier(self, message: Message) -> int:
        """Return the next LookupIdentifier, u64. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.1.12.

        It indicates the position in the list, so its high byte is 7 minus the priority. Printed is 0 for a message that
        is not transactional, and the inverted priority for one that is: those have priority 0, and for the others,
        ordered by priority, it would indicate nothing. Read with the two exchanged.
        """
        self.qm.adm.SequentialID = self.qm.adm.SequentialID + 1 & 0xFFFFFFFFFFFFFFFF
        if self.qm.adm.SequentialID > self.qm.disk.reserved_sequential - ORDINAL_BLOCK // 2:
            self.qm.disk.save(self.qm.disk.reserve_sequential(self.qm.adm.SequentialID))
        return lookup_identifier(message, self.qm.adm.SequentialID)

    def message_available(self, position: MessagePosition) -> None:
        """Let a message be received, and give it to who waits. Spec: MS-MQDMPR 3.1.7.2.2."""
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reconsider(position)
        self.qm.lifetimes.watch_received(position)
        position.awaits_disk = False
        if position.QueueReference.OpenQueueDescriptorCollection:
            self.qm.waiting.release_readers(position)

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        """Take a message out of its queue, and let the protocols know why. Spec: MS-MQDMPR 3.1.7.2.1.

        One that is out already stays what it became.
        """
        if position.State is not MessagePositionState.DELETED:
            position.QueueReference.MessagePositionList.remove(position)
            position.State = MessagePositionState.DELETED
            self.qm.post(MessageLeft(position, reason))

    def unlock_message(self, position: MessagePosition) -> None:
        """Let a message that was locked be received again, unless it was purged meanwhile.

        Spec: MS-MQDMPR 3.1.7.1.12.
        """
        if position.State is MessagePositionState.PURGE_PENDING:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
            self.qm.disk.save(self.qm.durability.build_removal([position], reason))
            self.delete_message(position, reason)
        elif position.State is MessagePositionState.LOCKED:
            self.message_available(position)

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        """Move a message to another queue, at the end of its priority there. Spec: MS-MQDMPR 3.1.7.1.16, 3.1.1.12.

        It keeps its LookupIdentifier. One for which a system queue has no room is discarded: None.
        """
        if position.counted_in is not None:
            position.counted_in.remove(position)
        position.State = MessagePositionState.DELETED
        message = position.MessageReference
        admitted = queue.QueueType is not QueueType.SYSTEM or not self.qm.quotas.check(queue, message)
        if not admitted:
            self.qm.disk.save(removal_of([position]))
            return None
        target = MessagePosition(message, queue, LookupIdentifier=position.LookupIdentifier)
        target.order_queue = position.order_queue
        target.key = self.qm.next_persist_token() if position.key else 0  # keys are in the order of arrival
        if not target.LookupIdentifier:  # it was in an outgoing queue, where it had none
            target.LookupIdentifier = self.assign_lookup_identifier(message)
        queue.MessagePositionList.insert(target)
        self.qm.disk.save(removal_of([position]) | relocation_of(target))
        self.message_available(target)
        return target


def lookup_identifier(message: Message, sequential_id: int) -> int:
    """Put the high byte of a LookupIdentifier to its seven low ones."""
    high = 0 if message.TransactionIdentifier is not None else 7 - message.Priority
    return high << 56 | sequential_id & LOW_BYTES
