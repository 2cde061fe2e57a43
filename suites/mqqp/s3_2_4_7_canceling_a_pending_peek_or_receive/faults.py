"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue


@fault("client-cancel-receive-of-last-read", breaks="MQQP-3.2.4.7-02")
class ClientCancelReceiveOfLastRead(ClientCancelling):
    """The client cancels the read that it began last instead of the read that its application names."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        return self.qm.remote_client.PendingRemoteReadEntryCollection[-1]


add(
    "client-cancel-receive-not-called",
    "MQQP-3.2.4.7-03",
    "The client does not call RemoteQMCancelReceive.",
    skip_sequence(ClientCancelling.call_cancel_receive),
)


def _increment_cancel_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMCancelReceive."""

    class OneMore(ClientCancelling):
        def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
            values = super().build_cancel_receive(entry)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OneMore)


for _name, _breaks, _parameter in (
    ("client-cancel-receive-h-queue-one-too-high", ("MQQP-3.2.4.7-04", "MQQP-3.2.4.9-03"), "hQueue"),
    ("client-cancel-receive-p-queue-one-too-high", ("MQQP-3.2.4.7-05",), "pQueue"),
    ("client-cancel-receive-id-one-too-high", ("MQQP-3.2.4.7-06", "MQQP-3.2.4.9-04"), "dwRequestID"),
):
    add(
        _name,
        _breaks,
        f"The client calls RemoteQMCancelReceive with a {_parameter} that is greater by 1 than the right value.",
        _increment_cancel_parameter(_parameter),
    )

add(
    "client-cancelled-read-stays-pending",
    "MQQP-3.2.4.7-07",
    "The client keeps the PendingRemoteReadEntry of a cancelled read.",
    skip(ClientCancelling.remove_cancelled_read),
)
