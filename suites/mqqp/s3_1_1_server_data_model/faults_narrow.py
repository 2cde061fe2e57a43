"""Faults of MS-MQQP 3.1.1.3 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.rpc import Call


@fault("server-purge-forgets-waiting-reads", breaks="MQQP-3.1.1.3-01", blind=True)
class ServerPurgeForgetsWaitingReads(RemoteOpening):
    """After a purge of a queue, RemoteQMCancelReceive does not find the reads that wait through the handle of the
    purge.
    """

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for entry in self.qm.remote.RemoteReadEntryCollection.of(call.arguments["hQueue"]):
            self.qm.remote.RemoteReadEntryCollection.remove(entry)
