"""Faults of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.remote.remote_ending import CANCELED_STATUS
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


class _Keeping(RemoteOpening):
    def keeps(self, queue: Queue, index: int) -> bool:
        """Return whether the purge leaves the message with the given index in the queue."""
        return False

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for position in [
            one for index, one in enumerate(list(queue.MessagePositionList)) if not self.keeps(queue, index)
        ]:
            if position.State is MessagePositionState.LOCKED:
                position.State = MessagePositionState.PURGE_PENDING
            else:
                self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)
        self.qm.remote.note(call.respond(Return=Status.MQ_OK))


@fault("server-purge-queue-leaves-recoverable-messages", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesRecoverableMessages(_Keeping):
    """The server purges only the express messages of a queue."""

    def keeps(self, queue: Queue, index: int) -> bool:
        return (
            list(queue.MessagePositionList)[index].MessageReference.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        )


@fault("server-purge-queue-leaves-third-and-later-messages", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesThirdAndLaterMessages(_Keeping):
    """The server purges only the first two messages of a queue."""

    def keeps(self, queue: Queue, index: int) -> bool:
        return index >= 2


@fault("server-purge-queue-leaves-messages-of-priority-0", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeQueueLeavesMessagesOfPriority0(_Keeping):
    """The server does not purge messages of priority 0."""

    def keeps(self, queue: Queue, index: int) -> bool:
        return list(queue.MessagePositionList)[index].MessageReference.Priority == 0


@fault("server-purge-queue-of-second-handle-not-found", breaks="MQQP-3.1.4.7-05")
class ServerPurgeQueueOfSecondHandleNotFound(RemoteOpening):
    """The server refuses a purge through the second handle of a queue."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            first = next(iter(descriptor.QueueReference.OpenQueueDescriptorCollection))
            if first != call.arguments["hQueue"]:
                self.refuse_purge(call, Status.MQ_ERROR_INVALID_HANDLE)
                return
        super().remote_qm_purge_queue(call, now)


@fault("server-purge-queue-without-remote-qm-open-queue-accepted", breaks="MQQP-3.1.4.7-06")
class ServerPurgeQueueWithoutRemoteQmOpenQueueAccepted(RemoteOpening):
    """The server purges a queue that only R_QMOpenRemoteQueue has opened."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            self.purge_remote_queue(call, descriptor.QueueReference)
        else:
            super().remote_qm_purge_queue(call, now)


@fault("server-purge-queue-purges-every-open-queue", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesEveryOpenQueue(RemoteOpening):
    """The server purges every queue that a remote reader has open."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for entry in self.qm.remote.OpenQueueEntryCollection:
            other = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
            if other is not None and other.QueueReference not in (None, queue):
                assert other.QueueReference is not None
                self.qm.queues.purge(other.QueueReference, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
        super().purge_remote_queue(call, queue)


@fault("server-purge-queue-purges-subqueues", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesSubqueues(RemoteOpening):
    """The server also purges the subqueues of the purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for other in queue.SubqueueCollection.values():
            self.qm.queues.purge(other, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
        super().purge_remote_queue(call, queue)


@fault("server-purge-queue-cancels-waiting-reads", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueCancelsWaitingReads(RemoteOpening):
    """The server cancels the reads that wait on a purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            descriptor = self.qm.remote_starting.find_remote_descriptor(read.OpenQueueDescriptorHandle)
            if descriptor is not None and descriptor.QueueReference is queue:
                self.qm.remote_ending.cancel_remote_read(read, CANCELED_STATUS)


@fault("server-purge-queue-closes-cursors", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueClosesCursors(RemoteOpening):
    """The server closes the cursors of a purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for descriptor in queue.OpenQueueDescriptorCollection.values():
            descriptor.CursorCollection.clear()


@fault("server-purge-queue-of-empty-queue-returns-failure", breaks="MQQP-3.1.4.7-12")
class ServerPurgeQueueOfEmptyQueueReturnsFailure(RemoteOpening):
    """The server returns a failure for the purge of an empty queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if len(queue.MessagePositionList):
            super().purge_remote_queue(call, queue)
        else:
            self.refuse_purge(call, Status.MQ_ERROR_MESSAGE_NOT_FOUND)


@fault("server-purge-queue-with-locked-message-returns-failure", breaks=("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"))
class ServerPurgeQueueWithLockedMessageReturnsFailure(RemoteOpening):
    """If a receive from a queue is unfinished, RemoteQMPurgeQueue purges the queue but returns a failure."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        states = [one.State for one in queue.MessagePositionList]
        if MessagePositionState.LOCKED in states:
            self.qm.queues.purge(queue, None, lambda number: None, lambda: None)  # type: ignore[arg-type, return-value]
            self.refuse_purge(call, Status.MQ_ERROR)
        else:
            super().purge_remote_queue(call, queue)


@fault("server-purge-queue-with-open-receive-leaves-messages", breaks="MQQP-3.1.4.7-10")
class ServerPurgeQueueWithOpenReceiveLeavesMessages(_Keeping):
    """If a receive from a queue is unfinished, a purge leaves all messages in the queue."""

    def keeps(self, queue: Queue, index: int) -> bool:
        return any(one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList)
