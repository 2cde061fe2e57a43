"""Faults that break rules of MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

from __future__ import annotations

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.queueing.message_search import MessageSearch, _get_neighbouring_entry
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


@fault("message-search-from-position-always-backward", breaks=("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.3-41"))
class MessageSearchFromPositionAlwaysBackward(MessageSearch):
    """A search that starts at a message always proceeds backward, even if its caller requests a forward search."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        backward = seek_direction if isinstance(initial_position, Boundary) else SeekDirection.BACKWARD
        return super().seek_available(initial_position, peek_operation, backward)


@fault(
    "message-search-always-forward",
    breaks=("MQDMPR-3.1.7.3.2-04", "MQDMPR-3.1.7.3.2-21", "MQDMPR-3.1.7.3.2-22", "MQDMPR-3.1.7.3.3-17"),
)
class MessageSearchAlwaysForward(MessageSearch):
    """A search always proceeds forward, even if its caller requests a backward search."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        forward = seek_direction if isinstance(initial_position, Boundary) else SeekDirection.FORWARD
        return super().seek_available(initial_position, peek_operation, forward)


@fault("queue-manager-search-for-first-message-finds-oldest", breaks="MQDMPR-3.1.7.3.2-09")
class QueueManagerSearchForFirstMessageFindsOldest(MessageSearch):
    """A search for the first message of a queue finds the message that arrived first instead of the message at the
    start of the queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        available = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
        if lookup_action is MessageSeekAction.FIRST and available:
            return Status.MQ_OK, min(available, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "message-search-from-message-returns-start-message",
    breaks=("MQDMPR-3.1.7.3.2-11", "MQDMPR-3.1.7.3.2-21"),
)
class MessageSearchFromMessageReturnsStartMessage(MessageSearch):
    """A search that starts at an available message returns this message instead of the following or preceding one."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        if not isinstance(initial_position, Boundary) and self.is_message_readable(initial_position, peek_operation):
            return initial_position
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("queue-manager-forward-search-from-deleted-message-restarts", breaks="MQDMPR-3.1.7.3.2-11", blind=True)
class QueueManagerForwardSearchFromDeletedMessageRestarts(MessageSearch):
    """A forward search from a message that was received or purged starts at the head of the queue."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        if (
            seek_direction is SeekDirection.FORWARD
            and not isinstance(initial_position, Boundary)
            and initial_position.State is MessagePositionState.DELETED
        ):
            initial_position = initial_position.QueueReference.MessagePositionList.Start
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault(
    "message-search-ends-at-locked-message",
    breaks=(
        "MQDMPR-3.1.7.3.2-12",
        "MQDMPR-3.1.7.3.2-16",
        "MQDMPR-3.1.7.3.2-22",
        "MQDMPR-3.1.7.3.2-26",
        "MQDMPR-3.1.7.3.2-27",
    ),
)
class MessageSearchEndsAtLockedMessage(MessageSearch):
    """A search ends without a message when it reaches a locked message."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        entry = _get_neighbouring_entry(initial_position, seek_direction is SeekDirection.FORWARD)
        if not isinstance(entry, Boundary) and entry.State is MessagePositionState.LOCKED:
            return None
        return super().seek_available(initial_position, peek_operation, seek_direction)


def _does_search_pass_two_unavailable_messages(
    start: Entry | None, forward: bool, found: MessagePosition | None
) -> bool:
    """Return whether a search passes two unavailable messages before it finds a message."""
    passed, entry = 0, start
    while entry is not None:
        entry = entry.Next if forward else entry.Previous
        if entry is None or isinstance(entry, Boundary) or entry is found:
            break
        passed += entry.State is MessagePositionState.LOCKED
    return passed > 1


@fault("queue-manager-forward-search-ends-at-second-locked-message", breaks="MQDMPR-3.1.7.3.2-12")
class QueueManagerForwardSearchEndsAtSecondLockedMessage(MessageSearch):
    """A forward search skips one locked message, but ends without a message at a second locked message."""

    @faulty_only_if(
        lambda part, initial_position, peek_operation, seek_direction=SeekDirection.FORWARD: (
            seek_direction is SeekDirection.FORWARD
        )
    )
    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        return None if _does_search_pass_two_unavailable_messages(initial_position, True, found) else found


@fault("queue-manager-forward-search-finds-message-of-open-transaction", breaks="MQDMPR-3.1.7.3.2-12", blind=True)
class QueueManagerForwardSearchFindsMessageOfOpenTransaction(MessageSearch):
    """A peek finds a message that a transaction has received but not committed."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        received = position.State is MessagePositionState.LOCKED and position.QueueReference.Transactional
        return (received and peek_operation) or super().is_message_readable(position, peek_operation)


@fault("search-skips-only-one-locked-message", breaks="MQDMPR-3.1.7.3.2-12")
class SearchSkipsOnlyOneLockedMessage(MessageSearch):
    """A forward search that passes two unavailable messages in a row ends without a message."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is not SeekDirection.FORWARD:
            return found
        first, second = found.Previous, getattr(found.Previous, "Previous", None)
        unread = [one for one in (first, second) if one is not initial_position and not isinstance(one, Boundary)]
        states = [one.State for one in unread if one is not None]
        return None if len(states) == 2 and MessagePositionState.AVAILABLE not in states else found


@fault("locked-message-found-by-lookup", breaks=("MQDMPR-3.1.7.3.2-16", "MQDMPR-3.1.7.1.13-20"))
class LockedMessageFoundByLookup(MessageSearch):
    """A peek at a locked message, and a receive of a locked message by its LookupIdentifier, return the message."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_message_readable(position, peek_operation) or position.State is MessagePositionState.LOCKED


