"""Faults of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound, change_answer_values, error_for_success
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

add(
    "client-purge-queue-on-unknown-context",
    "MQQP-3.1.4.7-02",
    "The client calls RemoteQMPurgeQueue on a presentation context that the server did not accept.",
    call_unbound("RemoteQMPurgeQueue"),
)


@fault("server-purge-queue-success-returns-error", breaks=("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"))
class ServerPurgeQueueSuccessReturnsError(RemoteOpening):
    """RemoteQMPurgeQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(change_answer_values(call, Return=error_for_success), now)


def _return_success(status: int) -> int:
    return Status.MQ_OK


@fault("server-purge-queue-error-returns-success", breaks="MQQP-3.1.4.7-03")
class ServerPurgeQueueErrorReturnsSuccess(RemoteOpening):
    """RemoteQMPurgeQueue returns MQ_OK for a queue that the server cannot purge."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(change_answer_values(call, Return=_return_success), now)


@fault(
    "server-purge-queue-unopened-queue-accepted",
    breaks=("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06"),
)
class ServerPurgeQueueUnopenedQueueAccepted(RemoteOpening):
    """RemoteQMPurgeQueue purges a queue that RemoteQMOpenQueue has not opened."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is None or descriptor.QueueReference is None:
            super().remote_qm_purge_queue(call, now)
        else:
            self.purge_remote_queue(call, descriptor.QueueReference)


@fault("server-purge-queue-purges-every-queue", breaks="MQQP-3.1.4.7-09")
class ServerPurgeQueuePurgesEveryQueue(RemoteOpening):
    """RemoteQMPurgeQueue purges every queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for other in self.qm.adm.QueueCollection.values():
            if other is not queue:
                self.qm.queues.purge(other, None, lambda number: Result())
        super().purge_remote_queue(call, queue)


@fault(
    "server-purge-queue-leaves-messages",
    breaks=(
        "MQQP-3.1.4.7-10",
        "MQQP-3.1.4.7-D01",
    ),
)
class ServerPurgeQueueLeavesMessages(RemoteOpening):
    """RemoteQMPurgeQueue returns MQ_OK and leaves the messages in the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        self.qm.remote.note(call.respond(Return=Status.MQ_OK))


@fault("server-purge-queue-removes-highest-priority-only", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"))
class ServerPurgeQueueRemovesHighestPriorityOnly(RemoteOpening):
    """RemoteQMPurgeQueue removes only the messages of the highest priority."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        positions = list(queue.MessagePositionList)
        highest = max((one.MessageReference.Priority for one in positions), default=0)
        kept = [one.MessageReference for one in positions if one.MessageReference.Priority < highest]
        if not kept:
            super().purge_remote_queue(call, queue)
            return
        for one in positions:
            if one.MessageReference not in kept:
                queue.MessagePositionList.remove(one)
        self.qm.remote.note(call.respond(Return=Status.MQ_OK))


def _undo_pending_purge(position: MessagePosition) -> None:
    if position.State is MessagePositionState.PURGE_PENDING:
        position.State = MessagePositionState.LOCKED


@fault(
    "server-nack-restores-purged-message",
    breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10", "MQQP-3.1.4.2-12", "MQDMPR-3.1.7.1.7-05"),
)
class ServerNackRestoresPurgedMessage(TwoPhaseReading):
    """RemoteQMEndReceive with RR_NACK returns a purged message to the queue."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        _undo_pending_purge(position)
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
