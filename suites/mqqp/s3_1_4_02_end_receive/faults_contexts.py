"""Faults in the presentation contexts on which a client calls RemoteQMEndReceive: MQQP-3.1.4.2-05."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context

add(
    "client-second-end-receive-on-unknown-context",
    "MQQP-3.1.4.2-05",
    "From its second RemoteQMEndReceive on, the client uses a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMEndReceive", first_call=2),
    blind=True,
)

add(
    "client-end-receive-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.2-05",
    "For its second queue, the client calls RemoteQMEndReceive in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQMEndReceive", first_connection=3),
    blind=True,
)
