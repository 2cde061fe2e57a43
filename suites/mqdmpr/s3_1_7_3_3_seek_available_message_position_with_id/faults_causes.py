"""Faults that break rules of MS-MQDMPR 3.1.7.3.3 only for some messages that have, or are next to, a given
LookupIdentifier.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from suites.mqdmpr.s3_1_7_3_3_seek_available_message_position_with_id.fault_steps import (
    SearchResult,
    does_found_message_have_other_priority,
)


@fault("queue-manager-receive-by-unknown-identifier-takes-next-greater", breaks="MQDMPR-3.1.7.3.3-04")
class QueueManagerReceiveByUnknownIdentifierTakesNextGreater(MessageSearch):
    """When a receive names a LookupIdentifier that no message has, the queue manager removes the message with the next
    greater identifier.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        current = lookup_action is MessageSeekAction.CURRENT
        if current and not peek_operation and queue.MessagePositionList.find(lookup_id) is None:
            greater = [one.LookupIdentifier for one in queue.MessagePositionList if one.LookupIdentifier > lookup_id]
            lookup_id = min(greater, default=lookup_id)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-of-unlocked-message-fails", breaks="MQDMPR-3.1.7.3.3-29")
class QueueManagerLookupOfUnlockedMessageFails(MessageSearch):
    """A search for the current message fails if an earlier search found this message locked, although the message is
    available again.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        found: set[MessagePosition] = self.__dict__.setdefault("found_locked", set())
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.CURRENT and start is not None:
            if start.State is MessagePositionState.LOCKED:
                found.add(start)
            elif start in found:
                return Status.MQ_ERROR_TRANSACTION_USAGE, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-of-message-behind-locked-message-fails", breaks="MQDMPR-3.1.7.3.3-29")
class QueueManagerLookupOfMessageBehindLockedMessageFails(MessageSearch):
    """A search for a current message fails while the first message of the queue is locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        head = queue.MessagePositionList.Head
        locked = isinstance(head, MessagePosition) and head.State is MessagePositionState.LOCKED
        if (
            lookup_action is MessageSeekAction.CURRENT
            and locked
            and queue.MessagePositionList.find(lookup_id) is not head
        ):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-of-second-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-35")
class QueueManagerLookupOfSecondLockedMessageReturnsNotFound(MessageSearch):
    """A peek at a current message that is locked returns MQ_ERROR_MESSAGE_NOT_FOUND if an earlier message of the queue
    is locked too.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if status is Status.MQ_ERROR_TRANSACTION_USAGE:
            locked = [one for one in queue.MessagePositionList if one.State is MessagePositionState.LOCKED]
            if locked[0] is not queue.MessagePositionList.find(lookup_id):
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return status, position


@fault("queue-manager-second-lookup-of-locked-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-35")
class QueueManagerSecondLookupOfLockedMessageReturnsAlreadyReceived(MessageSearch):
    """A second peek at a locked message returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if status is Status.MQ_ERROR_TRANSACTION_USAGE and peek_operation:
            peeked: set[int] = self.__dict__.setdefault("peeked_locked", set())
            if lookup_id in peeked:
                return Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None
            peeked.add(lookup_id)
        return status, position


@fault("queue-manager-lookup-of-purged-locked-message-returns-transaction-usage", breaks="MQDMPR-3.1.7.3.3-39")
class QueueManagerLookupOfPurgedLockedMessageReturnsTransactionUsage(MessageSearch):
    """A peek at a current message that was purged while it was locked returns MQ_ERROR_TRANSACTION_USAGE."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if position is None and start is not None and start.State is MessagePositionState.PURGE_PENDING:
            return Status.MQ_ERROR_TRANSACTION_USAGE, None
        return status, position


@fault("queue-manager-search-for-next-stays-within-priority", breaks="MQDMPR-3.1.7.3.3-46")
class QueueManagerSearchForNextStaysWithinPriority(MessageSearch):
    """A search for the next message finds no message whose priority differs from that of the passed message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.NEXT and does_found_message_have_other_priority(start, position):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return status, position


@fault("queue-manager-receive-of-next-receives-last", breaks="MQDMPR-3.1.7.3.3-46")
class QueueManagerReceiveOfNextReceivesLast(MessageSearch):
    """A receive of the next message receives the last message of the queue instead of the nearest."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if lookup_action is MessageSeekAction.NEXT and position is not None and not peek_operation:
            return super().seek_with_identifier(queue, lookup_id, False, MessageSeekAction.LAST)
        return status, position


@fault("queue-manager-search-for-message-after-locked-message-fails", breaks="MQDMPR-3.1.7.3.3-46")
class QueueManagerSearchForMessageAfterLockedMessageFails(MessageSearch):
    """A search for the message after a locked message finds no message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SearchResult:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.NEXT and start and start.State is MessagePositionState.LOCKED:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
