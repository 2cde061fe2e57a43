"""Faults of MS-MQDMPR 3.1.7.1.24 Write Directory that only special cases reveal: several attributes, and several
queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


@fault("queue-manager-write-directory-first-attribute-only", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWriteDirectoryFirstAttributeOnly(Publishing):
    """The queue manager writes only the first of several changed attributes to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, dict(list(values.items())[:1]), written)


@fault("queue-manager-write-directory-base-priority-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWriteDirectoryBasePriorityOmitted(Publishing):
    """The queue manager does not write a changed BasePriority to the directory object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, {name: value for name, value in values.items() if name != "BasePriority"}, written)


@fault("queue-manager-write-directory-false-values-omitted", breaks="MQDMPR-3.1.7.1.24-03")
class QueueManagerWriteDirectoryFalseValuesOmitted(Publishing):
    """The queue manager does not write changed attributes whose value is zero, False or empty."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, {name: value for name, value in values.items() if value}, written)


@fault("queue-manager-write-directory-privacy-omitted", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class QueueManagerWriteDirectoryPrivacyOmitted(Publishing):
    """The queue manager does not write changes of Authentication, PrivacyLevel and JournalQuota to the directory
    object.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        omitted = ("Authentication", "PrivacyLevel", "JournalQuota")
        super().write(queue, {name: value for name, value in values.items() if name not in omitted}, written)


@fault("queue-manager-write-directory-first-queue-only", breaks="MQDMPR-3.1.7.1.24-03", blind=True)
class QueueManagerWriteDirectoryFirstQueueOnly(Publishing):
    """The queue manager writes a change of a public queue to the directory object of the public queue that was created
    first.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(self._list_public_queues()[0], values, written)


@fault("queue-manager-change-without-directory-kept-locally", breaks="MQDMPR-3.1.7.1.24-07", blind=True)
class QueueManagerChangeWithoutDirectoryKeptLocally(Publishing):
    """While the directory is unavailable, the queue manager refuses to change the Quota of a public queue, but uses the
    new Quota.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        def keep_quota(status: Status) -> None:
            if status is not Status.MQ_OK and "Quota" in values:
                queue.Quota = values["Quota"]
            written(status)

        super().write(queue, values, keep_quota)


@fault("empty-label-not-written-to-directory", breaks="MQDMPR-3.1.7.1.24-03")
class EmptyLabelNotWrittenToDirectory(Publishing):
    """The queue manager does not write an empty label to the directory object of a queue."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(queue, {name: value for name, value in values.items() if value != ""}, written)


@fault("write-of-queue-without-object-reported-as-done", breaks="MQDMPR-3.1.7.1.24-09")
class WriteOfQueueWithoutObjectReportedAsDone(Publishing):
    """When the directory does not contain the object of a queue, the queue manager reports that it wrote the object."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: OnStatus) -> None:
        super().write(
            queue, values, lambda status: written(Status.MQ_OK if status is Status.MQ_ERROR_QUEUE_NOT_FOUND else status)
        )
