"""Fault of MS-MQQP 3.1.4.6: a client cancels a read too early."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_steps import Sequence

FAILURE_RULE_BY_METHOD = {
    "RemoteQMStartReceive": "MQQP-3.1.4.1-10",
    "RemoteQMStartReceive2": "MQQP-3.1.4.10-10",
    "RemoteQMEndReceive": "MQQP-3.1.4.2-08",
    "RemoteQMOpenQueue": "MQQP-3.1.4.3-12",
    "RemoteQMCloseQueue": "MQQP-3.1.4.4-03",
    "RemoteQMCloseCursor": "MQQP-3.1.4.5-03",
    "RemoteQMCancelReceive": "MQQP-3.1.4.6-05",
    "RemoteQMPurgeQueue": "MQQP-3.1.4.7-03",
    "RemoteQMStartReceiveByLookupId": "MQQP-3.1.4.11-18",
}
"""For each method, the rule that the client treats all failures of this method alike."""


@fault("client-cancel-receive-before-read-is-sent", breaks="MQQP-3.1.4.6-03")
class ClientCancelReceiveBeforeReadIsSent(ClientCancelling):
    """The client calls RemoteQMCancelReceive for a read that it has not sent yet."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> Sequence:
        entry = self.find_pending_read(queue, request_id)
        if not entry.is_known:
            yield from self.call_cancel_receive(entry)
        yield from super().cancel_pending_read(queue, request_id)
