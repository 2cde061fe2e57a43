"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue


@fault("remote-cancel-another-read", breaks="MQQP-3.2.4.7-02")
class AnotherReadCancelled(ClientCancelling):
    """The read that began last is cancelled."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        return self.qm.remote_client.PendingRemoteReadEntryCollection[-1]


add(
    "remote-cancel-not-called",
    "MQQP-3.2.4.7-03",
    "RemoteQMCancelReceive is not called.",
    skip_sequence(ClientCancelling.call_cancel_receive),
)


def _one_more(parameter: str) -> Install:
    """Add one to a parameter of RemoteQMCancelReceive."""

    class OneMore(ClientCancelling):
        def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
            values = super().build_cancel_receive(entry)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OneMore)


for _name, _breaks, _parameter in (
    ("remote-cancel-other-queue", ("MQQP-3.2.4.7-04", "MQQP-3.2.4.9-03"), "hQueue"),
    ("remote-cancel-other-descriptor", ("MQQP-3.2.4.7-05",), "pQueue"),
    ("remote-cancel-other-request", ("MQQP-3.2.4.7-06", "MQQP-3.2.4.9-04"), "dwRequestID"),
):
    add(_name, _breaks, f"{_parameter} of RemoteQMCancelReceive is another number.", _one_more(_parameter))

add(
    "remote-cancel-entry-stays",
    "MQQP-3.2.4.7-07",
    "The entry of a cancelled read stays.",
    skip(ClientCancelling.remove_cancelled_read),
)
