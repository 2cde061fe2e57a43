"""Faults that break rules of MS-MQDMPR 3.1.7.1.20 Read Directory, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import PrivateName
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.model.statuses import Status


@fault("queue-manager-offline-own-object-of-unknown-private-queue-not-found", breaks="MQDMPR-3.1.7.1.20-17", blind=True)
class QueueManagerOfflineOwnObjectOfUnknownPrivateQueueNotFound(QueuePaths):
    """While the directory is offline, the queue manager finds its own object only through a queue of its data model, so
    that it does not find the object for the private format name of an unknown queue.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        own = name.ComputerGuid == self.qm.adm.Identifier
        unknown = own and self.qm.queue_names.find_queue_by_format_name(name) is None
        if unknown and self.qm.enterprise.state.DirectoryOffline:
            return QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        return super()._find_computer_of_private_queue(name)
