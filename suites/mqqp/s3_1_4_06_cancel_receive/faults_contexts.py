"""Faults in the presentation contexts on which a client calls RemoteQMCancelReceive: MQQP-3.1.4.6-04."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context

add(
    "client-second-cancel-receive-on-unknown-context",
    "MQQP-3.1.4.6-04",
    "From its second RemoteQMCancelReceive on, the client uses a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCancelReceive", first_call=2),
    blind=True,
)

add(
    "client-cancel-receive-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.6-04",
    "For its second queue, the client calls RemoteQMCancelReceive in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQMCancelReceive", first_connection=3),
    blind=True,
)
