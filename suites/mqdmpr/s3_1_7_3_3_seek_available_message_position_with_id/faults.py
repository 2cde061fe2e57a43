"""Faults that break rules of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id."""

from __future__ import annotations

from bisect import bisect_left

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault, follows_reading_of_erratum
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

SeekResult = tuple[Status, MessagePosition | None]


FIRST_OR_LAST_ACTION_BY_NEIGHBOR_ACTION = {
    MessageSeekAction.NEXT: MessageSeekAction.FIRST,
    MessageSeekAction.PREVIOUS: MessageSeekAction.LAST,
}


@fault(
    "lookup-of-unknown-identifier-finds-first-or-last",
    breaks=("MQDMPR-3.1.7.3.3-04", "MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26"),
)
class LookupOfUnknownIdentifierFindsFirstOrLast(MessageSearch):
    """A lookup by an unknown LookupIdentifier returns the first or the last message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        edge = FIRST_OR_LAST_ACTION_BY_NEIGHBOR_ACTION.get(lookup_action, MessageSeekAction.FIRST)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, edge)


@fault("queue-manager-search-compares-32-bits-of-identifier", breaks="MQDMPR-3.1.7.3.3-04")
class QueueManagerSearchCompares32BitsOfIdentifier(MessageSearch):
    """The queue manager compares only the low 32 bits of LookupIdentifiers."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        for one in queue.MessagePositionList:
            if not (one.LookupIdentifier ^ lookup_id) & 0xFFFFFFFF:
                lookup_id = one.LookupIdentifier
                break
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


class _SeekStatusReplacer(MessageSearch):
    """Replace one error status of a search by identifier with a different error status."""

    replaced_status: Status
    replacement_status: Status

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        return (self.replacement_status if status is self.replaced_status else status), found


@fault(
    "lookup-of-unknown-identifier-returns-already-received",
    breaks=("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26", "MQDMPR-3.1.7.3.3-39"),
)
class LookupOfUnknownIdentifierReturnsAlreadyReceived(_SeekStatusReplacer):
    """A lookup by an unknown LookupIdentifier returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    replaced_status, replacement_status = Status.MQ_ERROR_MESSAGE_NOT_FOUND, Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED


@fault("queue-manager-search-next-of-unknown-identifier-finds-neighbour", breaks="MQDMPR-3.1.7.3.3-06")
class QueueManagerSearchNextOfUnknownIdentifierFindsNeighbour(MessageSearch):
    """A search for the message after an unknown identifier returns the message with the next higher identifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.NEXT and queue.MessagePositionList.find(lookup_id) is None:
            for one in queue.MessagePositionList:
                if one.LookupIdentifier > lookup_id and self.is_message_readable(one, peek_operation):
                    return Status.MQ_OK, one
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-finds-identifier-of-parent-queue", breaks="MQDMPR-3.1.7.3.3-06", blind=True)
class QueueManagerSearchFindsIdentifierOfParentQueue(MessageSearch):
    """A search in a subqueue by LookupIdentifier also finds messages of the main queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if queue.parent is not None and queue.MessagePositionList.find(lookup_id) is None:
            queue = queue.parent
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "lookup-of-neighbor-message-returns-current-message",
    breaks=(
        "MQDMPR-3.1.7.1.13-11",
        "MQDMPR-3.1.7.3.3-08",
        "MQDMPR-3.1.7.3.3-17",
        "MQDMPR-3.1.7.3.3-22",
        "MQDMPR-3.1.7.3.3-41",
        "MQDMPR-3.1.7.3.3-46",
    ),
)
class LookupOfNeighborMessageReturnsCurrentMessage(MessageSearch):
    """A lookup of the next or the previous message returns the message with the given LookupIdentifier itself."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        action = (
            MessageSeekAction.CURRENT if lookup_action in FIRST_OR_LAST_ACTION_BY_NEIGHBOR_ACTION else lookup_action
        )
        return super().seek_with_identifier(queue, lookup_id, peek_operation, action)


@fault("lookup-of-message-before-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-17")
class LookupOfMessageBeforeLockedMessageReturnsNotFound(MessageSearch):
    """A search for the message before a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if lookup_action is MessageSeekAction.PREVIOUS and is_locked:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "search-ends-at-second-locked-message",
    breaks=("MQDMPR-3.1.7.3.3-22", "MQDMPR-3.1.7.3.3-46", "MQDMPR-3.1.7.3.2-16"),
)
class SearchEndsAtSecondLockedMessage(MessageSearch):
    """A search that passes two locked messages ends without a message; a search that passes only one locked message
    continues.
    """

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        skipped = 0
        entry: Entry | None = found
        while isinstance(entry, MessagePosition) and entry is not initial_position:
            skipped += entry.State is MessagePositionState.LOCKED
            entry = entry.Next if seek_direction is SeekDirection.BACKWARD else entry.Previous
        return found if skipped < 2 else None


@fault("search-for-previous-message-ends-at-locked-message", breaks="MQDMPR-3.1.7.3.3-22", blind=True)
class SearchForPreviousMessageEndsAtLockedMessage(MessageSearch):
    """A search for the previous message ends without a message at a locked message, although an earlier message is
    available.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        if position is not None and lookup_action is MessageSeekAction.PREVIOUS:
            before = position.Previous
            if not isinstance(before, MessagePosition) or not self.is_message_readable(before, peek_operation):
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("lookup-of-current-message-returns-next-message", breaks=("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29"))
class LookupOfCurrentMessageReturnsNextMessage(MessageSearch):
    """A lookup of the current message returns the next message, if a next message exists."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        behind = None if found is None or lookup_action is not MessageSeekAction.CURRENT else found.Next
        return status, behind if isinstance(behind, MessagePosition) else found


@fault("lookup-finds-message-that-was-moved-to-subqueue", breaks="MQDMPR-3.1.7.3.3-26")
class LookupFindsMessageThatWasMovedToSubqueue(MessageSearch):
    """A search for the current message also finds a message that was moved to a subqueue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found[1] is None and lookup_action is MessageSeekAction.CURRENT:
            for one in queue.SubqueueCollection.values():
                there = one.MessagePositionList.find(lookup_id)
                if there is not None and self.is_message_readable(there, peek_operation):
                    return Status.MQ_OK, there
        return found


