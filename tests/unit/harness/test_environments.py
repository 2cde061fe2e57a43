"""The virtual and the real environment behave in the same way for a check."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from patience import PATIENCE_S

from harness.environment import Environment, RealEnvironment, Stream, StreamSink, VirtualEnvironment
from harness.errors import ConformanceFailure, HarnessError, SutFlood, SutUnavailable
from reference_qm.surface.inputs import Endpoint

SOON_MS = PATIENCE_S * 1_000
"""The time limit in ms for events that occur at once on an idle machine."""


class Ear:
    """A sink that records its events and data."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.data = b""
        self.datagrams: list[tuple[Endpoint, bytes]] = []

    def on_connection_open(self) -> None:
        self.events.append("open")

    def on_failed(self, error: str) -> None:
        self.events.append(f"failed: {error}")

    def on_bytes(self, data: bytes) -> None:
        self.data += data

    def on_closed(self, reason: str) -> None:
        self.events.append("closed")

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.datagrams.append((remote, data))


@pytest.fixture(params=[VirtualEnvironment, RealEnvironment])
def environment(request: pytest.FixtureRequest) -> Iterator[Environment]:
    made: Environment = request.param()
    yield made
    made.close()


def connected(environment: Environment) -> tuple[Stream, Ear, Stream, Ear]:
    accepted: list[Stream] = []
    near_ear, far_ear = Ear(), Ear()

    def accept(stream: Stream) -> StreamSink:
        accepted.append(stream)
        return far_ear

    listener = environment.listen(Endpoint("127.0.0.1", 0), accept)
    near = environment.connect(listener.endpoint, "127.0.0.2", near_ear)
    assert environment.run_until(lambda: near_ear.events == far_ear.events == ["open"], SOON_MS)
    return near, near_ear, accepted[0], far_ear


def test_connection_carries_bytes_both_ways_in_order(environment: Environment) -> None:
    near, near_ear, far, far_ear = connected(environment)
    for number in range(50):
        near.send(bytes([number]) * 1000)
    far.send(b"answer")
    assert environment.run_until(lambda: len(far_ear.data) == 50_000 and near_ear.data == b"answer", SOON_MS)
    assert far_ear.data == b"".join(bytes([number]) * 1000 for number in range(50))


def test_connection_ends_know_both_endpoints(environment: Environment) -> None:
    near, _, far, _ = connected(environment)
    assert near.local.host == "127.0.0.2"
    assert (near.local, near.remote) == (far.remote, far.local)


def test_connection_close_reaches_the_remote_side_once_and_after_all_bytes(environment: Environment) -> None:
    near, near_ear, _, far_ear = connected(environment)
    near.send(b"last words")
    near.close()
    assert environment.run_until(lambda: far_ear.events[-1] == "closed", SOON_MS)
    assert far_ear.data == b"last words"
    assert far_ear.events == ["open", "closed"]
    assert near_ear.events == ["open"]


@pytest.mark.parametrize("then_close", [False, True])
def test_bytes_sent_first_by_acceptor_arrive(environment: Environment, then_close: bool) -> None:
    class Talker(Ear):
        def on_connection_open(self) -> None:
            stream.send(b"welcome")
            if then_close:
                stream.close()

    def accept(accepted: Stream) -> StreamSink:
        nonlocal stream
        stream = accepted
        return Talker()

    stream: Stream
    listener = environment.listen(Endpoint("127.0.0.1", 0), accept)
    near_ear = Ear()
    environment.connect(listener.endpoint, "127.0.0.2", near_ear)
    expected = ["open", "closed"] if then_close else ["open"]
    assert environment.run_until(lambda: near_ear.events == expected and near_ear.data == b"welcome", SOON_MS)


def test_cancelled_connection_attempt_gets_no_event(environment: Environment) -> None:
    far_ear, near_ear = Ear(), Ear()
    listener = environment.listen(Endpoint("127.0.0.1", 0), lambda stream: far_ear)
    near = environment.connect(listener.endpoint, "127.0.0.2", near_ear)
    near.close()
    environment.run_until(lambda: False, 100)
    assert near_ear.events == []
    assert far_ear.events in ([], ["open", "closed"])  # it may have been accepted before it was given up


def test_connection_to_a_closed_port_is_refused(environment: Environment) -> None:
    ear = Ear()
    environment.connect(Endpoint("127.0.0.1", 9), "127.0.0.2", ear)
    assert environment.run_until(lambda: bool(ear.events), SOON_MS)
    assert ear.events[0].lower() == "failed: connection refused"


