"""Faults of MS-MQQP 3.1.4.7 RemoteQMPurgeQueue."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, called_unbound, error_for_success
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
    "rpc-unbound-RemoteQMPurgeQueue",
    "MQQP-3.1.4.7-02",
    "RemoteQMPurgeQueue is called on a context that was never agreed on.",
    called_unbound("RemoteQMPurgeQueue"),
)


@fault("remote-purge-status-wrong", breaks=("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"))
class StatusWrong(RemoteOpening):
    """Success returns an error."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(answering(call, Return=error_for_success), now)


def _success_for_error(status: int) -> int:
    return Status.MQ_OK


@fault("remote-purge-always-succeeds", breaks="MQQP-3.1.4.7-03")
class AlwaysSucceeds(RemoteOpening):
    """What cannot be purged is said to have been."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_purge_queue(answering(call, Return=_success_for_error), now)


@fault(
    "remote-purge-unopened",
    breaks=("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06"),
)
class Unopened(RemoteOpening):
    """A queue is purged that RemoteQMOpenQueue has not opened."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is None or descriptor.QueueReference is None:
            super().remote_qm_purge_queue(call, now)
        else:
            self.purge_remote_queue(call, descriptor.QueueReference)


@fault("remote-purge-every-queue", breaks="MQQP-3.1.4.7-09")
class EveryQueuePurged(RemoteOpening):
    """Every queue is purged."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for other in self.qm.adm.QueueCollection.values():
            if other is not queue:
                self.qm.queues.purge(other, None, lambda number: Result())
        super().purge_remote_queue(call, queue)


@fault(
    "remote-purge-left-full",
    breaks=(
        "MQQP-3.1.4.7-10",
        "MQQP-3.1.4.7-D01",
    ),
)
class LeftFull(RemoteOpening):
    """The messages stay."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        self.qm.remote.note(call.respond(Return=Status.MQ_OK))


@fault("remote-purge-first-only", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"))
class FirstOnly(RemoteOpening):
    """Messages of the highest priority are purged, the others stay."""

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


def _as_if_it_had_not_been_purged(position: MessagePosition) -> None:
    if position.State is MessagePositionState.PURGE_PENDING:
        position.State = MessagePositionState.LOCKED


@fault(
    "remote-purge-undone-by-nack",
    breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10", "MQQP-3.1.4.2-12", "MQDMPR-3.1.7.1.7-05"),
)
class UndoneByNack(TwoPhaseReading):
    """A message that was purged while a reader had it is there again when that gives it back."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        _as_if_it_had_not_been_purged(position)
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
