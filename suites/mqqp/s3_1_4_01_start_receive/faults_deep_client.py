"""Faults of MS-MQQP 3.1.4.1 in a client that receives a failure."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
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


@fault("client-failure-of-other-facility-taken-as-success", breaks=tuple(FAILURE_RULE_BY_METHOD.values()))
class ClientFailureOfOtherFacilityTakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT as success if its facility is not the facility of message queuing."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and (status >> 16 & 0x7FF) == 0xE


@fault("client-failure-with-code-0-taken-as-success", breaks=tuple(FAILURE_RULE_BY_METHOD.values()))
class ClientFailureWithCode0TakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT whose code is 0 as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and bool(status & 0xFFFF)


@fault("client-read-that-timed-out-repeated", breaks=("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10"))
class ClientReadThatTimedOutRepeated(ClientReading):
    """The client repeats a read that returned MQ_ERROR_IO_TIMEOUT."""

    def _call_start(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> Sequence:
        try:
            return (yield from super()._call_start(read, method, arguments))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_IO_TIMEOUT:
                raise
        return (yield from super()._call_start(read, method, arguments))
