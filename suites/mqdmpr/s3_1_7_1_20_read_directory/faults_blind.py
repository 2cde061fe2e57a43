"""Faults of MS-MQDMPR 3.1.7.1.20, by an author who had not seen the checks."""

from __future__ import annotations

from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec.format_names import PublicName
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.statuses import Status

_KNOWN_PATHS: WeakKeyDictionary[QueueManager, dict[UUID, QueuePathOf]] = WeakKeyDictionary()


@fault("offline-queue-manager-finds-remote-queue-read-before", breaks="MQDMPR-3.1.7.1.20-11", blind=True)
class OfflineQueueManagerFindsRemoteQueueReadBefore(QueuePaths):
    """While the directory is offline, the queue manager finds a remote queue whose directory object it read earlier."""

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        seen = _KNOWN_PATHS.setdefault(self.qm, {})
        found = super()._path_of_public(name)
        if found.rStatus is Status.MQ_OK:
            seen[name.QueueGuid] = found
        elif self.qm.enterprise.state.DirectoryOffline:
            return seen.get(name.QueueGuid, found)
        return found
