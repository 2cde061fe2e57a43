"""Faults of MS-MQQP 3.1.4.3 in a client that receives a failure."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.model.statuses import Status

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


@fault("client-failure-with-c-bit-taken-as-success", breaks=("MQQP-3.1.4.3-12", "MQQP-3.1.4.7-03"))
class ClientFailureWithCBitTakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT with the C bit as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and not status & 0x20000000


@fault("client-failed-open-queue-called-again", breaks="MQQP-3.1.4.3-12")
class ClientFailedOpenQueueCalledAgain(ClientOpening):
    """The client calls RemoteQMOpenQueue again if the call returned MQ_ERROR_INVALID_PARAMETER."""

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        try:
            return (yield from super().call_open_queue(queue))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_INVALID_PARAMETER:
                raise
        return (yield from super().call_open_queue(queue))
