"""The virtual and the real world behave alike, as far as a check can tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.errors import ConformanceFailure, HarnessError, SutUnavailable
from harness.world import RealWorld, Stream, StreamSink, VirtualWorld, World
from reference_qm.inputs import Endpoint


class Ear:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.data = b""
        self.datagrams: list[tuple[Endpoint, bytes]] = []

    def on_open(self) -> None:
        self.events.append("open")

    def on_failed(self, error: str) -> None:
        self.events.append(f"failed: {error}")

    def on_bytes(self, data: bytes) -> None:
        self.data += data

    def on_closed(self, reason: str) -> None:
        self.events.append("closed")

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.datagrams.append((remote, data))


@pytest.fixture(params=[VirtualWorld, RealWorld])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made: World = request.param()
    yield made
    made.close()


def connected(world: World) -> tuple[Stream, Ear, Stream, Ear]:
    accepted: list[Stream] = []
    near_ear, far_ear = Ear(), Ear()

    def accept(stream: Stream) -> StreamSink:
        accepted.append(stream)
        return far_ear

    listener = world.listen(Endpoint("127.0.0.1", 0), accept)
    near = world.connect(listener.endpoint, "127.0.0.2", near_ear)
    assert world.run_until(lambda: near_ear.events == far_ear.events == ["open"], 2_000)
    return near, near_ear, accepted[0], far_ear


def test_bytes_travel_both_ways_in_order(world: World) -> None:
    near, near_ear, far, far_ear = connected(world)
    for number in range(50):
        near.send(bytes([number]) * 1000)
    far.send(b"answer")
    assert world.run_until(lambda: len(far_ear.data) == 50_000 and near_ear.data == b"answer", 2_000)
    assert far_ear.data == b"".join(bytes([number]) * 1000 for number in range(50))


def test_ends_know_each_other(world: World) -> None:
    near, _, far, _ = connected(world)
    assert near.local.host == "127.0.0.2"
    assert (near.local, near.remote) == (far.remote, far.local)


def test_closing_is_heard_by_the_other_side_once_and_after_the_bytes(world: World) -> None:
    near, near_ear, _, far_ear = connected(world)
    near.send(b"last words")
    near.close()
    assert world.run_until(lambda: far_ear.events[-1] == "closed", 2_000)
    assert far_ear.data == b"last words"
    assert far_ear.events == ["open", "closed"]
    assert near_ear.events == ["open"]


@pytest.mark.parametrize("then_close", [False, True])
def test_what_the_accepting_side_says_first_is_heard(world: World, then_close: bool) -> None:
    class Talker(Ear):
        def on_open(self) -> None:
            stream.send(b"welcome")
            if then_close:
                stream.close()

    def accept(accepted: Stream) -> StreamSink:
        nonlocal stream
        stream = accepted
        return Talker()

    stream: Stream
    listener = world.listen(Endpoint("127.0.0.1", 0), accept)
    near_ear = Ear()
    world.connect(listener.endpoint, "127.0.0.2", near_ear)
    expected = ["open", "closed"] if then_close else ["open"]
    assert world.run_until(lambda: near_ear.events == expected and near_ear.data == b"welcome", 2_000)


def test_whoever_gives_up_while_connecting_hears_nothing_more(world: World) -> None:
    far_ear, near_ear = Ear(), Ear()
    listener = world.listen(Endpoint("127.0.0.1", 0), lambda stream: far_ear)
    near = world.connect(listener.endpoint, "127.0.0.2", near_ear)
    near.close()
    world.run_until(lambda: False, 100)
    assert near_ear.events == []
    assert far_ear.events in ([], ["open", "closed"])  # it may have been accepted before it was given up


def test_nobody_listens(world: World) -> None:
    ear = Ear()
    world.connect(Endpoint("127.0.0.1", 9), "127.0.0.2", ear)
    assert world.run_until(lambda: bool(ear.events), 2_000)
    assert ear.events[0].lower() == "failed: connection refused"


def test_a_port_in_use_is_one_line(world: World) -> None:
    listener = world.listen(Endpoint("127.0.0.1", 0), lambda stream: Ear())
    with pytest.raises((SutUnavailable, HarnessError), match=str(listener.endpoint.port)):
        world.listen(listener.endpoint, lambda stream: Ear())


def test_datagrams_carry_their_source(world: World) -> None:
    one, two = Ear(), Ear()
    a = world.datagrams(Endpoint("127.0.0.1", 0), one)
    b = world.datagrams(Endpoint("127.0.0.2", 0), two)
    a.send(b.endpoint, b"ping")
    assert world.run_until(lambda: two.datagrams == [(a.endpoint, b"ping")], 2_000)
    a.send(Endpoint("127.0.0.1", 9), b"nobody")  # nothing happens, nothing breaks
    b.send(a.endpoint, b"pong")
    assert world.run_until(lambda: one.datagrams == [(b.endpoint, b"pong")], 2_000)


def test_timers_fire_in_order_and_can_be_cancelled(world: World) -> None:
    fired: list[str] = []
    start = world.now().monotonic_ms
    world.call_at(start + 30, lambda: fired.append("second"))
    world.call_at(start + 10, lambda: fired.append("first"))
    world.call_at(start + 20, lambda: fired.append("never")).cancel()
    assert world.run_until(lambda: len(fired) == 2, 2_000)
    assert fired == ["first", "second"]
    assert world.now().monotonic_ms >= start + 30


def test_waiting_in_vain_takes_its_time_and_no_more(world: World) -> None:
    start = world.now().monotonic_ms
    assert not world.run_until(lambda: False, 40)
    assert world.now().monotonic_ms >= start + 40


def test_a_check_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a SUT does, a run comes to its end."""
    monkeypatch.setattr("harness.world.real.CHECK_LIMIT_MS", 50)
    world = RealWorld()
    with pytest.raises(ConformanceFailure, match="had not come to an end after"):
        while True:
            world.run_until(lambda: False, 10)
    world.close()


def test_virtual_time_costs_nothing_and_is_the_same_each_time() -> None:
    instants = []
    for _ in range(2):
        world = VirtualWorld()
        world.run_until(lambda: False, 7 * 24 * 3_600_000)
        instants.append(world.now())
    assert instants[0] == instants[1]


def test_two_sides_that_answer_for_ever_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.world.virtual.EVENT_LIMIT", 100)
    world = VirtualWorld()

    def again() -> None:
        world.call_at(world.now().monotonic_ms, again)

    again()
    with pytest.raises(HarnessError, match="for ever"):
        world.run_until(lambda: False, 10)
