"""Faults of MS-MQSO 5.1.1.2: deleted queues with subqueues, other deliveries, and journals that are full."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-subqueue-of-deleted-queue-returns-with-its-name", breaks="MQSO-5.1.1.2-D05")
class QueueManagerSubqueueOfDeletedQueueReturnsWithItsName(Queues):
    """When the subqueues of a deleted queue are created again, they contain the messages of the deleted subqueues."""

    def delete(self, queue: Queue, token: int | None, done: Callable[[], Result]) -> Result | None:
        kept = {name: list(one.MessagePositionList) for name, one in queue.SubqueueCollection.items()}
        self.kept = {**getattr(self, "kept", {}), queue.Pathname.lower(): kept}
        return super().delete(queue, token, done)

    def add_subqueue(self, queue: Queue, parent: Queue, name: str) -> None:
        super().add_subqueue(queue, parent, name)
        for position in getattr(self, "kept", {}).get(parent.Pathname.lower(), {}).pop(name.lower(), []):
            again = self.qm.positions.insert_message(queue, position.MessageReference)
            self.qm.positions.message_available(again)


@fault("queue-manager-express-message-not-in-source-journal", breaks="MQSO-5.1.1.2-D12")
class QueueManagerExpressMessageNotInSourceJournal(Journaling):
    """The source journal does not store express messages."""

    def journal_delivered(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_delivered(position)


@fault("queue-manager-express-message-not-in-dead-letter-queue", breaks="MQSO-5.1.1.2-D13")
class QueueManagerExpressMessageNotInDeadLetterQueue(Journaling):
    """The dead-letter queue does not store express messages."""

    def journal_failed(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_failed(position)


@fault("queue-manager-full-queue-stores-message-in-subqueue", breaks="MQSO-5.1.1.2-D02")
class QueueManagerFullQueueStoresMessageInSubqueue(Quotas):
    """A queue refuses a large message because of its quota, but stores small messages without limit."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        small = len(message.Body) < 256
        return EnqueueStatus.NO_ERROR if small and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED else status


@fault("queue-manager-resumed-queue-sends-in-other-order", breaks="MQSO-5.1.1.2-D10")
class QueueManagerResumedQueueSendsInOtherOrder(Administering):
    """A resumed outgoing queue sends only the messages that it had before the pause."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        self.before = set(map(id, queue.session.OutgoingMessageTable))
        super().pause_queue(queue, now)

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        for one in list(queue.session.OutgoingMessageTable):
            if getattr(self, "before", set()) and id(one) not in self.before:
                queue.session.OutgoingMessageTable.remove(one)
        super().resume_queue(queue, now)
