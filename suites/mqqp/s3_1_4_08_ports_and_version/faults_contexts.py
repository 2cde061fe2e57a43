"""Faults in the presentation contexts of the calls of a client: MQQP-3.1.4.8-01 and MQQP-3.1.4.9-01."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context

add(
    "client-second-get-server-port-on-unknown-context",
    "MQQP-3.1.4.8-01",
    "From its second RemoteQMGetQMQMServerPort on, the client uses a presentation context that the server did not "
    "accept.",
    call_on_unbound_context("RemoteQMGetQMQMServerPort", first_call=2),
    blind=True,
)

add(
    "client-second-get-version-on-unknown-context",
    "MQQP-3.1.4.9-01",
    "From its second RemoteQmGetVersion on, the client uses a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQmGetVersion", first_call=2),
    blind=True,
)

add(
    "client-get-server-port-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.8-01",
    "For its second queue, the client calls RemoteQMGetQMQMServerPort in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQMGetQMQMServerPort", first_connection=2),
    blind=True,
)

add(
    "client-get-version-for-second-queue-on-unknown-context",
    "MQQP-3.1.4.9-01",
    "For its second queue, the client calls RemoteQmGetVersion in a presentation context that was not accepted.",
    call_on_unbound_context("RemoteQmGetVersion", first_connection=3),
    blind=True,
)
