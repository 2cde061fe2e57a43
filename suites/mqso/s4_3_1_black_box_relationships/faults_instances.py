"""Faults that break rules of MS-MQSO 4.3.1.2 for some reads or messages only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


@fault("queue-manager-lookup-shows-message-received-in-transaction", breaks="MQSO-4.3.1.2-D06")
class QueueManagerLookupShowsMessageReceivedInTransaction(MessageSearch):
    """A peek by LookupIdentifier outside a transaction returns a message that the transaction has received."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        current = lookup_action is MessageSeekAction.CURRENT
        if current and peek_operation and position and position.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-second-message-received-in-transaction-visible", breaks="MQSO-4.3.1.2-D06")
class QueueManagerSecondMessageReceivedInTransactionVisible(MessageSearch):
    """A transaction hides only the first of the messages that it has received."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        readable = super().is_message_readable(position, peek_operation)
        if readable or not peek_operation or position.State is not MessagePositionState.LOCKED:
            return readable
        return any(
            one.MessagePositionReference is position
            for transaction in self.qm.adm.TransactionCollection.values()
            for one in transaction.TransactionalOperationCollection[1:]
        )
