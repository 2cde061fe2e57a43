"""MS-MQQP 3.2.1.3, 3.2.1.4, 3.2.4.1, 3.2.4.4 and 3.2.4.9; MS-MQMP 3.2.4.7: remote queues are opened, purged, closed."""

from dataclasses import replace

import pytest
from core_remote import (
    CONTEXT,
    DESCRIPTOR,
    HANDLE,
    IDENTIFIER,
    PORT,
    QUEUE,
    READ_PORT,
    SERVER,
    Remote,
    fault,
)

from reference_qm.rpc import CallCancelled, CallOrphaned
from reference_qm.surface.remote_commands import RemoteClose, RemoteOpen, RemotePurge, RemoteReceive

FIVE_MINUTES_MS = 300_000


def test_remote_queue_is_opened_by_qmcomm_then_qm2qm():
    remote = Remote()
    assert remote.ask(RemoteOpen(QUEUE))["remote"] > 0
    assert [(port, method) for port, method, _ in remote.log] == [
        (PORT, "R_QMGetRTQMServerPort"),
        (PORT, "R_QMOpenRemoteQueue"),
        (PORT, "RemoteQMGetQMQMServerPort"),
        (READ_PORT, "RemoteQMOpenQueue"),
        (PORT, "R_QMCloseRemoteQueueContext"),
    ]
    assert remote.ports == [PORT, PORT, PORT, READ_PORT]
    assert remote.closed == [PORT, PORT, PORT], "the initial bindings are closed, and that of the application"
    assert [port for port, _ in remote.connections.values()] == [READ_PORT]


def test_remote_open_passes_specified_parameters_to_its_calls():
    remote = Remote()
    remote.ask(RemoteOpen(QUEUE))
    assert remote.arguments("RemoteQMGetQMQMServerPort") == {"dwPortType": 1}
    assert remote.arguments("RemoteQMOpenQueue") == {
        "pLicGuid": IDENTIFIER,
        "dwMQS": 0,
        "hQueue": HANDLE,
        "pQueue": DESCRIPTOR,
        "dwpContext": CONTEXT,
    }


@pytest.mark.parametrize("role", ["RoutingServer", "DirectoryServer"])
def test_server_role_sets_dwmqs_to_1(role):
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
def test_remote_open_converts_format_name_to_queue_format(name, queue_format):
    remote = Remote(routes={IDENTIFIER: SERVER}, public_queues={IDENTIFIER: IDENTIFIER})
    remote.ask(RemoteOpen(name, access="peek", deny_receive=True))
    arguments = remote.arguments("R_QMOpenRemoteQueue")
    kind, suffix, value = queue_format
    assert arguments["pQueueFormat"] == {
        "m_qft": kind, "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": value
    }  # fmt: skip
    assert (arguments["dwDesiredAccess"], arguments["dwShareMode"]) == (0x20, 1)
    assert arguments["pLicGuid"] == IDENTIFIER


def test_remote_open_resolves_the_host_name_first():
    remote = Remote()
    remote.names["far.example"] = (SERVER, "10.0.0.10")
    remote.ask(RemoteOpen("DIRECT=OS:far.example\\private$\\far"))
    assert remote.ports[-1] == READ_PORT
    assert "has no address" in remote.refusal(RemoteOpen("DIRECT=OS:nowhere\\private$\\far"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("DIRECT=HTTP://far/msmq/private$/far", "use DIRECT=TCP"),
        ("MULTICAST=239.1.1.1:80", "cannot be opened for reading"),
        (f"PRIVATE={IDENTIFIER}\\9", "is unknown: configure a route"),
        (f"PUBLIC={IDENTIFIER}", "the directory does not know"),
    ],
)
def test_unreadable_remote_queue_is_refused_with_a_way_out(name, why):
    assert why in Remote().refusal(RemoteOpen(name))


@pytest.mark.parametrize("port", [0, 0x10000])
def test_open_without_server_port_calls_no_further_method(port):
    remote = Remote()
    remote.answers["RemoteQMGetQMQMServerPort"] = lambda call: call.respond(Return=port)
    assert "is not available" in remote.refusal(RemoteOpen(QUEUE))
    assert "RemoteQMOpenQueue" not in remote.methods
    assert remote.methods[-1] == "R_QMCloseRemoteQueueContext"
    assert remote.connections == {}


def test_open_without_second_binding_calls_no_further_method():
    remote = Remote()
    remote.unreachable.add(READ_PORT)
    assert remote.refusal(RemoteOpen(QUEUE)) == "connection refused"
    assert "RemoteQMOpenQueue" not in remote.methods
    assert remote.connections == {}


def test_remote_open_fails_for_an_unreachable_server():
    remote = Remote()
    remote.unreachable.add(PORT)
    assert remote.refusal(RemoteOpen(QUEUE)) == "connection refused"


def test_remote_open_call_is_cancelled_after_five_minutes():
    remote = Remote()
    remote.waits.add("RemoteQMOpenQueue")
    token = remote.begin(RemoteOpen(QUEUE))
    remote.advance(FIVE_MINUTES_MS - 1)
    assert token not in remote.results
    remote.advance(1)
    assert "RemoteQMOpenQueue was not answered in time" in remote.error(token)
    (call,) = remote.calls["RemoteQMOpenQueue"]
    assert remote.events[:2] == [CallCancelled(call), CallOrphaned(call)]
    assert remote.methods[-1] == "R_QMCloseRemoteQueueContext"
    assert remote.connections == {}


def test_remote_open_fails_for_a_server_that_never_answers_the_bind():
    remote = Remote()
    remote.silent.add(READ_PORT)
    token = remote.begin(RemoteOpen(QUEUE))
    remote.advance(FIVE_MINUTES_MS)
    assert "did not answer the bind" in remote.error(token)
    assert remote.connections == {}


def test_opened_remote_queue_is_purged():
    remote = Remote()
    number = remote.open()
    remote.ask(RemotePurge(number))
    assert remote.log == [(READ_PORT, "RemoteQMPurgeQueue", {"hQueue": HANDLE})]
    remote.answers["RemoteQMPurgeQueue"] = fault(0xC00E0007)
    assert "0xc00e0007" in remote.refusal(RemotePurge(number)), "note <18>: thrown, not returned"


def test_pending_remote_reads_are_cancelled_before_close():
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
