"""Faults of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue that concern later purges, several queues or some kinds of message."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("server-second-remote-purge-has-no-effect", breaks="MQQP-3.1.4.7-10", blind=True)
class ServerSecondRemotePurgeHasNoEffect(RemoteQueueOpening):
    """A second RemoteQMPurgeQueue of the same queue handle returns MQ_OK and removes nothing."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        purged: set[int] = self.__dict__.setdefault("purged", set())
        handle = call.arguments["hQueue"]
        if handle in purged:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            purged.add(handle)
            super().purge_remote_queue(call, queue)


@fault("server-remote-purge-keeps-express-messages", breaks="MQQP-3.1.4.7-D01", blind=True)
class ServerRemotePurgeKeepsExpressMessages(RemoteQueueOpening):
    """RemoteQMPurgeQueue leaves the express messages in the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        kept = [
            one
            for one in queue.MessagePositionList
            if one.State is MessagePositionState.AVAILABLE
            and one.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        ]
        for position in kept:
            queue.MessagePositionList.remove(position)
        super().purge_remote_queue(call, queue)
        for position in kept:
            queue.MessagePositionList.insert(position)
            position.State = MessagePositionState.AVAILABLE


@fault("server-remote-purge-stops-after-ten-messages", breaks="MQQP-3.1.4.7-D01", blind=True)
class ServerRemotePurgeStopsAfterTenMessages(RemoteQueueOpening):
    """RemoteQMPurgeQueue removes the first ten messages of the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        kept = [one for one in queue.MessagePositionList if one.State is MessagePositionState.AVAILABLE][10:]
        for position in kept:
            queue.MessagePositionList.remove(position)
        super().purge_remote_queue(call, queue)
        for position in kept:
            queue.MessagePositionList.insert(position)
            position.State = MessagePositionState.AVAILABLE


@fault("server-remote-purge-keeps-locked-message", breaks=("MQQP-3.1.4.7-10", "MQQP-3.1.4.7-D01"), blind=True)
class ServerRemotePurgeKeepsLockedMessage(QueueLifecycle):
    """A purge does not remove a message that a receive has locked, even when the receive is ended with RR_NACK."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        def restore_locked_messages(number: int) -> Result:
            for position in queue.MessagePositionList:
                if position.State is MessagePositionState.PURGE_PENDING:
                    position.State = MessagePositionState.LOCKED
            return done(number)

        return super().purge(queue, token, restore_locked_messages, failed)


@fault("server-remote-purge-purges-journal-too", breaks="MQQP-3.1.4.7-09", blind=True)
class ServerRemotePurgePurgesJournalToo(RemoteQueueOpening):
    """RemoteQMPurgeQueue also empties the journal of its queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        if queue.JournalQueueReference is not None:
            self.qm.queue_lifecycle.purge(queue.JournalQueueReference, None, lambda purged: Result())


@fault("server-remote-purge-purges-subqueues-too", breaks="MQQP-3.1.4.7-09", blind=True)
class ServerRemotePurgePurgesSubqueuesToo(RemoteQueueOpening):
    """RemoteQMPurgeQueue also empties the subqueues of its queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for subqueue in queue.SubqueueCollection.values():
            self.qm.queue_lifecycle.purge(subqueue, None, lambda purged: Result())


@fault("server-remote-purge-with-closed-handle-returns-mq-ok", breaks="MQQP-3.1.4.7-06", blind=True)
class ServerRemotePurgeWithClosedHandleReturnsMqOk(RemoteQueueOpening):
    """RemoteQMPurgeQueue returns MQ_OK for a handle that has been closed."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        known: set[int] = self.__dict__.setdefault("known", set())
        handle = call.arguments["hQueue"]
        if self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(handle):
            known.add(handle)
        elif handle in known:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
            return
        super().remote_qm_purge_queue(call, now)
