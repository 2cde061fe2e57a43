"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-second-write-of-queue-not-notified", breaks="MQDMPR-3.1.7.1.24-11", blind=True)
class QueueManagerSecondWriteOfQueueNotNotified(Publishing):
    """The queue manager raises no change notification when it writes the object of a public queue for the second time
    or later.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        def drop_repeated(status: Status) -> None:
            updates = [
                one
                for one in self.qm.enterprise.state.notifications
                if one.iOperation is ChangeOperation.QUEUE_UPDATE
                and one.iDirectoryObject.Identifier == queue.Identifier
            ]
            if status is Status.MQ_OK and len(updates) > 1:
                self.qm.enterprise.state.notifications.remove(updates[-1])
            written(status)

        super().write(queue, values, drop_repeated)
