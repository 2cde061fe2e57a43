"""Faults that break rules of MS-MQQP 3.1.4.6 for reads of other queues and for some servers."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_always_on_same_context
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.statuses import Status

_NDR_CONTEXT_ID = 0


@fault("server-cancel-receive-cancels-same-request-id-of-other-queue", breaks="MQQP-3.1.4.6-08", blind=True)
class ServerCancelReceiveCancelsSameRequestIdOfOtherQueue(RemoteReadEnding):
    """The server cancels the waiting read of another queue with the given dwRequestID if the queue that hQueue
    identifies has only waiting reads with other numbers.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if status is not Status.MQ_ERROR:
            return status, found
        entries = self.qm.remote.RemoteReadEntryCollection
        found = next((entry for entry in entries if entry.RequestId == request_id), None)
        return (status if found is None else Status.MQ_OK), found


add(
    "client-cancel-receive-context-of-ndr-although-refused",
    "MQQP-3.1.4.6-04",
    "The client calls RemoteQMCancelReceive on the presentation context for NDR, although the server has accepted only "
    "the context for NDR64.",
    call_always_on_same_context("RemoteQMCancelReceive", _NDR_CONTEXT_ID),
    blind=True,
)
