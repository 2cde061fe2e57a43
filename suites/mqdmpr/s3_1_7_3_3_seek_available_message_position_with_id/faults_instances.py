"""Faults that break rules of MS-MQDMPR 3.1.7.3.3 only for some messages, reads or states of the queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_3_3_seek_available_message_position_with_id.fault_steps import (
    SearchResult,
    does_found_message_have_other_priority,
)


@fault("queue-manager-second-lookup-of-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-03")
class QueueManagerSecondLookupOfMessageReturnsAlreadyReceived(MessageSearch):
    """A search by LookupIdentifier returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED if an earlier search found the same
    message.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        found: set[MessagePosition] = self.__dict__.setdefault("found", set())
        if position is None:
            return status, None
        again = position in found
        found.add(position)
        return (Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED if again else status), position


@fault("queue-manager-lookup-from-locked-message-returns-transaction-usage", breaks="MQDMPR-3.1.7.3.3-03")
class QueueManagerLookupFromLockedMessageReturnsTransactionUsage(MessageSearch):
    """A peek at the message after or before a locked message returns the correct message, but with the status
    MQ_ERROR_TRANSACTION_USAGE.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        locked = start is not None and start.State is MessagePositionState.LOCKED
        return (Status.MQ_ERROR_TRANSACTION_USAGE if locked else status), position


@fault("queue-manager-receive-of-next-message-receives-current", breaks="MQDMPR-3.1.7.3.3-08")
class QueueManagerReceiveOfNextMessageReceivesCurrent(MessageSearch):
    """A receive of the next message removes the message with the passed LookupIdentifier instead. A peek at the next
    message returns the correct message.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        if lookup_action is MessageSeekAction.NEXT and not peek_operation:
            lookup_action = MessageSeekAction.CURRENT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-second-search-repeats-lookup-action-of-first-search", breaks="MQDMPR-3.1.7.3.3-08")
