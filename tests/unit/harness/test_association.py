"""DCE/RPC associations of checks, against a server with scripted answers. MS-RPCE 3.3, C706 12."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from harness_made import sut_file
from rpc_scripted import ScriptedSut

from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.errors import ConformanceFailure, SutUnavailable
from harness.judging.passive import PassiveJudge
from harness.peer.peer import Peer
from harness.peer.remote import RemoteReaderOfSut
from harness.sut.sut import Sut
from harness.wire import user_message
from harness.wire.rpc import EPT, NDR, NDR64, QM2QM, QMCOMM, UNKNOWN_SYNTAX, Proposal
from harness.wire.rpc_ept import build_map_arguments, read_ports
from harness.wire.rpc_qm2qm import PEEK_NEXT, RECEIVE, Method
from reference_qm.rpc import EPT as SERVED_EPT
from reference_qm.rpc import QM2QM as SERVED_QM2QM
from reference_qm.rpc import QMCOMM as SERVED_QMCOMM
from reference_qm.rpc import Call, CallReceived, FaultStatus
from reference_qm.rpc.events import CallCancelled, HandleRundown
from reference_qm.rpc.interfaces.qm2qm import MAX_BUFFER_SIZE
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint
from reference_qm.surface.inputs import Endpoint

MESSAGE = bytes(user_message(label="first", body=b"hello"))
SYNTAXES = pytest.mark.parametrize("transfers", [(NDR,), (NDR64,), (NDR, NDR64)], ids=["NDR", "NDR64", "both"])


def answer_open(call: Call) -> Any:
    return call.respond(Return=0, pphContext=call.make_context_handle("open"), pdwContext=7, dwpQueue=7, phQueue=7)


def answer_session(call: Call) -> Any:
    return call.respond(Return=0, phContext=call.make_context_handle("session"))


def answer_message(call: Call) -> Any:
    desc = {**call.arguments["lpRemoteReadDesc"], "dwSize": len(MESSAGE), "lpBuffer": MESSAGE}
    return call.respond(Return=0, lpRemoteReadDesc=desc, pphContext=call.make_context_handle("read"))


OPENING: dict[str, Any] = {"R_QMOpenRemoteQueue": answer_open, "RemoteQMOpenQueue": answer_session}


@pytest.fixture
def environment() -> Iterator[VirtualEnvironment]:
    made = VirtualEnvironment()
    yield made
    made.close()


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return tmp_path / "rpc.pcapng"


@pytest.fixture
def judged() -> PassiveJudge:
    return PassiveJudge()


@pytest.fixture
def remote(environment: VirtualEnvironment, capture: Path, judged: PassiveJudge) -> Iterator[RemoteReaderOfSut]:
    sut = Sut(
        sut_file(),
        environment,
        None,
        identifier=None,
        facilities=frozenset(),
        tcp_port=1801,
        ping_port=3527,
        rpc_port=2103,
        scale=1,
    )
    recorder = Recorder(environment, capture)
    recorder.listeners.append(judged.on_frame)
    peer = Peer(environment, sut, recorder, seed="association")
    made = RemoteReaderOfSut(peer, sut)
    made._emptied.add("plain")  # what is scripted needs no emptying
    yield made
    peer.close()


@SYNTAXES
def test_rpc_client_opens_a_queue_and_receives_a_message(environment, remote, transfers):
    scripted = ScriptedSut(
        environment,
        **OPENING,
        RemoteQMStartReceive=answer_message,
        RemoteQMEndReceive=lambda call: call.respond(Return=0, pphContext=None),
        RemoteQMCloseQueue=lambda call: call.respond(Return=0, pphContext=None),
        R_QMCloseRemoteQueueContext=lambda call: call.respond(pphContext=None),
    )
    queue = remote.open(association=remote.associate(transfers=transfers))
    assert queue.association.contexts[QM2QM].wide is (NDR64 in transfers)
    assert scripted.calls[0].arguments["pQueueFormat"]["union"] == "TCP:127.0.0.1\\private$\\mqc-plain"
    read = queue.receive(by=Method.START_RECEIVE)
    assert (read.label, read.description.dwSize) == ("first", len(MESSAGE))
    assert not read.has_null_handle
    assert scripted.calls[-1].arguments["dwAck"] == 2
    assert queue.close().outcome == "MQ_OK"
    assert queue.close_context().outcome == "returned"
    assert not scripted.server.groups.handle_count


def test_rpc_traffic_is_recorded_and_hidden_from_predicates(environment, remote, judged, capture):
    ScriptedSut(environment, **OPENING)
    queue = remote.open()
    kinds = [(frame.direction, frame.kind) for frame in queue.association.record.frames]
    assert kinds[:4] == [
        ("peer->sut", "bind"),
        ("sut->peer", "bind_ack"),
        ("peer->sut", "request"),
        ("sut->peer", "response"),
    ]
    assert "pdwContext" in queue.opened.evidence[1].dissection_text
    assert not judged.tallies
    assert capture.stat().st_size > 1000


@SYNTAXES
def test_long_rpc_stubs_are_fragmented_in_both_directions(environment, remote, transfers):
    long = bytes(range(256)) * 100

    def answer(call: Call) -> Any:
        desc = {**call.arguments["lpRemoteReadDesc"], "dwSize": len(long), "lpBuffer": long}
        return call.respond(Return=0, lpRemoteReadDesc=desc)

    ScriptedSut(environment, **OPENING, RemoteQMStartReceive=answer)
    queue = remote.open(association=remote.associate(transfers=transfers))
    call = queue.association.begin(
        Method.START_RECEIVE, fragment=40, lpRemoteReadDesc=queue.description(RECEIVE, hCursor=3)
    ).settled()
    assert len(call.sent) >= 3
    assert len(call.received) == 5
    assert call.description.dwSize == len(long)


def test_rpc_responses_are_matched_to_their_calls_in_any_order(environment, remote):
    waiting: list[Call] = []
    scripted = ScriptedSut(
        environment,
        **OPENING,
        RemoteQMPurgeQueue=waiting.append,
        RemoteQMCloseCursor=lambda call: call.respond(Return=1),
    )
    association = remote.associate()
    slow = association.begin("RemoteQMPurgeQueue", hQueue=5)
    quick = association.call("RemoteQMCloseCursor", hQueue=5)
    assert (quick.status, slow.answered, slow.outcome) == (1, False, "no answer")
    association.cancel(slow)
    environment.run_until(lambda: bool(scripted.outputs), 100)
    assert [type(one) for one in scripted.outputs] == [CallCancelled]


def test_rpc_faults_and_closed_connections_are_distinguished(environment, remote):
    ScriptedSut(environment, RemoteQMPurgeQueue=lambda call: call.fault(0xC00E0007))
    association = remote.associate()
    thrown = association.call("RemoteQMPurgeQueue")
    assert (thrown.outcome, thrown.outcome_whether_thrown_or_returned) == (
        "fault MQ_ERROR_INVALID_HANDLE",
        "MQ_ERROR_INVALID_HANDLE",
    )
    context = association.contexts[QM2QM]
    assert association.call_raw(99, b"", context).wait().thrown == FaultStatus.NCA_S_OP_RNG_ERROR
    assert association.call("RemoteQMPurgeQueue", stub=b"\1").outcome == "fault RPC_X_BAD_STUB_DATA"
    association.send(b"\5\0\0\3" + bytes(20))
    assert association.call("RemoteQMPurgeQueue").outcome == "the connection closed"
    with pytest.raises(ConformanceFailure, match="RemoteQMPurgeQueue did not succeed"):
        association.call("RemoteQMPurgeQueue").settled()


def test_refused_bind_of_an_unknown_interface_is_reported(environment, remote):
    ScriptedSut(environment)
    with pytest.raises(ConformanceFailure, match="did not accept the interface"):
        remote.connect().bind(QM2QM, UNKNOWN_SYNTAX)
    association = remote.connect()
    frame = association.send_bind_pdu([Proposal(0, QM2QM, (NDR,)), Proposal(1, UNKNOWN_SYNTAX, (NDR,))])
    assert (frame.kind, [one.result for one in frame.packet.payload.results]) == ("bind_ack", [0, 2])


def test_association_adds_interfaces_by_alter_context_and_joins_a_group(environment, remote):
    scripted = ScriptedSut(environment, **OPENING)
    first = remote.associate(QM2QM)
    first.bind_additional_interfaces(QMCOMM)
    remote.open(association=first)
    second = remote.associate(group=first.group)
    assert second.group == first.group
    first.close()
    environment.run_until(lambda: False, 50)
    assert not scripted.outputs
    second.close()
    environment.run_until(lambda: len(scripted.outputs) == 2, 50)
    assert all(isinstance(one, HandleRundown) for one in scripted.outputs)


def test_tester_queries_endpoint_mapper(environment, remote):
    mapper = EndpointMapper([MappedEndpoint(SERVED_QM2QM, IPv4Address("127.0.0.1"), 2105)])
    ScriptedSut(environment, ept_map=lambda call: mapper(CallReceived(call)))
    association = remote.associate(EPT)
    found = association.call("ept_map", **build_map_arguments(QM2QM))
    assert (found.out.status, read_ports(found.out)) == (0, [2105])
    assert association.call("ept_map", **build_map_arguments(QMCOMM)).out.status != 0


def test_rpc_client_survives_bytes_that_are_not_a_pdu(environment, remote):
    class Babbler:
        def on_connection_open(self) -> None: ...
        def on_failed(self, error: str) -> None: ...
        def on_closed(self, reason: str) -> None: ...
        def on_bytes(self, data: bytes) -> None:
            self.stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def accept(stream: Any) -> Any:
        babbler = Babbler()
        babbler.stream = stream
        return babbler

    environment.listen(Endpoint("127.0.0.1", 2103), accept)
    with pytest.raises(ConformanceFailure, match="the answer was malformed"):
        remote.associate()


def test_closed_rpc_port_makes_the_sut_unavailable(remote):
    with pytest.raises(SutUnavailable, match="2103 for RPC: connection refused"):
        remote.connect()


def test_remote_read_with_invalid_dw_size_is_sent_unchanged(environment, remote):
    ScriptedSut(environment, **OPENING)
    queue = remote.open()
    assert (
        queue.read(PEEK_NEXT, by=Method.START_RECEIVE, dwSize=MAX_BUFFER_SIZE + 1).outcome
        == "fault RPC_X_BAD_STUB_DATA"
    )


def test_queue_is_emptied_once_by_remote_reading_without_queue_control(environment, remote):
    remote._emptied.clear()
    scripted = ScriptedSut(environment, **OPENING, RemoteQMPurgeQueue=lambda call: call.respond(Return=0))
    remote.open()
    remote.open()
    names = [call.method.name for call in scripted.calls]
    assert names.count("RemoteQMPurgeQueue") == 1
    assert names[:3] == ["R_QMOpenRemoteQueue", "RemoteQMOpenQueue", "RemoteQMPurgeQueue"]


def apart(environment: VirtualEnvironment, **qmcomm: Any) -> tuple[ScriptedSut, ScriptedSut]:
    """Make a SUT that serves only qmcomm at port 2103, and only qm2qm at port 2105."""
    handshake = ScriptedSut(environment, interfaces=(SERVED_QMCOMM,), **OPENING, **qmcomm)
    reading = ScriptedSut(
        environment, 2105, (SERVED_QM2QM,), **OPENING, RemoteQMPurgeQueue=lambda call: call.respond(Return=0)
    )
    return handshake, reading


def test_separate_qm2qm_port_is_found_through_qmcomm(environment, remote):
    handshake, reading = apart(environment, R_QMGetRTQMServerPort=lambda call: call.respond(Return=2105))
    queue = remote.open()
    assert queue.purge().outcome == "MQ_OK"
    remote.open()  # what was found out is not asked again
    names = [call.method.name for call in handshake.calls]
    assert names == ["R_QMGetRTQMServerPort", "R_QMOpenRemoteQueue", "R_QMOpenRemoteQueue"]
    assert [call.method.name for call in reading.calls] == [
        "RemoteQMOpenQueue",
        "RemoteQMPurgeQueue",
        "RemoteQMOpenQueue",
    ]
    queue.association.close()
    environment.run_until(lambda: bool(handshake.outputs and reading.outputs), 50)
    assert all(isinstance(one, HandleRundown) for one in (*handshake.outputs, *reading.outputs))


def test_unknown_qm2qm_port_gives_error_with_remedy(environment, remote):
    apart(environment, R_QMGetRTQMServerPort=lambda call: call.respond(Return=0))
    with pytest.raises(ConformanceFailure, match=r"give driver\.rpc_read_port"):
        remote.open()


def test_qm2qm_port_is_found_by_the_endpoint_mapper(environment, remote):
    _, reading = apart(environment, R_QMGetRTQMServerPort=lambda call: call.respond(Return=0))
    mapper = EndpointMapper([MappedEndpoint(SERVED_QM2QM, IPv4Address("127.0.0.1"), 2105)])
    ScriptedSut(environment, 135, (SERVED_EPT,), ept_map=lambda call: mapper(CallReceived(call)))
    remote.open()
    assert [call.method.name for call in reading.calls] == ["RemoteQMOpenQueue"]
