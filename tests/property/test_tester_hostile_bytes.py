"""Whatever bytes a system sends, the tester makes frames, verdicts or one of its own errors of them, and raises no
other exception.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from budgets import FEW, SOME, budget
from hypothesis import example, given
from hypothesis import strategies as st
from test_wire_round_trips import packets

from harness.capture import CaptureError, read_pcapng, read_streams
from harness.capture.packets import CapturedPackets, PacketNamedByVerdict
from harness.capture.recorder import Recorder
from harness.environment import Stream, VirtualEnvironment
from harness.errors import MqconformError
from harness.judging.passive import PassiveJudge, load_predicates
from harness.peer.association import Association
from harness.peer.peer import Peer
from harness.peer.rpc_server import ServedAssociation
from harness.sut.control import JsonlControl
from harness.sut.sut import Sut
from harness.sut.sut_file import parse_sut_file
from harness.sut.wires import TcpRoute
from harness.wire import connection_parameters, establish_connection
from harness.wire.rpc import (
    ACCEPTANCE_RESULT,
    NDR,
    PDU_TYPE_NAMES,
    QM2QM,
    QMCOMM,
    BindOutcome,
    Proposal,
    bind,
    bind_ack,
    bind_nak,
    build_co_cancel_pdu,
    fault,
    format_rpc_dissection,
    read_bind_outcomes,
    read_bind_proposals,
)
from harness.wire.rpc_fragments import build_request_fragments, build_response_fragments
from reference_qm.surface.inputs import Endpoint

EXAMPLES = budget(FEW)
PEER, SUT = Endpoint("127.0.0.2", 50_000), Endpoint("127.0.0.1", 1801)
SHORT_TRAILER = bytes.fromhex("05000b03 10000000 1400 2000 01000000 00000000")

PDUS = [
    bytes(bind(1, [Proposal(0, QMCOMM, (NDR,)), Proposal(1, QM2QM, (NDR,))])),
    bytes(bind_ack(1, [BindOutcome(ACCEPTANCE_RESULT, transfer_syntax=NDR)], group=7, port="2103")),
    bytes(bind_ack(1, [BindOutcome(2, 1)], group=7, kind="alter_context_resp")),
    bytes(bind_nak(1, 4)),
    build_request_fragments(1, 0, 31, bytes(24))[0],
    build_response_fragments(1, 0, bytes(40))[0],
    bytes(fault(1, 0, 5)),
    bytes(build_co_cancel_pdu(1)),
]


@st.composite
def mutated(draw: st.DrawFn, of: st.SearchStrategy[bytes]) -> bytes:
    """Draw bytes that differ little from a valid packet or PDU."""
    data = bytearray(draw(of))
    for place, value in draw(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6)):
        if place < len(data):
            data[place] = value
    cut = draw(st.one_of(st.none(), st.integers(0, len(data))))
    return bytes(data[:cut])


@st.composite
def pdus(draw: st.DrawFn) -> bytes:
    """Draw bytes whose header announces a PDU of their size, with arbitrary content."""
    if draw(st.booleans()):
        return draw(mutated(st.sampled_from(PDUS)))
    body = draw(st.binary(max_size=80))
    head = bytes([5, 0, draw(st.sampled_from(sorted(PDU_TYPE_NAMES))), draw(st.integers(0, 255)), 0x10, 0, 0, 0])
    auth = draw(st.sampled_from([0, 0, 1, 8, 0x20, 0xFFFF]))
    return head + (16 + len(body)).to_bytes(2, "little") + auth.to_bytes(2, "little") + b"\1\0\0\0" + body


@contextmanager
def recorder() -> Iterator[Recorder]:
    with tempfile.TemporaryDirectory() as folder:
        made = Recorder(VirtualEnvironment(), Path(folder) / "made.pcapng")
        try:
            yield made
        finally:
            made.close()


def looked_at(made: Recorder) -> None:
    """Process every frame of a recorder as verdicts and their display do."""
    made.record_incomplete_packets_of_connections()
    assert made.path is not None
    captured = CapturedPackets(made.path)
    for frame in made.frames:
        lines = frame.lines
        assert not lines or "\n".join(line.text for line in lines) == frame.dissection_text
        (shown,) = captured.show([PacketNamedByVerdict(frame.number, 0, 0)])
        assert (shown.data, shown.direction, shown.transport) == (frame.data, frame.direction, frame.transport)
        assert shown.dissection == frame.dissection_text or frame.stub is None


@budget(SOME)
@given(st.lists(mutated(packets.map(bytes)), min_size=1, max_size=4), st.booleans())
def test_judge_handles_arbitrary_packets(sent: list[bytes], by_peer: bool) -> None:
    load_predicates()
    with recorder() as made:
        made.listeners.append(PassiveJudge().on_frame)
        connection = made.record_opening(PEER, SUT, by_peer=by_peer)
        for opening in (establish_connection(), connection_parameters()):
            made.record_received(connection, bytes(opening))
        for data in sent:
            made.record_received(connection, data)
            made.record_datagram(PEER, SUT, data[:1_000], from_sut=True)
        looked_at(made)


@EXAMPLES
@given(st.lists(pdus(), min_size=1, max_size=4))
@example([SHORT_TRAILER])
def test_tester_reads_arbitrary_pdus(sent: list[bytes]) -> None:
    with recorder() as made:
        connection = made.record_opening(PEER, SUT, by_peer=True, rpc=True)
        for data in sent:
            for frame in made.record_received(connection, data):
                assert format_rpc_dissection(frame.data)
                if frame.kind in ("bind_ack", "alter_context_resp"):
                    read_bind_outcomes(frame.packet)
                elif frame.kind in ("bind", "alter_context"):
                    read_bind_proposals(frame.packet)
        looked_at(made)


class Scripted:
    """A server that sends the same bytes to every client in answer to any bytes."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer

    def accept(self, stream: Stream) -> Scripted:
        self.stream = stream
        return self

    def on_connection_open(self) -> None: ...

    def on_closed(self, reason: str) -> None: ...

    def on_failed(self, error: str) -> None: ...

    def on_bytes(self, data: bytes) -> None:
        self.stream.send(self.answer)