@fault("lookup-of-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-35")
class LookupOfLockedMessageReturnsNotFound(_SeekStatusReplacer):
    """A lookup of a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    replaced_status, replacement_status = Status.MQ_ERROR_TRANSACTION_USAGE, Status.MQ_ERROR_MESSAGE_NOT_FOUND


@fault("queue-manager-lookup-of-locked-first-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-35", blind=True)
class QueueManagerLookupOfLockedFirstMessageReturnsNotFound(MessageSearch):
    """If the first message of a queue is locked, a peek by its LookupIdentifier returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        locked = queue.MessagePositionList.find(lookup_id)
        if status is Status.MQ_ERROR_TRANSACTION_USAGE and locked is queue.MessagePositionList.Head:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        return status, found


@fault("lookup-of-received-message-returns-transaction-usage", breaks="MQDMPR-3.1.7.3.3-37")
class LookupOfReceivedMessageReturnsTransactionUsage(_SeekStatusReplacer):
    """A lookup of a received message returns MQ_ERROR_TRANSACTION_USAGE."""

    replaced_status, replacement_status = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, Status.MQ_ERROR_TRANSACTION_USAGE


LOW_SEVEN_BYTES_MASK = (1 << 56) - 1


@fault("queue-manager-search-for-removed-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-39", blind=True)
class QueueManagerSearchForRemovedMessageReturnsAlreadyReceived(MessageSearch):
    """If a LookupIdentifier was assigned but no message of the queue has it any more, a search by this identifier
    returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if (
            status is Status.MQ_ERROR_MESSAGE_NOT_FOUND
            and 0 < lookup_id & LOW_SEVEN_BYTES_MASK <= self.qm.adm.SequentialID
        ):
            status = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
        return status, found


@fault("lookup-of-message-after-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-41")
class LookupOfMessageAfterLockedMessageReturnsNotFound(MessageSearch):
    """A search for the message after a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if lookup_action is MessageSeekAction.NEXT and is_locked:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


FIRST_AND_LAST_SEEK_ACTIONS = (MessageSeekAction.FIRST, MessageSeekAction.LAST)


add(
    "lookup-of-first-or-last-uses-identifier",
    ("MQDMPR-3.1.7.1.13-11", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53"),
    "A lookup of the first or the last message returns the message with the given LookupIdentifier.",
    change_step_arguments(
        MessageReading.read_by_lookup_identifier,
        lookup_operation=lambda given: (
            MessageSeekAction.CURRENT
            if given.lookup_operation in FIRST_AND_LAST_SEEK_ACTIONS
            else given.lookup_operation
        ),
    ),
)


@fault("queue-manager-search-for-last-finds-last-of-highest-priority", breaks="MQDMPR-3.1.7.3.3-53", blind=True)
class QueueManagerSearchForLastFindsLastOfHighestPriority(MessageSearch):
    """A search for the last message of a queue returns the last of the messages with the highest priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        readable = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
        if lookup_action is not MessageSeekAction.LAST or not readable:
            return status, found
        highest = readable[0].MessageReference.Priority
        return status, [one for one in readable if one.MessageReference.Priority == highest][-1]


@fault("lookup-last-finds-last-of-highest-priority", breaks="MQDMPR-3.1.7.3.3-53")
class LookupLastFindsLastOfHighestPriority(MessageSearch):
    """A search for the last message of a queue returns the last message of the highest priority, although messages of
    lower priority follow.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is MessageSeekAction.LAST and found is not None:
            readable = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
            highest = readable[0].MessageReference.Priority
            found = [one for one in readable if one.MessageReference.Priority == highest][-1]
        return status, found


@follows_reading_of_erratum("E171.2")
class ReceivedMessageNotFoundReporter(_SeekStatusReplacer):
    """The lookup of a received message returns MQ_ERROR_MESSAGE_NOT_FOUND, even while a cursor is at the message."""

    replaced_status, replacement_status = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, Status.MQ_ERROR_MESSAGE_NOT_FOUND


@fault("queue-manager-lookup-expects-ascending-identifiers", breaks="MQDMPR-3.1.7.3.3-29", blind=True)
class QueueManagerLookupExpectsAscendingIdentifiers(MessageSearch):
    """A search for the current message expects ascending LookupIdentifiers, and does not find a message that was
    moved behind a newer message.
    """

    def seek_with_identifier(
        self,
        queue: Queue,
        lookup_id: int,
        peek_operation: bool,
        lookup_action: MessageSeekAction,
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is not None:
            known = [position.LookupIdentifier for position in queue.MessagePositionList]
            if known[bisect_left(known, lookup_id) :][:1] != [lookup_id]:
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
