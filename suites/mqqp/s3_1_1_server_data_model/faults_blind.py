"""Faults of MS-MQQP 3.1.1 Server data model, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_ending import CANCELED_STATUS, RemoteEnding
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-cancel-removes-read-of-other-queue-with-same-request", breaks="MQQP-3.1.1.3-02", blind=True)
class ServerCancelRemovesReadOfOtherQueueWithSameRequest(RemoteEnding):
    """RemoteQMCancelReceive also removes the waiting reads of other queues that have the same dwRequestID."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_cancel_receive(call, now)
        for read in list(self.qm.remote.RemoteReadEntryCollection):
            if read.RequestId == call.arguments["dwRequestID"]:
                self.cancel_remote_read(read, CANCELED_STATUS)