@contextmanager
def peer_of(answer: bytes) -> Iterator[Peer]:
    """Yield the peer of a SUT that answers all bytes with the same bytes."""
    environment = VirtualEnvironment()
    environment.listen(Endpoint("127.0.0.1", 2103), Scripted(answer).accept)
    file = parse_sut_file(
        {
            "sut": {"name": "hostile"},
            "driver": {"kind": "external", "address": "127.0.0.1", "peer_address": "127.0.0.2"},
        },
        Path("hostile.toml"),
    )
    sut = Sut(
        file,
        environment,
        None,
        identifier=None,
        facilities=frozenset(),
        tcp_port=1801,
        ping_port=3527,
        scale=1,
        rpc_port=2103,
    )
    with recorder() as made:
        made.environment = environment
        yield Peer(environment, sut, made, "hostile")


@EXAMPLES
@given(st.lists(pdus(), min_size=1, max_size=3))
@example([SHORT_TRAILER])
@example([PDUS[1], PDUS[5]])
def test_rpc_client_of_peer_handles_arbitrary_answers(sent: list[bytes]) -> None:
    with peer_of(b"".join(sent)) as peer:
        association = Association(peer).connect(2103)
        with suppress(MqconformError):
            association.bind(QMCOMM)
            assert association.call("R_QMGetRTQMServerPort", fIP=0).outcome
        looked_at(peer.recorder)


class Answering:
    """The part of an RpcServer that its associations use."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.transfers = (NDR,)
        self.bind_rejection_reason: int | None = None
        self.multiplexes = True
        self.associations: list[Any] = []
        self.malformed: list[Any] = []
        self.take: Callable[[Any], None] = lambda call: None


@EXAMPLES
@given(st.lists(pdus(), min_size=1, max_size=4))
@example([PDUS[0], *PDUS[4:5] * 2])
def test_rpc_server_of_peer_handles_arbitrary_calls(sent: list[bytes]) -> None:
    with peer_of(b"") as peer:
        server: Any = Answering(peer)
        association = ServedAssociation(server, 2103)
        association.stream = peer.environment.connect(Endpoint("127.0.0.1", 2103), "127.0.0.2", association)
        peer.environment.run_until(lambda: association.is_open, 1_000)
        for data in sent:
            association.on_bytes(data)
        looked_at(peer.recorder)


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "ok", "error", "x"]), inner),
    max_leaves=8,
)


@EXAMPLES
@given(st.one_of(st.binary(max_size=60), ANSWERS.map(lambda answer: json.dumps(answer).encode() + b"\n")))
@example(b"[" * 100_000 + b"\n")
@example(b'{"id":1,"ok":' + b"[" * 100_000 + b"\n")
@example(b'{"id":NaN}\n')
def test_tester_handles_arbitrary_control_answers(answer: bytes) -> None:
    environment = VirtualEnvironment()
    environment.listen(Endpoint("127.0.0.1", 9801), Scripted(answer).accept)
    control = JsonlControl(environment, TcpRoute(Endpoint("127.0.0.1", 9801), "127.0.0.2"))
    with suppress(MqconformError):
        assert control.call("list")["ok"] is True


@EXAMPLES
@given(st.data())
def test_capture_file_of_arbitrary_bytes_is_read_or_refused(data: st.DataObject) -> None:
    with recorder() as made:
        connection = made.record_opening(PEER, SUT, by_peer=True)
        made.record_received(connection, b"x" * 50)
        made.record_datagram(PEER, SUT, b"y" * 24, from_sut=True)
        assert made.path is not None
        whole = made.path.read_bytes()
        made.path.write_bytes(data.draw(mutated(st.just(whole))))
        with suppress(CaptureError):
            list(read_pcapng(made.path))
            read_streams(made.path)