class QueueManagerSecondSearchRepeatsLookupActionOfFirstSearch(MessageSearch):
    """A second search with the same LookupIdentifier uses the action of the first search."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        actions: dict[int, MessageSeekAction] = self.__dict__.setdefault("actions", {})
        if lookup_id in actions and lookup_action not in (MessageSeekAction.FIRST, MessageSeekAction.LAST):
            lookup_action = actions[lookup_id]
        actions[lookup_id] = lookup_action
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-receive-of-last-message-receives-first", breaks="MQDMPR-3.1.7.3.3-08")
class QueueManagerReceiveOfLastMessageReceivesFirst(MessageSearch):
    """A receive of the last message removes the first message instead. A peek at the last message returns the correct
    message.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        if lookup_action is MessageSeekAction.LAST and not peek_operation:
            lookup_action = MessageSeekAction.FIRST
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-for-first-ends-at-lower-priority", breaks="MQDMPR-3.1.7.3.3-10")
class QueueManagerSearchForFirstEndsAtLowerPriority(MessageSearch):
    """If the first message of the queue is locked, a search for the first message finds no message of another
    priority.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        head = queue.MessagePositionList.Head
        if lookup_action is MessageSeekAction.FIRST and does_found_message_have_other_priority(head, position):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return status, position


@fault("queue-manager-search-for-first-skips-unlocked-message", breaks="MQDMPR-3.1.7.3.3-15")
class QueueManagerSearchForFirstSkipsUnlockedMessage(MessageSearch):
    """A search for the first message skips a message that an earlier search found locked, although the message is
    available again.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is not MessageSeekAction.FIRST:
            return status, position
        skipped: set[MessagePosition] = self.__dict__.setdefault("skipped", set())
        for one in queue.MessagePositionList:
            if one.State is MessagePositionState.LOCKED:
                skipped.add(one)
        if position is not None and position in skipped:
            following = self.seek_available(position, peek_operation)
            return (Status.MQ_OK, following) if following else (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
        return status, position


@fault("queue-manager-receive-of-first-message-skips-peeked-message", breaks="MQDMPR-3.1.7.3.3-15")
class QueueManagerReceiveOfFirstMessageSkipsPeekedMessage(MessageSearch):
    """A receive of the first message after a peek at the first message receives the second message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is not MessageSeekAction.FIRST or position is None:
            return status, position
        peeked: set[MessagePosition] = self.__dict__.setdefault("peeked", set())
        if peek_operation:
            peeked.add(position)
        elif position in peeked:
            return Status.MQ_OK, self.seek_available(position, False) or position
        return status, position


@fault("queue-manager-search-for-previous-stays-within-priority", breaks="MQDMPR-3.1.7.3.3-22")
class QueueManagerSearchForPreviousStaysWithinPriority(MessageSearch):
    """A search for the previous message finds no message whose priority differs from that of the passed message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and does_found_message_have_other_priority(start, position):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return status, position


@fault("queue-manager-receive-of-previous-receives-first", breaks="MQDMPR-3.1.7.3.3-22")
class QueueManagerReceiveOfPreviousReceivesFirst(MessageSearch):
    """A receive of the previous message receives the first message of the queue instead of the nearest."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is MessageSeekAction.PREVIOUS and position is not None and not peek_operation:
            return Status.MQ_OK, self.seek_available(queue.MessagePositionList.Start, True)
        return status, position


@fault("queue-manager-search-for-message-before-locked-message-fails", breaks="MQDMPR-3.1.7.3.3-22")
class QueueManagerSearchForMessageBeforeLockedMessageFails(MessageSearch):
    """A search for the message before a locked message finds no message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and start and start.State is MessagePositionState.LOCKED:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-receive-of-unknown-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-26")
class QueueManagerReceiveOfUnknownMessageReturnsAlreadyReceived(MessageSearch):
    """A receive of the current message with a LookupIdentifier that no message has returns
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        current = lookup_action is MessageSeekAction.CURRENT
        if current and not peek_operation and queue.MessagePositionList.find(lookup_id) is None:
            return Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None
        return status, position


@fault("queue-manager-lookup-of-current-finds-message-of-other-queue", breaks="MQDMPR-3.1.7.3.3-24")
class QueueManagerLookupOfCurrentFindsMessageOfOtherQueue(MessageSearch):
    """A search for the current message returns a message of another queue if that message has the passed
    LookupIdentifier.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.queue_names.list_every_queue():
                position = other.MessagePositionList.find(lookup_id)
                if position is not None and self.is_message_readable(position, peek_operation):
                    return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-of-current-in-empty-queue-times-out", breaks="MQDMPR-3.1.7.3.3-26")
class QueueManagerLookupOfCurrentInEmptyQueueTimesOut(MessageSearch):
    """A search for the current message in an empty queue returns MQ_ERROR_IO_TIMEOUT."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        if lookup_action is MessageSeekAction.CURRENT and not len(queue.MessagePositionList):
            return Status.MQ_ERROR_IO_TIMEOUT, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-peek-at-received-message-returns-next-message", breaks="MQDMPR-3.1.7.3.3-37")
class QueueManagerLookupPeekAtReceivedMessageReturnsNextMessage(MessageSearch):
    """A peek at the current message returns the next message if another reader has received the current message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        start = queue.MessagePositionList.find(lookup_id)
        if (
            lookup_action is MessageSeekAction.CURRENT
            and start is not None
            and start.State is MessagePositionState.DELETED
        ):
            lookup_action = MessageSeekAction.NEXT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-peek-at-received-message-succeeds", breaks="MQDMPR-3.1.7.3.3-37")
class QueueManagerLookupPeekAtReceivedMessageSucceeds(MessageSearch):
    """A peek at a current message that another reader has received returns the message with MQ_OK."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        start = queue.MessagePositionList.find(lookup_id)
        if (
            lookup_action is MessageSeekAction.CURRENT
            and peek_operation
            and start is not None
            and start.State is MessagePositionState.DELETED
        ):
            return Status.MQ_OK, start
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-of-received-only-message-times-out", breaks="MQDMPR-3.1.7.3.3-37")
class QueueManagerLookupOfReceivedOnlyMessageTimesOut(MessageSearch):
    """If the queue is empty, a peek at a message that another reader has received returns MQ_ERROR_IO_TIMEOUT."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        start = queue.MessagePositionList.find(lookup_id)
        if (
            lookup_action is MessageSeekAction.CURRENT
            and start is not None
            and start.State is MessagePositionState.DELETED
            and not len(queue.MessagePositionList)
        ):
            return Status.MQ_ERROR_IO_TIMEOUT, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-for-last-skips-unlocked-message", breaks="MQDMPR-3.1.7.3.3-48")
class QueueManagerSearchForLastSkipsUnlockedMessage(MessageSearch):
    """A search for the last message begins before a message that an earlier search found locked, although the message
    is available again.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is not MessageSeekAction.LAST:
            return status, position
        tail = queue.MessagePositionList.Tail
        passed: set[MessagePosition] = self.__dict__.setdefault("passed", set())
        if not isinstance(tail, Boundary) and tail.State is MessagePositionState.LOCKED:
            passed.add(tail)
        if position is not None and position in passed:
            return super().seek_with_identifier(
                queue, position.LookupIdentifier, peek_operation, MessageSeekAction.PREVIOUS
            )
        return status, position


@fault("queue-manager-search-for-last-begins-at-earlier-last-message", breaks="MQDMPR-3.1.7.3.3-48")
class QueueManagerSearchForLastBeginsAtEarlierLastMessage(MessageSearch):
    """A search for the last message returns the message that an earlier search returned, although a message arrived
    behind this message.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is not MessageSeekAction.LAST or position is None:
            return status, position
        known: dict[Queue, MessagePosition] = self.__dict__.setdefault("known", {})
        if queue in known and self.is_message_readable(known[queue], peek_operation):
            return Status.MQ_OK, known[queue]
        known[queue] = position
        return status, position


@fault("queue-manager-search-for-last-stays-within-priority", breaks="MQDMPR-3.1.7.3.3-48")
class QueueManagerSearchForLastStaysWithinPriority(MessageSearch):
    """If the last message of the queue is locked, a search for the last message finds no message of another
    priority.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        tail = queue.MessagePositionList.Tail
        if lookup_action is MessageSeekAction.LAST and does_found_message_have_other_priority(tail, position):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return status, position


@fault("queue-manager-search-for-first-begins-at-earlier-first-message", breaks="MQDMPR-3.1.7.3.3-10")
class QueueManagerSearchForFirstBeginsAtEarlierFirstMessage(MessageSearch):
    """A search for the first message returns the message that an earlier search returned, although a message of a
    higher priority arrived.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is not MessageSeekAction.FIRST or position is None:
            return status, position
        known: dict[Queue, MessagePosition] = self.__dict__.setdefault("known", {})
        if queue in known and self.is_message_readable(known[queue], peek_operation):
            return Status.MQ_OK, known[queue]
        known[queue] = position
        return status, position


@fault("queue-manager-receive-of-first-message-searches-backward-from-end", breaks="MQDMPR-3.1.7.3.3-10")
class QueueManagerReceiveOfFirstMessageSearchesBackwardFromEnd(MessageSearch):
    """A search for the first message begins behind the last message and proceeds backward if it is for a receive, but
    not if it is for a peek.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        if lookup_action is MessageSeekAction.FIRST and not peek_operation:
            lookup_action = MessageSeekAction.LAST
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-receive-of-current-takes-first-message", breaks="MQDMPR-3.1.7.3.3-24")
class QueueManagerReceiveOfCurrentTakesFirstMessage(MessageSearch):
    """A receive of the current message receives the first message of the queue if the message with the passed
    LookupIdentifier is available.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is MessageSeekAction.CURRENT and position is not None and not peek_operation:
            return super().seek_with_identifier(queue, lookup_id, False, MessageSeekAction.FIRST)
        return status, position


@fault("queue-manager-second-lookup-returns-message-of-first-lookup", breaks="MQDMPR-3.1.7.3.3-24")
class QueueManagerSecondLookupReturnsMessageOfFirstLookup(MessageSearch):
    """A second search for a current message of a queue returns the message that the first search found."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        known: dict[Queue, int] = self.__dict__.setdefault("known", {})
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is not None:
            lookup_id = known.setdefault(queue, lookup_id)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
