"""Fault of MS-MQQP 3.1.4.2: a client repeats a failed RemoteQMEndReceive."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import Ack

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


@fault("client-failed-end-receive-repeated", breaks="MQQP-3.1.4.2-04")
class ClientFailedEndReceiveRepeated(ClientReading):
    """The client calls RemoteQMEndReceive again if the call returned a failure."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        try:
            yield from super().end_receive(entry, ack)
        except RemoteError:
            yield from super().end_receive(entry, ack)
