"""Faults that break rules of MS-MQDMPR 3.1.7.1.20 Read Directory."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec.format_names import PrivateName, PublicName
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths
from reference_qm.core.part import QM
from reference_qm.model.statuses import Status


@fault("queue-manager-offline-finds-public-queue-it-read-before", breaks="MQDMPR-3.1.7.1.20-09", blind=True)
class QueueManagerOfflineFindsPublicQueueItReadBefore(QueuePaths):
    """While the directory is offline, the queue manager finds a public queue of another computer that it has read
    before.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.read_before: dict[UUID, QueuePathOf] = {}

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        found = super()._path_of_public(name)
        if found.rStatus is Status.MQ_OK:
            self.read_before[name.QueueGuid] = found
        elif self.qm.enterprise.state.DirectoryOffline:
            return self.read_before.get(name.QueueGuid, found)
        return found


@fault("queue-manager-offline-own-object-only-for-known-queue", breaks="MQDMPR-3.1.7.1.20-17", blind=True)
class QueueManagerOfflineOwnObjectOnlyForKnownQueue(QueuePaths):
    """While the directory is offline, the queue manager does not find its own object for a private format name whose
    queue it does not have.
    """

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        known = self.qm.queue_names.find_by_format_name(name) is not None
        if self.qm.enterprise.state.DirectoryOffline and not known:
            return QueuePathOf(Status.MQ_ERROR_ILLEGAL_FORMATNAME)
        return super()._path_of_private(name)
