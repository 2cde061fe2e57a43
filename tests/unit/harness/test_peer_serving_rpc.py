"""The peer as a server of DCE/RPC: the PDUs that it accepts from a SUT, its answers, and its records of calls. C706
12.6, MS-RPCE 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_made import sut_file

from harness.capture.recorder import Recorder
from harness.capture.rpc_stream import RpcFramer
from harness.environment import VirtualEnvironment
from harness.peer.peer import Peer
from harness.peer.rpc_server import RpcServer, ServedCall
from harness.sut.sut import Sut
from harness.wire.rpc import (
    NDR,
    NDR64,
    QM2QM,
    QMCOMM,
    UNKNOWN_SYNTAX,
    Proposal,
    Syntax,
    bind,
    build_co_cancel_pdu,
    build_orphaned_pdu,
    dissect_rpc,
    get_rpc_kind,
    read_bind_outcomes,
    read_stub,
)
from harness.wire.rpc_fragments import build_request_fragments
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from harness.wire.rpc_qmcomm import QMCOMM_OPERATIONS, transfer_buffer
from reference_qm.surface.inputs import Endpoint

PURGE = QM2QM_OPERATIONS["RemoteQMPurgeQueue"]


class Client:
    """A SUT that sends the PDUs of the test."""

    def __init__(self, environment: VirtualEnvironment, port: int = 2103) -> None:
        self.environment = environment
        self.framer = RpcFramer()
        self.came: list[Any] = []
        self.lost = False
        self.stream = environment.connect(Endpoint("127.0.0.2", port), "127.0.0.1", self)
        self.settle()

    def on_connection_open(self) -> None: ...

    def on_failed(self, error: str) -> None:
        self.lost = True

    def on_bytes(self, data: bytes) -> None:
        self.came += self.framer.feed(data)

    def on_closed(self, reason: str) -> None:
        self.lost = True

    def settle(self) -> None:
        self.environment.run_until(lambda: False, 20)

    def send(self, *parts: Any) -> list[Any]:
        """Send PDUs; return the PDUs that arrive in answer, dissected."""
        before = len(self.came)
        for part in parts:
            self.stream.send(bytes(part))
        self.settle()
        return [dissect_rpc(one) for one in self.came[before:]]

    def bind(self, *interfaces: Syntax, transfers: tuple[Syntax, ...] = (NDR, NDR64)) -> list[Any]:
        proposals = [
            Proposal(2 * place + number, one, (transfer,))
            for place, one in enumerate(interfaces)
            for number, transfer in enumerate(transfers)
        ]
        return read_bind_outcomes(self.send(bind(1, proposals))[0])


@pytest.fixture
def environment() -> Iterator[VirtualEnvironment]:
    made = VirtualEnvironment()
    yield made
    made.close()


@pytest.fixture
def peer(environment: VirtualEnvironment, tmp_path: Path) -> Iterator[Peer]:
    sut = Sut(
        sut_file(), environment, None, identifier=None, facilities=frozenset(), tcp_port=1801, ping_port=3527, scale=1
    )  # fmt: skip
    made = Peer(environment, sut, Recorder(environment, tmp_path / "served.pcapng"), seed="served")
    yield made
    made.close()


def purged(call: ServedCall) -> None:
    call.respond(Return=7)


@pytest.fixture
def server(peer: Peer) -> RpcServer:
    return RpcServer(peer, {"RemoteQMPurgeQueue": purged})


def accepted(outcomes: list[Any]) -> list[tuple[int, Syntax | None]]:
    return [(one.result, one.transfer_syntax) for one in outcomes]


@pytest.mark.parametrize(
    ("transfers", "expected"),
    [
        ((NDR64, NDR), [(2, None), (0, NDR64)]),
        ((NDR, NDR64), [(0, NDR), (2, None)]),
        ((NDR,), [(0, NDR), (2, None)]),
        ((), [(2, None), (2, None)]),
    ],
)
def test_peer_accepts_one_transfer_syntax_for_each_interface(
    environment: VirtualEnvironment, server: RpcServer, transfers: tuple[Syntax, ...], expected: list[Any]
) -> None:
    server.transfers = transfers
    assert accepted(Client(environment).bind(QM2QM)) == expected


def test_peer_does_not_accept_an_interface_that_it_does_not_serve(
    environment: VirtualEnvironment, server: RpcServer
) -> None:
    assert accepted(Client(environment).bind(QMCOMM, UNKNOWN_SYNTAX)) == [(2, None), (0, NDR64), (2, None), (2, None)]


def test_peer_refuses_a_bind_when_the_check_requests_it(environment: VirtualEnvironment, server: RpcServer) -> None:
    server.bind_rejection_reason = 2
    (answer,) = Client(environment).send(bind(1, [Proposal(0, QM2QM, (NDR,))]))
    assert (answer.ptype, answer.payload.provider_reject_reason) == (13, 2)


@pytest.mark.parametrize(("p_cont_id", "wide"), [(0, False), (1, True)])
def test_peer_reads_records_and_answers_an_rpc_call(
    environment: VirtualEnvironment, peer: Peer, server: RpcServer, p_cont_id: int, wide: bool
) -> None:
    server.transfers = (NDR64, NDR) if wide else (NDR, NDR64)
    client = Client(environment, server.read_port)
    client.bind(QM2QM)
    (answer,) = client.send(*build_request_fragments(2, p_cont_id, PURGE.opnum, PURGE.build_request(wide, hQueue=5)))
    assert PURGE.read_response(read_stub(answer), wide).Return == 7
    (call,) = server.list_calls_of("RemoteQMPurgeQueue")
    assert (call.decoded_request.hQueue, call.port, call.wide) == (5, server.read_port, wide)
    assert [frame.kind for frame in call.evidence] == ["request", "response"]
    assert [frame.from_sut for frame in call.evidence] == [True, False]
    assert "hQueue" in call.frames[0].dissection_text
    assert peer.recorder.connections[0].sut_role == "initiator"


def test_peer_reassembles_request_fragments(environment: VirtualEnvironment, server: RpcServer) -> None:
    client = Client(environment)
    client.bind(QMCOMM)
    operation = QMCOMM_OPERATIONS["R_QMCreateRemoteCursor"]
    stub = operation.build_request(True, ptb1=transfer_buffer(), hQueue=9)
    client.send(*build_request_fragments(2, 1, operation.opnum, stub, fragment=100))
    (call,) = server.calls
    assert (call.decoded_request.hQueue, len(call.frames)) == (9, 7)


def test_peer_reads_a_zeroed_transfer_buffer(environment: VirtualEnvironment, server: RpcServer) -> None:
    """The peer reads a CACTransferBuffer of zeros, as Windows sends it (MS-MQMP note <29>); the union then has the arm
    of tag 0.
    """
    client = Client(environment)
    client.bind(QMCOMM, transfers=(NDR,))
    client.send(*build_request_fragments(2, 0, 4, bytes(228) + b"\5\0\0\0"))
    (call,) = server.calls
    assert (call.malformed, call.decoded_request.hQueue) == (None, 5)


def test_peer_leaves_a_call_waiting_until_the_check_answers_it(
    environment: VirtualEnvironment, server: RpcServer
) -> None:
    server.answers.clear()
    client = Client(environment)
    client.bind(QM2QM)
    stubs = [PURGE.build_request(True, hQueue=number) for number in (1, 2)]
    assert (
        client.send(
            *(part for number, stub in enumerate(stubs, 2) for part in build_request_fragments(number, 1, 6, stub))
        )
        == []
    )
    first, second = server.wait("RemoteQMPurgeQueue", 2)
    second.respond(Return=0)
    first.fault(0x1C010014)
    client.settle()
    answers = [dissect_rpc(one) for one in client.came[1:]]
    assert [(one.ptype, one.call_id) for one in answers] == [(2, 3), (3, 2)]
    assert answers[1].payload.status == 0x1C010014


def test_peer_records_cancels_with_their_call(environment: VirtualEnvironment, server: RpcServer) -> None:
    server.answers.clear()
    client = Client(environment)
    client.bind(QM2QM)
    client.send(
        *build_request_fragments(2, 1, 6, PURGE.build_request(True, hQueue=1)),
        build_co_cancel_pdu(2),
        build_orphaned_pdu(2),
        build_orphaned_pdu(9),
    )
    (call,) = server.calls
    assert [frame.kind for frame in call.frames_of_cancel_pdus] == ["co_cancel", "orphaned"]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (build_request_fragments(2, 1, 99, b""), "opnum 99"),
        (build_request_fragments(2, 7, 6, bytes(4)), "context 7"),
        ([b"\5\0\0\2" + build_request_fragments(2, 1, 6, bytes(4))[0][4:]], "which was not started"),
    ],
    ids=["opnum", "context", "fragment"],
)
def test_peer_records_pdus_that_are_not_calls_separately(
    environment: VirtualEnvironment, server: RpcServer, parts: list[bytes], why: str
) -> None:  # fmt: skip
    client = Client(environment)
    client.bind(QM2QM)
    client.send(*parts)
    assert server.calls == []
    assert why in server.malformed[0][1]


def test_peer_records_an_unreadable_stub_as_malformed_call(environment: VirtualEnvironment, server: RpcServer) -> None:
    client = Client(environment)
    client.bind(QM2QM)
    assert client.send(*build_request_fragments(2, 1, PURGE.opnum, bytes(3))) == []
    (call,) = server.calls
    assert call.decoded_request is None
    assert call.malformed is not None


def test_peer_survives_bytes_that_are_not_a_pdu(environment: VirtualEnvironment, server: RpcServer) -> None:
    client = Client(environment)
    client.send(b"GET / HTTP/1.1\r\n\r\n")
    assert server.malformed[0][0].kind == "malformed"


def test_rpc_port_is_closed_before_and_after_the_peer_serves(
    environment: VirtualEnvironment, peer: Peer, server: RpcServer
) -> None:
    assert Client(environment, server.find_unused_port()).lost
    client = Client(environment)
    client.bind(QM2QM)
    peer.close()
    client.settle()
    assert client.lost
    assert Client(environment).lost
    assert get_rpc_kind(client.came[0]) == "bind_ack"
