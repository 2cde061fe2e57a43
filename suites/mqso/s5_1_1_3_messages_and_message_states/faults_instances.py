"""Faults that break rules of MS-MQSO 4.3.1.2 and 5.1.1.3 for some reads or messages only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import EnqueueStatus, Status


@fault("queue-manager-lookup-shows-message-received-in-transaction", breaks="MQSO-4.3.1.2-D06")
class QueueManagerLookupShowsMessageReceivedInTransaction(Seeking):
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
class QueueManagerSecondMessageReceivedInTransactionVisible(Seeking):
    """A transaction hides only the first of the messages that it has received."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        readable = super().is_readable(position, peek_operation)
        if readable or not peek_operation or position.State is not MessagePositionState.LOCKED:
            return readable
        return any(
            one.MessagePositionReference is position
            for transaction in self.qm.adm.TransactionCollection.values()
            for one in transaction.TransactionalOperationCollection[1:]
        )


@fault("queue-manager-over-quota-recoverable-message-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerOverQuotaRecoverableMessageStored(Quotas):
    """The queue manager stores a recoverable message although the quota of the queue is exceeded."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        exceeded = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if exceeded and recoverable else status


@fault("queue-manager-second-over-quota-message-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerSecondOverQuotaMessageStored(Quotas):
    """The queue manager stores a second message that exceeds the quota of a queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        if status is EnqueueStatus.NO_ERROR:
            return status
        refused: set[Queue] = self.__dict__.setdefault("refused", set())
        again = queue in refused
        refused.add(queue)
        return EnqueueStatus.NO_ERROR if again else status


@fault("queue-manager-over-quota-message-in-transaction-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerOverQuotaMessageInTransactionStored(Quotas):
    """The queue manager stores a transactional message although the quota of the queue is exceeded."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        return EnqueueStatus.NO_ERROR if queue.Transactional else status
