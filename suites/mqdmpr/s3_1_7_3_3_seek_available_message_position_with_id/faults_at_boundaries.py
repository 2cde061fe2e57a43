"""Faults of searches by LookupIdentifier at the ends of the queue, at locked messages and between priorities."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

FIRST, PREVIOUS, CURRENT = MessageSeekAction.FIRST, MessageSeekAction.PREVIOUS, MessageSeekAction.CURRENT
NEXT, LAST = MessageSeekAction.NEXT, MessageSeekAction.LAST
StatusAndFoundPosition = tuple[Status, MessagePosition | None]


class LookupSearchResultChanger(MessageSearch):
    """A part of the queue manager that changes the result of some searches by LookupIdentifier; a subclass selects
    which.
    """

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        raise NotImplementedError

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndFoundPosition:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        return self.change_search_result(queue, lookup_id, peek_operation, lookup_action, found)


@fault("queue-manager-search-for-last-message-fails-in-queue-of-one-message", breaks="MQDMPR-3.1.7.3.3-03", blind=True)
class QueueManagerSearchForLastMessageFailsInQueueOfOneMessage(LookupSearchResultChanger):
    """A search for the last message of a queue with one message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        if action is LAST and len(queue.MessagePositionList) == 1:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return found


@fault("queue-manager-search-for-previous-message-misses-first-message", breaks="MQDMPR-3.1.7.3.3-03", blind=True)
class QueueManagerSearchForPreviousMessageMissesFirstMessage(LookupSearchResultChanger):
    """A search for the previous message returns MQ_ERROR_MESSAGE_NOT_FOUND if this message is the first."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        if action is PREVIOUS and found[1] is not None and found[1] is queue.MessagePositionList.Head:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return found


class LookupIdentifierMasker(MessageSearch):
    """A part of the queue manager that compares only some bits of LookupIdentifiers; a subclass selects which."""

    mask = 0

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndFoundPosition:
        if lookup_action is CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for one in queue.MessagePositionList:
                if not (one.LookupIdentifier ^ lookup_id) & self.mask:
                    lookup_id = one.LookupIdentifier
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-high-byte-of-lookup-identifier-ignored", breaks="MQDMPR-3.1.7.3.3-04", blind=True)
class QueueManagerHighByteOfLookupIdentifierIgnored(LookupIdentifierMasker):
    """A search compares only the seven low bytes of the LookupIdentifier."""

    mask = (1 << 56) - 1


@fault("queue-manager-middle-bytes-of-lookup-identifier-ignored", breaks="MQDMPR-3.1.7.3.3-04", blind=True)
class QueueManagerMiddleBytesOfLookupIdentifierIgnored(LookupIdentifierMasker):
    """A search compares only the high byte and the four low bytes of the LookupIdentifier."""

    mask = 0xFF000000FFFFFFFF


@fault("queue-manager-search-for-first-message-ignores-priority", breaks="MQDMPR-3.1.7.3.3-15", blind=True)
class QueueManagerSearchForFirstMessageIgnoresPriority(LookupSearchResultChanger):
    """A search for the first message returns the message that arrived first, even if its priority is lower."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        if action is FIRST and found[1] is not None:
            readable = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek)]
            return Status.MQ_OK, min(readable, key=lambda one: one.order)
        return found


@fault("queue-manager-search-for-first-behind-locked-messages-fails", breaks="MQDMPR-3.1.7.3.3-15", blind=True)
class QueueManagerSearchForFirstBehindLockedMessagesFails(LookupSearchResultChanger):
    """A search for the first message returns MQ_ERROR_MESSAGE_NOT_FOUND if the first two messages are locked."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        states = [one.State for one in queue.MessagePositionList][:2]
        if action is FIRST and states == [MessagePositionState.LOCKED] * 2:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return found


def _get_message_priority(position: MessagePosition | None) -> int | None:
    return None if position is None else position.MessageReference.Priority


@fault("queue-manager-search-for-previous-only-within-priority", breaks="MQDMPR-3.1.7.3.3-17", blind=True)
class QueueManagerSearchForPreviousOnlyWithinPriority(LookupSearchResultChanger):
    """A search for the previous message finds no message of another priority."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if action is PREVIOUS and found[1] is not None and _get_message_priority(at) != _get_message_priority(found[1]):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return found


@fault("queue-manager-search-for-message-before-locked-one-begins-at-end", breaks="MQDMPR-3.1.7.3.3-17", blind=True)
class QueueManagerSearchForMessageBeforeLockedOneBeginsAtEnd(MessageSearch):
    """If the message with the passed LookupIdentifier is locked, a search for the previous message begins at the
    end.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if lookup_action is PREVIOUS and at is not None and at.State is MessagePositionState.LOCKED:
            lookup_action = LAST
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-search-for-next-only-within-priority", breaks="MQDMPR-3.1.7.3.3-41", blind=True)
class QueueManagerSearchForNextOnlyWithinPriority(LookupSearchResultChanger):
    """A search for the next message finds no message of another priority."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if action is NEXT and found[1] is not None and _get_message_priority(at) != _get_message_priority(found[1]):
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return found


@fault("queue-manager-search-for-message-after-locked-one-begins-at-start", breaks="MQDMPR-3.1.7.3.3-41", blind=True)
class QueueManagerSearchForMessageAfterLockedOneBeginsAtStart(MessageSearch):
    """If the message with the passed LookupIdentifier is locked, a search for the next message begins at the start."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if lookup_action is NEXT and at is not None and at.State is MessagePositionState.LOCKED:
            lookup_action = FIRST
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-peek-at-purged-message-returns-already-received", breaks="MQDMPR-3.1.7.3.3-39", blind=True)
class QueueManagerPeekAtPurgedMessageReturnsAlreadyReceived(LookupSearchResultChanger):
    """A peek at a message that was locked when its queue was purged returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if action is CURRENT and peek and at is not None and at.State is MessagePositionState.PURGE_PENDING:
            return Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, None
        return found


@fault("queue-manager-peek-at-purged-message-returns-transaction-usage", breaks="MQDMPR-3.1.7.3.3-39", blind=True)
class QueueManagerPeekAtPurgedMessageReturnsTransactionUsage(LookupSearchResultChanger):
    """A peek at a message that a transaction had received when its queue was purged returns
    MQ_ERROR_TRANSACTION_USAGE.
    """

    def change_search_result(
        self, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction, found: StatusAndFoundPosition
    ) -> StatusAndFoundPosition:
        at = queue.MessagePositionList.find(lookup_id)
        if action is CURRENT and peek and at is not None and at.State is MessagePositionState.PURGE_PENDING:
            for transaction in self.qm.adm.TransactionCollection.values():
                if any(one.MessagePositionReference is at for one in transaction.TransactionalOperationCollection):
                    return Status.MQ_ERROR_TRANSACTION_USAGE, None
        return found
