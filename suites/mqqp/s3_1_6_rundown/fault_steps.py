"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.part import QM
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding


class RundownReceiveCounter(RemoteReadEnding):
    """Count the unfinished receives of each handle that a rundown ends."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[int, int] = {}

    def count(self, entry: RemoteReadEntry) -> int:
        handle = entry.OpenQueueDescriptorHandle
        self.counts[handle] = self.counts.get(handle, 0) + 1
        return self.counts[handle]
