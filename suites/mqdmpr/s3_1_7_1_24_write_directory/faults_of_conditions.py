"""Faults that break the rule MQDMPR-3.1.7.1.24-05 only under certain conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.inputs import DirectoryAnswered


@fault("queue-manager-online-after-failed-write-of-transactional-queue", breaks="MQDMPR-3.1.7.1.24-05", blind=True)
class QueueManagerOnlineAfterFailedWriteOfTransactionalQueue(PublicQueuePublishing):
    """The queue manager does not set DirectoryOffline when the directory cannot be reached for a write of a
    transactional queue.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        state = self.qm.enterprise.state
        was_offline = state.DirectoryOffline

        def restore_directory_offline(status: Status) -> None:
            if queue.Transactional:
                state.DirectoryOffline = was_offline
            written(status)

        super().write(queue, values, restore_directory_offline)


@fault("queue-manager-online-after-failed-write-of-several-attributes", breaks="MQDMPR-3.1.7.1.24-05", blind=True)
class QueueManagerOnlineAfterFailedWriteOfSeveralAttributes(PublicQueuePublishing):
    """The queue manager does not set DirectoryOffline when the directory cannot be reached for a write of several
    attributes.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        state = self.qm.enterprise.state
        was_offline = state.DirectoryOffline

        def restore_directory_offline(status: Status) -> None:
            if len(values) > 1:
                state.DirectoryOffline = was_offline
            written(status)

        super().write(queue, values, restore_directory_offline)


@fault("queue-manager-online-after-failed-write-behind-successful-write", breaks="MQDMPR-3.1.7.1.24-05", blind=True)
class QueueManagerOnlineAfterFailedWriteBehindSuccessfulWrite(DirectoryLink):
    """The queue manager does not set DirectoryOffline when the directory cannot be reached for a write, if an earlier
    write succeeded.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.succeeded = False

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        state = self.qm.enterprise.state
        was_offline = state.DirectoryOffline

        def report_answer(answer: DirectoryAnswered) -> None:
            if isinstance(change, DirectoryWriteRequest) and self.succeeded:
                state.DirectoryOffline = was_offline
            self.succeeded = self.succeeded or (
                isinstance(change, DirectoryWriteRequest) and not state.DirectoryOffline
            )
            answered(answer)

        super().write(change, report_answer)
