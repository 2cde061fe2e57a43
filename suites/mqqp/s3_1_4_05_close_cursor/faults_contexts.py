"""Faults in the presentation contexts on which a client calls RemoteQMCloseCursor: MQQP-3.1.4.5-02."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context

add(
    "client-second-close-cursor-on-unknown-context",
    "MQQP-3.1.4.5-02",
    "From its second RemoteQMCloseCursor on, the client uses a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCloseCursor", first_call=2),
    blind=True,
)

add(
    "client-close-cursor-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.5-02",
    "For its second queue, the client calls RemoteQMCloseCursor in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQMCloseCursor", first_connection=3),
    blind=True,
)
