"""Faults in the presentation contexts on which a client calls the methods of qm2qm: rules of MS-MQQP 3.1.4.2 to
3.1.4.9.
"""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound

for _method, _word, _rule in (
    ("RemoteQMEndReceive", "end-receive", "MQQP-3.1.4.2-05"),
    ("RemoteQMCloseQueue", "close-queue", "MQQP-3.1.4.4-02"),
    ("RemoteQMCloseCursor", "close-cursor", "MQQP-3.1.4.5-02"),
    ("RemoteQMCancelReceive", "cancel-receive", "MQQP-3.1.4.6-04"),
    ("RemoteQMPurgeQueue", "purge-queue", "MQQP-3.1.4.7-02"),
    ("RemoteQMGetQMQMServerPort", "get-server-port", "MQQP-3.1.4.8-01"),
    ("RemoteQmGetVersion", "get-version", "MQQP-3.1.4.9-01"),
):
    add(
        f"client-second-{_word}-on-unknown-context",
        _rule,
        f"From its second {_method} on, the client uses a presentation context that the server did not accept.",
        call_unbound(_method, first_call=2),
        blind=True,
    )
