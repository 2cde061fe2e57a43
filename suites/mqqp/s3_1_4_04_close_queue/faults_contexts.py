"""Faults in the presentation contexts on which a client calls RemoteQMCloseQueue: MQQP-3.1.4.4-02."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context

add(
    "client-second-close-queue-on-unknown-context",
    "MQQP-3.1.4.4-02",
    "From its second RemoteQMCloseQueue on, the client uses a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCloseQueue", first_call=2),
    blind=True,
)

add(
    "client-close-queue-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.4-02",
    "For its second queue, the client calls RemoteQMCloseQueue in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQMCloseQueue", first_connection=3),
    blind=True,
)
