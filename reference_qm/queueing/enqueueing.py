"""Putting messages into queues. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.27."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.queueing.statuses import EnqueueStatus

if TYPE_CHECKING:
    from reference_qm.adm import Message, MessagePosition, Queue
    from reference_qm.clock import Now
    from reference_qm.core import QueueManager


def admit_message(qm: QueueManager, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
    """Tell whether a queue takes a message now. Spec: MS-MQDMPR 3.1.7.1.9.

    No step is printed for a message that timed out in transit, only the status and the CURRENT_TIME that it would need:
    it is one whose TimeToReachQueue is over, counted as MS-MQQB 3.1.7.1.2 does.
    """
    status: EnqueueStatus = qm.procedures.check_quota(qm, queue, message)
    if status is EnqueueStatus.NO_ERROR and now.utc_s - message.SentTime > message.TimeToReachQueue:
        return EnqueueStatus.TIMED_OUT
    return status


def enqueue_message(
    qm: QueueManager, queue: Queue, message: Message, now: Now
) -> tuple[EnqueueStatus, MessagePosition | None]:
    """Put a message into a local queue, not to be received yet; None when it is refused. Spec: MS-MQDMPR 3.1.7.1.9.

    It is available when whoever enqueued it says so: when it is on disk, or when its transaction commits.
    """
    status = qm.procedures.admit_message(qm, queue, message, now)
    if status is not EnqueueStatus.NO_ERROR:
        return status, None
    return status, qm.procedures.insert_message(qm, queue, replace(message, ArrivalTime=now.utc_s))
