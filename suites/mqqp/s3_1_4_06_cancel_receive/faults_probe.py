"""Faults of MS-MQQP 3.1.4.6 RemoteQMCancelReceive, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status


@fault("server-cancelled-start-receive2-waits-on", breaks="MQQP-3.1.4.6-D01", blind=True)
class ServerCancelledStartReceive2WaitsOn(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_OK for a waiting RemoteQMStartReceive2, but this call
    continues to wait.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        if entry.call.method.name != "RemoteQMStartReceive2" or entry.cancelled:
            return super().cancel_remote_read(entry, status)
        self.qm.remote_reads.remove_remote_read_entry(entry)
        return Status.MQ_OK