def test_a_port_in_use_gives_one_line_error(environment: Environment) -> None:
    listener = environment.listen(Endpoint("127.0.0.1", 0), lambda stream: Ear())
    with pytest.raises((SutUnavailable, HarnessError), match=str(listener.endpoint.port)):
        environment.listen(listener.endpoint, lambda stream: Ear())


def test_received_datagrams_have_their_source_address(environment: Environment) -> None:
    one, two = Ear(), Ear()
    a = environment.open_udp_port(Endpoint("127.0.0.1", 0), one)
    b = environment.open_udp_port(Endpoint("127.0.0.2", 0), two)
    a.send(b.endpoint, b"ping")
    assert environment.run_until(lambda: two.datagrams == [(a.endpoint, b"ping")], SOON_MS)
    a.send(Endpoint("127.0.0.1", 9), b"nobody")  # nothing happens, nothing breaks
    b.send(a.endpoint, b"pong")
    assert environment.run_until(lambda: one.datagrams == [(b.endpoint, b"pong")], SOON_MS)


def test_environment_timers_fire_in_order_and_can_be_cancelled(environment: Environment) -> None:
    fired: list[str] = []
    start = environment.now().monotonic_ms
    environment.call_at(start + 30, lambda: fired.append("second"))
    environment.call_at(start + 10, lambda: fired.append("first"))
    environment.call_at(start + 20, lambda: fired.append("never")).cancel()
    assert environment.run_until(lambda: len(fired) == 2, SOON_MS)
    assert fired == ["first", "second"]
    assert environment.now().monotonic_ms >= start + 30


def test_wait_without_success_takes_exactly_its_timeout(environment: Environment) -> None:
    start = environment.now().monotonic_ms
    assert not environment.run_until(lambda: False, 40)
    assert environment.now().monotonic_ms >= start + 40


def test_a_check_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that never ends is ended by its time limit; the clean-up after it has a separate limit."""
    environment = RealEnvironment()
    environment.limit_check_time(50)
    with pytest.raises(ConformanceFailure, match="did not end within"):
        while True:
            environment.run_until(lambda: False, 10)
    assert not environment.run_until(lambda: False, 10)
    monkeypatch.setattr("harness.environment.real.MAX_CLEANUP_DURATION_MS", 50)
    environment.limit_check_time(0)
    for _ in range(2):
        with pytest.raises(ConformanceFailure):
            while True:
                environment.run_until(lambda: False, 10)
    environment.close()


def test_a_sut_that_opens_connections_without_an_end_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.environment.real.MAX_CONNECTIONS", 8)
    environment = RealEnvironment()
    listener = environment.listen(Endpoint("127.0.0.1", 0), lambda stream: Ear())
    clients = [socket.create_connection(tuple(listener.endpoint)) for _ in range(20)]
    with pytest.raises(SutFlood, match="more than 8 connections"):
        environment.run_until(lambda: False, SOON_MS)
    assert environment.flood_description == "the SUT has opened more than 8 connections within one check"
    assert not environment.run_until(lambda: False, 20), "it is raised once, what was found is put in order then"
    for client in clients:
        client.close()
    environment.close()


def test_failed_datagram_transfer_gives_no_event() -> None:
    environment = RealEnvironment()
    port = environment.open_udp_port(Endpoint("127.0.0.1", 0), Ear())
    port.send(Endpoint("255.255.255.255", 9), b"nobody may broadcast")
    port.send(Endpoint("127.0.0.1", 1), b"x" * 70_000)
    assert not environment.run_until(lambda: False, 20)
    environment.close()


def test_virtual_time_takes_no_real_time_and_is_repeatable() -> None:
    instants = []
    for _ in range(2):
        environment = VirtualEnvironment()
        environment.run_until(lambda: False, 7 * 24 * 3_600_000)
        instants.append(environment.now())
    assert instants[0] == instants[1]


def test_endless_exchange_between_two_sides_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.environment.virtual.MAX_EVENTS_PER_WAIT", 100)
    environment = VirtualEnvironment()

    def again() -> None:
        environment.call_at(environment.now().monotonic_ms, again)

    again()
    with pytest.raises(HarnessError, match="endlessly"):
        environment.run_until(lambda: False, 10)
