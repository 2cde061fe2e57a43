"""Faults of MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("cancel-ends-longest-pending-read", breaks="MQDMPR-3.1.7.1.17-05")
class CancelEndsLongestPendingRead(Waiting):
    """The queue manager ignores the tag of a cancellation and ends the oldest pending read."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        waiting = (
            reader
            for descriptor in queue.OpenQueueDescriptorCollection.values()
            for reader in descriptor.WaitingMessageReadOperationCollection
        )
        first = next(waiting, None)
        return super().cancel_waiting_read(queue, tag if first is None else first.Tag or tag, status)


@fault("cancelled-read-stays-pending", breaks=("MQDMPR-3.1.7.1.17-06", "MQDMPR-3.1.7.1.17-07"))
class CancelledReadStaysPending(Waiting):
    """When a read is cancelled, the queue manager lets the read continue to wait."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        return Status.MQ_OK


@fault("successful-cancel-returns-status-not-found", breaks="MQDMPR-3.1.7.1.17-10")
class SuccessfulCancelReturnsStatusNotFound(Waiting):
    """The cancellation of a pending read returns STATUS_NOT_FOUND."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        super().cancel_waiting_read(queue, tag, status)
        return Status.STATUS_NOT_FOUND


@fault("cancel-of-unknown-request-succeeds", breaks="MQDMPR-3.1.7.1.17-11")
class CancelOfUnknownRequestSucceeds(QueueCommands):
    """The queue manager returns success for the cancellation of a request that is not pending."""

    def cancel_waiting(self, request: commands.CancelWaiting, token: int, now: Now) -> Result:
        super().cancel_waiting(request, token, now)
        return Result({"cancelled": True})
