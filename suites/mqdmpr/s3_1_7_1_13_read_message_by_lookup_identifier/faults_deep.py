"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier that only special cases reveal: other actions, and
the order of operations.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, only_if
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Answered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction

NEIGHBOR_ACTIONS = (MessageSeekAction.NEXT, MessageSeekAction.PREVIOUS)


@fault("queue-manager-lookup-from-another-message-leaves-transaction-out", breaks="MQDMPR-3.1.7.1.13-25")
class QueueManagerLookupFromAnotherMessageLeavesTransactionOut(Reading):
    """A receive of the next or previous message by LookupIdentifier takes effect at once, even in a transaction."""

    @only_if(lambda part, queue_desc, lookup_id, lookup_operation, *more, **named: lookup_operation in NEIGHBOR_ACTIONS)
    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, None
        )


@fault("queue-manager-lookup-operation-before-earlier-operations", breaks="MQDMPR-3.1.7.1.13-29")
class QueueManagerLookupOperationBeforeEarlierOperations(Reading):
    """The operation of a receive by LookupIdentifier precedes the earlier operations of its transaction."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        known = 0 if transaction is None else len(transaction.TransactionalOperationCollection)
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )
        if transaction is not None and len(transaction.TransactionalOperationCollection) > known:
            operations = transaction.TransactionalOperationCollection
            operations.insert(0, operations.pop())


@fault("queue-manager-lookup-finds-message-of-other-queue", breaks="MQDMPR-3.1.7.1.13-09")
class QueueManagerLookupFindsMessageOfOtherQueue(Seeking):
    """A read by LookupIdentifier also finds messages of other queues."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.adm.QueueCollection.values():
                if other.MessagePositionList.find(lookup_id) is not None:
                    queue = other
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-lookup-receive-back-after-restart", breaks="MQDMPR-3.1.7.1.13-34", blind=True)
class QueueManagerLookupReceiveBackAfterRestart(Reading):
    """After a restart, the queue manager restores a message that was received by LookupIdentifier."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and transaction is None and not peek_operation and not two_phase_read:
            for one in queue.MessagePositionList:
                one.key = 0
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-peek-of-last-removes-it", breaks="MQDMPR-3.1.7.1.13-02", blind=True)
class QueueManagerPeekOfLastRemovesIt(Reading):
    """A peek at the last message by LookupIdentifier removes the message."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        peek = peek_operation and lookup_operation is not MessageSeekAction.LAST
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek, two_phase_read, transaction
        )


@fault("queue-manager-lookup-in-subqueue-leaves-transaction-out", breaks="MQDMPR-3.1.7.1.13-25", blind=True)
class QueueManagerLookupInSubqueueLeavesTransactionOut(Reading):
    """A receive by LookupIdentifier from a subqueue takes effect at once, even in a transaction."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if queue is not None and queue.parent is not None:
            transaction = None
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-moves-cursor-of-its-handle", breaks="MQDMPR-3.1.7.1.13-16", blind=True)
class QueueManagerLookupMovesCursorOfItsHandle(Reading):
    """A read by LookupIdentifier through a handle moves the cursors of the handle to the message."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: Answered,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        def move(status: Status, position: MessagePosition | None) -> None:
            if position is not None and peek_operation:
                for cursor in queue_desc.CursorCollection.values():
                    self.qm.cursors.message_available(cursor, position)
            answered(status, position)

        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, move, peek_operation, two_phase_read, transaction
        )


@fault("queue-manager-lookup-receive-loses-application-tag", breaks="MQDMPR-3.1.7.1.13-38")
class QueueManagerLookupReceiveLosesApplicationTag(Reading):
    """A receive by LookupIdentifier returns the message without its application tag."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        if position is not position.QueueReference.MessagePositionList.Head or transaction is not None:
            position.MessageReference = replace(position.MessageReference, AppSpecific=0)
        super().take_message_out(position, transaction, two_phase_read, answered)
