"""MS-MQQP 3.2.1.3, 3.2.1.4, 3.2.4.1, 3.2.4.4 and 3.2.4.9; MS-MQMP 3.2.4.7: remote queues are opened, purged, closed."""

from dataclasses import replace

import pytest
from core_remote import (
    IDENTIFIER,
    QUEUE,
    READ_PORT,
    SERVER,
    Remote,
)

from reference_qm.surface.remote_commands import RemoteClose, RemoteOpen, RemoteReceive

FIVE_MINUTES_MS = 300_000


@pytest.mark.parametrize("role", ["RoutingServer", "DirectoryServer"])
def test_a_server_says_so(role):
    remote = Remote()
    state = remote.core.enterprise.state
    state.LocalQueueManager = replace(state.LocalQueueManager, **{role: True})
    remote.ask(RemoteOpen(QUEUE))
    assert remote.arguments("RemoteQMOpenQueue")["dwMQS"] == 1


@pytest.mark.parametrize(
    ("name", "queue_format"),
    [
        (QUEUE, (3, 0, f"TCP:{SERVER}\\PRIVATE$\\far")),
        (f"DIRECT=TCP:{SERVER}\\far", (3, 0, f"TCP:{SERVER}\\far")),
        (f"DIRECT=TCP:{SERVER}\\private$\\far;journal", (3, 0x81, f"TCP:{SERVER}\\PRIVATE$\\far;JOURNAL")),
        (f"DIRECT=TCP:{SERVER}\\private$\\far;sub", (8, 5, f"TCP:{SERVER}\\PRIVATE$\\far;sub")),
        (f"DIRECT=TCP:{SERVER}\\system$;deadletter", (3, 0x82, f"TCP:{SERVER}\\SYSTEM$;DEADLETTER")),
        (f"PRIVATE={IDENTIFIER}\\9", (2, 0, {"Lineage": IDENTIFIER, "Uniquifier": 9})),
        (f"PUBLIC={IDENTIFIER}", (1, 0, IDENTIFIER)),
    ],
)
def test_a_format_name_becomes_a_queue_format(name, queue_format):
    remote = Remote(routes={IDENTIFIER: SERVER}, public_queues={IDENTIFIER: IDENTIFIER})
    remote.ask(RemoteOpen(name, access="peek", deny_receive=True))
    arguments = remote.arguments("R_QMOpenRemoteQueue")
    kind, suffix, value = queue_format
    assert arguments["pQueueFormat"] == {
        "m_qft": kind, "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": value
    }  # fmt: skip
    assert (arguments["dwDesiredAccess"], arguments["dwShareMode"]) == (0x20, 1)
    assert arguments["pLicGuid"] == IDENTIFIER


def test_a_server_that_never_binds_is_given_up():
    remote = Remote()
    remote.silent.add(READ_PORT)
    token = remote.begin(RemoteOpen(QUEUE))
    remote.advance(FIVE_MINUTES_MS)
    assert "does not answer the bind" in remote.error(token)
    assert remote.connections == {}


def test_what_is_pending_is_cancelled_before_the_queue_is_closed():
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    reads = [remote.begin(RemoteReceive(number, timeout_ms=None)) for _ in range(2)]
    remote.log.clear()
    remote.ask(RemoteClose(number))
    assert remote.methods == ["RemoteQMCancelReceive", "RemoteQMCancelReceive", "RemoteQMCloseQueue"]
    assert [arguments["dwRequestID"] for _, _, arguments in remote.log[:2]] == [1, 2]
    assert all("closed" in remote.error(token) for token in reads), "the server never answered them"
    assert remote.pending() == []
