"""Faults of MS-MQQP 3.1.4.1, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads


@fault(
    "server-end-of-read-removes-read-of-other-queue-with-equal-request-id",
    breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"),
    blind=True,
)
class ServerEndOfReadRemovesReadOfOtherQueueWithEqualRequestId(RemoteReads):
    """When a read is finished, the server also removes the RemoteReadEntry of another queue with the same RequestId."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        for other in list(self.qm.remote.RemoteReadEntryCollection):
            if other.RequestId == entry.RequestId:
                super().remove_remote_read_entry(other)
