"""Faults that break rules of MS-MQDMPR 3.1.7.1.26 Get Queue Path, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import PublicName
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.model.statuses import Status


@fault("queue-manager-path-of-own-public-queue-not-read-from-directory", breaks="MQDMPR-3.1.7.1.26-13", blind=True)
class QueueManagerPathOfOwnPublicQueueNotReadFromDirectory(QueuePaths):
    """The queue manager takes the path name of its own public queue from its model and does not query the directory."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        queue = self.qm.adm.QueueCollection.find_public_queue(name.QueueGuid)
        if queue is None:
            return super()._find_path_of_public_queue(name)
        computer = self.qm.enterprise.state.LocalQueueManager.ComputerName or ""
        return QueuePathResult(Status.MQ_OK, f"{computer}\\{queue.Pathname}", computer)
