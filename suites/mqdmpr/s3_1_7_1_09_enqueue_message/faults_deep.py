"""Faults of MS-MQDMPR 3.1.7.1.9 Enqueue Message that only special cases show: messages of open transactions, and
identifiers.
"""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.message import Message
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus, Status


@fault("queue-manager-search-for-last-finds-message-of-open-transaction", breaks="MQDMPR-3.1.7.1.9-17")
class UncommittedFoundLast(Seeking):
    """A read of the last message of a queue returns this message even if an open transaction has sent it."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        last = list(queue.MessagePositionList)[-1:]
        if lookup_action is MessageSeekAction.LAST and last and last[0].State is MessagePositionState.LOCKED:
            return Status.MQ_OK, last[0]
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-sequential-id-not-incremented-for-transactional-message", breaks="MQDMPR-3.1.7.1.9-10")
class TransactionalNotCounted(Positions):
    """The queue manager does not increment its SequentialID for a transactional message."""

    def assign_lookup_identifier(self, message: Message) -> int:
        before = self.qm.adm.SequentialID
        identifier = super().assign_lookup_identifier(message)
        if message.TransactionIdentifier is not None:
            self.qm.adm.SequentialID = before
        return identifier


def _forget_sizes(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.MessagePositionList.TotalBytes = 0


add(
    "queue-manager-messages-before-restart-do-not-count-for-quota",
    "MQDMPR-3.1.7.1.9-07",
    "After a restart, the messages that a queue already contains do not count towards the Quota of the queue.",
    at_restart(_forget_sizes),
)


@fault("queue-manager-own-quota-compared-with-single-queue", breaks="MQDMPR-3.1.7.1.9-04")
class QuotaOfSingleQueue(Quotas):
    """The queue manager compares QueueManagerQuota with the total size of the messages of only one queue."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        storage = queue.MessagePositionList.storage
        used, storage.used = storage.used, queue.MessagePositionList.TotalBytes
        status = super().check(queue, message)
        storage.used = used
        return status
