"""Faults of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id that only special cases reveal: similar and
unknown identifiers.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


@fault("queue-manager-search-compares-32-bits-of-identifier", breaks="MQDMPR-3.1.7.3.3-04")
class QueueManagerSearchCompares32BitsOfIdentifier(Seeking):
    """The queue manager compares only the low 32 bits of LookupIdentifiers."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        for one in queue.MessagePositionList:
            if not (one.LookupIdentifier ^ lookup_id) & 0xFFFFFFFF:
                lookup_id = one.LookupIdentifier
                break
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-next-of-unknown-identifier-finds-neighbour", breaks="MQDMPR-3.1.7.3.3-06")
class QueueManagerSearchNextOfUnknownIdentifierFindsNeighbour(Seeking):
    """A search for the message after an unknown identifier returns the message with the next higher identifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.NEXT and queue.MessagePositionList.find(lookup_id) is None:
            for one in queue.MessagePositionList:
                if one.LookupIdentifier > lookup_id and self.is_readable(one, peek_operation):
                    return Status.MQ_OK, one
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-finds-identifier-of-parent-queue", breaks="MQDMPR-3.1.7.3.3-06", blind=True)
class QueueManagerSearchFindsIdentifierOfParentQueue(Seeking):
    """A search in a subqueue by LookupIdentifier also finds messages of the main queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if queue.parent is not None and queue.MessagePositionList.find(lookup_id) is None:
            queue = queue.parent
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-of-locked-first-message-finds-none", breaks="MQDMPR-3.1.7.3.3-35", blind=True)
class QueueManagerSearchOfLockedFirstMessageFindsNone(Seeking):
    """If the first message of a queue is locked, a peek by its LookupIdentifier returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        locked = queue.MessagePositionList.find(lookup_id)
        if status is Status.MQ_ERROR_TRANSACTION_USAGE and locked is queue.MessagePositionList.Head:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        return status, found


@fault("queue-manager-search-of-departed-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-39", blind=True)
class QueueManagerSearchOfDepartedMessageReturnsAlreadyReceived(Seeking):
    """If a LookupIdentifier was assigned but no message of the queue has it any more, a search by this identifier
    returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if status is Status.MQ_ERROR_MESSAGE_NOT_FOUND and 0 < lookup_id & LOW_BITS <= self.qm.adm.SequentialID:
            status = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
        return status, found


LOW_BITS = (1 << 56) - 1


@fault("queue-manager-search-for-last-finds-last-of-highest-priority", breaks="MQDMPR-3.1.7.3.3-53", blind=True)
class QueueManagerSearchForLastFindsLastOfHighestPriority(Seeking):
    """A search for the last message of a queue returns the last of the messages with the highest priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        readable = [one for one in queue.MessagePositionList if self.is_readable(one, peek_operation)]
        if lookup_action is not MessageSeekAction.LAST or not readable:
            return status, found
        highest = readable[0].MessageReference.Priority
        return status, [one for one in readable if one.MessageReference.Priority == highest][-1]


@fault("lookup-of-message-moved-away-finds-it", breaks="MQDMPR-3.1.7.3.3-26")
class LookupOfMessageMovedAwayFindsIt(Seeking):
    """A search for the current message also finds a message that was moved to a subqueue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found[1] is None and lookup_action is MessageSeekAction.CURRENT:
            for one in queue.SubqueueCollection.values():
                there = one.MessagePositionList.find(lookup_id)
                if there is not None and self.is_readable(there, peek_operation):
                    return Status.MQ_OK, there
        return found


@fault("lookup-next-after-locked-message-refused", breaks="MQDMPR-3.1.7.3.3-41")
class LookupNextAfterLockedMessageRefused(Seeking):
    """A search for the message after a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if lookup_action is MessageSeekAction.NEXT and is_locked:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("lookup-previous-before-locked-message-refused", breaks="MQDMPR-3.1.7.3.3-17")
class LookupPreviousBeforeLockedMessageRefused(Seeking):
    """A search for the message before a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if lookup_action is MessageSeekAction.PREVIOUS and is_locked:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("lookup-last-finds-last-of-highest-priority", breaks="MQDMPR-3.1.7.3.3-53")
class LookupLastFindsLastOfHighestPriority(Seeking):
    """A search for the last message of a queue returns the last message of the highest priority, although messages of
    lower priority follow.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is MessageSeekAction.LAST and found is not None:
            readable = [one for one in queue.MessagePositionList if self.is_readable(one, peek_operation)]
            highest = readable[0].MessageReference.Priority
            found = [one for one in readable if one.MessageReference.Priority == highest][-1]
        return status, found
