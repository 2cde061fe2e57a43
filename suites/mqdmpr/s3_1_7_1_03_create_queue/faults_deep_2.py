"""Further faults of MS-MQDMPR 3.1.7.1.3 Create Queue: values at an edge, later queues."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import OnCreated, Queues
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.security import SecurityDescriptor, Sid


@fault("label-of-new-queue-is-cut-to-63-characters", breaks="MQDMPR-3.1.7.1.3-11")
class LabelOfNewQueueIsCutTo63Characters(Queues):
    """The queue manager stores only the first 63 characters of a supplied label."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.Label = queue.Label[:63]
        return super().create_here(queue, utc_s)


@fault("quota-of-new-queue-has-16-bits", breaks="MQDMPR-3.1.7.1.3-D01")
class QuotaOfNewQueueHas16Bits(Queues):
    """The queue manager stores only the low 16 bits of a supplied quota."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        if queue.Quota not in (None, 0xFFFFFFFF):
            queue.Quota = queue.Quota & 0xFFFF
        return super().create_here(queue, utc_s)


@fault("negative-base-priority-of-new-queue-is-zero", breaks="MQDMPR-3.1.7.1.3-D01")
class NegativeBasePriorityOfNewQueueIsZero(Queues):
    """If the creator of a queue supplies a negative BasePriority, the queue manager stores 0."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        queue.BasePriority = max(queue.BasePriority, 0)
        return super().create_here(queue, utc_s)


@fault("modify-time-of-new-queue-is-zero", breaks="MQDMPR-3.1.7.1.3-D02")
class ModifyTimeOfNewQueueIsZero(Queues):
    """The queue manager leaves ModifyTime of a new queue at 0."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_here(queue, utc_s)
        if created is not None:
            created.ModifyTime = 0
        return status, created


@fault("two-new-private-queues-share-number", breaks="MQDMPR-3.1.7.1.3-D04")
class TwoNewPrivateQueuesShareNumber(Queues):
    """The queue manager assigns the number of the previous private queue to each second private queue."""

    def _next_number(self) -> int:
        number = super()._next_number()
        return number - (number % 2)


@fault("sacl-supplied-without-dacl-is-lost", breaks="MQDMPR-3.1.7.1.3.1-09")
class SaclSuppliedWithoutDaclIsLost(Queues):
    """The queue manager keeps a supplied SACL only if the descriptor also has a DACL."""

    def create_security(self, supplied: SecurityDescriptor | None, user: Sid) -> SecurityDescriptor:
        if supplied is not None and supplied.Dacl is None:
            supplied = replace(supplied, Sacl=None)
        return super().create_security(supplied, user)


@fault("failed-directory-object-leaves-second-public-queue", breaks="MQDMPR-3.1.7.1.3-D06")
class FailedDirectoryObjectLeavesSecondPublicQueue(Queues):
    """The queue manager creates a public queue whose object the directory refuses, and returns the error."""

    def create(self, queue: Queue, utc_s: int, created: OnCreated, skip_directory: bool = False, **rest: Any) -> None:
        def create_anyway(status: Status, made: Queue | None) -> None:
            if made is None and status is not Status.MQ_ERROR_QUEUE_EXISTS:
                self.create_here(queue, utc_s)
            created(status, made)

        super().create(queue, utc_s, create_anyway, skip_directory)
