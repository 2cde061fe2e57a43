"""Conversations of checks on a connection, with a SUT whose answers the test determines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_made import sut_file

from harness.capture.recorder import Recorder
from harness.environment import Stream, VirtualEnvironment
from harness.errors import ConformanceFailure, HarnessError, SutUnavailable
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from harness.wire import connection_parameters, establish_connection, ping_request, session_ack
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.inputs import Endpoint

ESTABLISH, PARAMETERS = bytes(establish_connection()), bytes(connection_parameters())


class FakeSut:
    """A SUT that listens; the test sends the packets of the SUT."""

    def __init__(self, environment: VirtualEnvironment) -> None:
        self.environment = environment
        self.received = b""
        self.streams: list[Stream] = []
        environment.listen(Endpoint("127.0.0.1", 1801), self.accept)

    def accept(self, stream: Stream) -> FakeSut:
        self.streams.append(stream)
        return self

    def say(self, data: bytes, after_ms: int = 0) -> None:
        self.environment.call_later(after_ms, lambda: self.streams[-1].send(data))

    def hang_up(self, after_ms: int = 0) -> None:
        self.environment.call_later(after_ms, lambda: self.streams[-1].close())

    def on_connection_open(self) -> None: ...

    def on_bytes(self, data: bytes) -> None:
        self.received += data

    def on_closed(self, reason: str) -> None: ...

    def on_failed(self, error: str) -> None: ...


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    environment = VirtualEnvironment()
    sut = Sut(
        sut_file(), environment, None, identifier=None, facilities=frozenset(), tcp_port=1801, ping_port=3527, scale=1
    )
    made = Peer(environment, sut, Recorder(environment, tmp_path / "c.pcapng"), seed="s")
    yield made
    made.close()


@pytest.fixture
def far(peer: Peer) -> FakeSut:
    assert isinstance(peer.environment, VirtualEnvironment)
    return FakeSut(peer.environment)


@pytest.fixture
def conversation(far: FakeSut, peer: Peer) -> RawConversation:
    return peer.connect()


def test_poll_returns_each_packet_of_a_kind_once_and_skips_other_kinds(
    conversation: RawConversation, far: FakeSut
) -> None:
    far.say(ESTABLISH + PARAMETERS + ESTABLISH)
    first = conversation.poll("EstablishConnection")
    second = conversation.poll("EstablishConnection")
    assert first is not None
    assert second is not None
    assert first is not second
    assert conversation.poll("EstablishConnection", within_ms=100) is None
    assert conversation.poll("ConnectionParameters", within_ms=100) is None  # passed over already
    assert [frame.kind for frame in conversation.received] == [
        "EstablishConnection",
        "ConnectionParameters",
        "EstablishConnection",
    ]


def test_poll_can_filter_packets_by_condition(conversation: RawConversation, far: FakeSut) -> None:
    far.say(b"".join(bytes(session_ack(AckSequenceNumber=number)) for number in (1, 2, 3)))
    found = conversation.poll("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 2)
    assert found is not None
    assert found["SessionHeader"].AckSequenceNumber == 2


def test_poll_for_a_packet_ends_after_its_time_or_at_connection_close(
    conversation: RawConversation, far: FakeSut, peer: Peer
) -> None:
    far.say(ESTABLISH, after_ms=300)
    began = peer.environment.now().monotonic_ms
    assert conversation.poll("EstablishConnection", within_ms=200) is None
    assert peer.environment.now().monotonic_ms == began + 200
    assert conversation.poll("EstablishConnection", within_ms=200) is not None
    far.hang_up(after_ms=10)
    began = peer.environment.now().monotonic_ms
    assert conversation.poll("EstablishConnection", within_ms=60_000) is None
    assert peer.environment.now().monotonic_ms < began + 100


def test_failed_expect_names_missing_packet_and_close(conversation: RawConversation, far: FakeSut) -> None:
    with pytest.raises(ConformanceFailure, match=r"^the SUT did not send SessionAck$"):
        conversation.expect("SessionAck", within_ms=100)
    far.hang_up()
    with pytest.raises(ConformanceFailure, match="did not send SessionAck; the SUT closed the connection"):
        conversation.expect("SessionAck", within_ms=100)


def test_connection_close_by_sut_and_by_peer_are_distinguished(peer: Peer, far: FakeSut) -> None:
    by_sut, by_peer = peer.connect(), None
    assert not by_sut.wait_closed(within_ms=100)
    far.hang_up()
    assert by_sut.wait_closed(within_ms=100)
    assert by_sut.outcome().startswith("closed the connection at ")
    by_peer = peer.connect()
    by_peer.close()
    assert not by_peer.wait_closed(within_ms=100)
    assert not by_peer.closed_by_sut
    assert (by_sut.record.closed_by, by_peer.record.closed_by) == ("sut", "peer")


def test_connection_is_quiet_only_without_bytes_and_without_close(conversation: RawConversation, far: FakeSut) -> None:
    assert conversation.stays_quiet(for_ms=500)
    far.say(ESTABLISH, after_ms=400)
    assert conversation.stays_quiet(for_ms=300)
    assert not conversation.stays_quiet(for_ms=300)
    assert conversation.stays_quiet(for_ms=300)  # what came before does not count
    assert conversation.outcome() == "kept the connection open; last sent EstablishConnection"
    far.hang_up()
    assert not conversation.stays_quiet(for_ms=300)
    assert not conversation.stays_quiet(for_ms=300)


def test_raw_bytes_of_a_check_arrive_unchanged(conversation: RawConversation, far: FakeSut) -> None:
    sent = conversation.send(establish_connection())
    rubbish = conversation.send(b"rubbish")
    assert conversation.stays_quiet(for_ms=10)
    assert far.received == ESTABLISH + b"rubbish"
    assert conversation.sent == [sent, rubbish]
    assert conversation.last is rubbish
    assert conversation.outcome() == "kept the connection open; sent nothing"


def test_a_sut_that_cannot_be_connected_to_is_unavailable(peer: Peer) -> None:
    with pytest.raises(SutUnavailable, match=r"cannot connect to 127\.0\.0\.1:1801: connection refused"):
        peer.connect()


def test_a_session_that_the_sut_does_not_answer_is_a_conformance_failure(peer: Peer, far: FakeSut) -> None:
    with pytest.raises(ConformanceFailure, match="no session with the SUT was established: "):
        peer.open_session()
    with pytest.raises(HarnessError, match="configure the peer before"):
        peer.configure(window_size=1)


@pytest.mark.parametrize("instead", [None, b"instead"])
def test_tamper_hook_changes_or_drops_packets_of_the_peer_core(peer: Peer, far: FakeSut, instead: bytes | None) -> None:
    seen: list[str] = []

    def change(packet: Any) -> bytes | None:
        seen.append(packet["EstablishConnectionHeader"].name)
        return instead

    session, error = peer.try_to_open_session(change)
    assert seen == ["EstablishConnectionHeader"]
    assert far.received == (instead or b"")
    assert session is not None
    assert [frame.data for frame in session.sent] == ([instead] if instead else [])
    assert error is not None


def test_received_pings_are_listed_in_order_with_their_source(peer: Peer) -> None:
    end = peer.open_ping_port()
    environment = peer.environment

    class Answering:
        def on_datagram(self, remote: Endpoint, data: bytes) -> None:
            for answer in (data, b"junk"):
                port.send(remote, answer)

    port = environment.open_udp_port(Endpoint("127.0.0.1", 3527), Answering())
    assert end.stays_quiet(for_ms=100)
    asked = end.send(ping_request(Cookie=5))
    first, second = end.poll(), end.poll()
    assert first is not None
    assert second is not None
    assert (first.kind, second.kind, first.data) == ("Ping", "malformed", asked.data)
    assert {remote for remote, _ in end.received} == {Endpoint("127.0.0.1", 3527)}
    assert end.poll(within_ms=50) is None
    assert [frame.number for frame in (asked, first, second)] == [1, 2, 3]


def test_message_ids_of_raw_messages_are_used_once(peer: Peer) -> None:
    assert [peer.next_message_id() for _ in range(3)] == [1, 2, 3]


def test_peer_core_stores_at_most_four_long_messages_of_a_system(peer: Peer) -> None:
    core = peer.host.core
    assert isinstance(core, QueueManager)
    assert core.adm.QueueManagerQuota == 16 * 1024