@fault("queue-manager-forward-search-finds-locked-message-after-purge", breaks="MQDMPR-3.1.7.3.2-16")
class QueueManagerForwardSearchFindsLockedMessageAfterPurge(MessageSearch):
    """A search treats a locked message whose queue was purged as an available message."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return position.State is MessagePositionState.PURGE_PENDING or super().is_message_readable(
            position, peek_operation
        )


@fault("message-search-from-end-skips-last-message", breaks=("MQDMPR-3.1.7.3.2-19", "MQDMPR-3.1.7.3.3-53"))
class MessageSearchFromEndSkipsLastMessage(MessageSearch):
    """A search from the end of the queue skips the last message if the queue has further messages."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is SeekDirection.FORWARD or not isinstance(initial_position, Boundary):
            return found
        return super().seek_available(found, peek_operation, seek_direction) or found


@fault("queue-manager-search-for-last-message-finds-newest", breaks="MQDMPR-3.1.7.3.2-19")
class QueueManagerSearchForLastMessageFindsNewest(MessageSearch):
    """A search for the last message of a queue finds the message that arrived last instead of the message at the end of
    the queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        available = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
        if lookup_action is MessageSeekAction.LAST and available:
            return Status.MQ_OK, max(available, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-backward-search-follows-lookup-identifiers", breaks="MQDMPR-3.1.7.3.2-21")
class QueueManagerBackwardSearchFollowsLookupIdentifiers(MessageSearch):
    """A search for the message before a given message returns the message with the next lower LookupIdentifier instead
    of the preceding message of the queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        lower = [
            one
            for one in queue.MessagePositionList
            if one.LookupIdentifier < lookup_id and self.is_message_readable(one, peek_operation)
        ]
        if lookup_action is MessageSeekAction.PREVIOUS and lower:
            return Status.MQ_OK, max(lower, key=lambda one: one.LookupIdentifier)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-backward-search-stops-at-higher-priority", breaks="MQDMPR-3.1.7.3.2-21", blind=True)
class QueueManagerBackwardSearchStopsAtHigherPriority(MessageSearch):
    """A backward search from a message does not reach the messages of a higher priority."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is SeekDirection.FORWARD or isinstance(initial_position, Boundary):
            return found
        return found if found.MessageReference.Priority == initial_position.MessageReference.Priority else None


@fault("queue-manager-backward-search-ends-at-second-locked-message", breaks="MQDMPR-3.1.7.3.2-22")
class QueueManagerBackwardSearchEndsAtSecondLockedMessage(MessageSearch):
    """A backward search skips one locked message, but ends without a message at a second locked message."""

    @faulty_only_if(
        lambda part, initial_position, peek_operation, seek_direction=SeekDirection.FORWARD: (
            seek_direction is SeekDirection.BACKWARD
        )
    )
    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        return None if _does_search_pass_two_unavailable_messages(initial_position, False, found) else found


@fault("backward-search-skips-only-one-locked-message", breaks="MQDMPR-3.1.7.3.2-22")
class BackwardSearchSkipsOnlyOneLockedMessage(MessageSearch):
    """A backward search that passes two unavailable messages in a row ends without a message."""

    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        found = super().seek_available(initial_position, peek_operation, seek_direction)
        if found is None or seek_direction is SeekDirection.FORWARD:
            return found
        first, second = found.Next, getattr(found.Next, "Next", None)
        unread = [one for one in (first, second) if one is not initial_position and not isinstance(one, Boundary)]
        states = [one.State for one in unread if one is not None]
        return None if len(states) == 2 and MessagePositionState.AVAILABLE not in states else found


@fault("queue-manager-backward-receive-finds-locked-message", breaks="MQDMPR-3.1.7.3.2-26")
class QueueManagerBackwardReceiveFindsLockedMessage(MessageSearch):
    """A receive that searches backward finds a message that a transaction has locked."""

    @faulty_only_if(
        lambda part, initial_position, peek_operation, seek_direction=SeekDirection.FORWARD: (
            seek_direction is SeekDirection.BACKWARD and not peek_operation
        )
    )
    def seek_available(
        self, initial_position: Entry, peek_operation: bool, seek_direction: SeekDirection = SeekDirection.FORWARD
    ) -> MessagePosition | None:
        entry = initial_position.Previous
        if entry is not None and not isinstance(entry, Boundary) and entry.State is MessagePositionState.LOCKED:
            return entry
        return super().seek_available(initial_position, peek_operation, seek_direction)


@fault("backward-search-finds-purge-pending-message", breaks="MQDMPR-3.1.7.3.2-26")
class BackwardSearchFindsPurgePendingMessage(MessageSearch):
    """A backward search finds a message that was purged while it was locked."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_message_readable(position, peek_operation) or (
            peek_operation and position.State is MessagePositionState.PURGE_PENDING
        )
