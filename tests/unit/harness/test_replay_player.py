"""A capture in real time, made by hand: the items of the capture decide how each wait ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.capture.ip import UdpDatagram, build_udp_packet
from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.sut.replay_environment import TIMER_LATENESS_MS, ReplayEnvironment
from harness.sut.replay_items import CaptureItem, NotReplayable, ReplayedNote, ReplayedPacket
from harness.sut.replay_player import CapturePlayer
from reference_qm.surface.inputs import Endpoint

PEER, SUT = Endpoint("127.0.0.2", 40_000), Endpoint("127.0.0.1", 3_527)
BEGAN = {"monotonic_ms": 5_000, "utc_s": 1_800_000_000, "epoch_us": 1_800_000_000_000_000}


MadeWorlds = Callable[..., "World"]


@pytest.fixture
def world_of(tmp_path: Path) -> Iterator[MadeWorlds]:
    """Return a function that makes a harness which replays the given items."""
    made: list[World] = []

    def make(*items: CaptureItem, virtual: bool = False) -> World:
        made.append(World(*items, folder=tmp_path, virtual=virtual))
        return made[-1]

    yield make
    for world in made:
        world.recorder.close()


def at(ms: float) -> int:
    return BEGAN["epoch_us"] + int(ms * 1_000)


def came(ms: float, data: bytes = b"x", number: int = 1) -> ReplayedPacket:
    segment = UdpDatagram(SUT, PEER, data)
    return ReplayedPacket(number, at(ms), True, segment, build_udp_packet(segment, number - 1))


def note(ms: float, **said: Any) -> ReplayedNote:
    return ReplayedNote(0, at(ms), said)


class World:
    """A harness that replays a capture, with one UDP port that records the received datagrams."""

    def __init__(self, *items: CaptureItem, folder: Path, virtual: bool = False) -> None:
        self.differences: list[str] = []
        self.heard: list[bytes] = []
        self.player = CapturePlayer([*items], self.differences.append)
        self.environment = self.player.environment = ReplayEnvironment(self.player, BEGAN, virtual=virtual)
        self.recorder = Recorder(self.environment, folder / "again.pcapng")
        self.player.begin(self.recorder, None, "", "")  # type: ignore[arg-type]  # of the system it takes nothing
        self.environment.open_udp_port(PEER, self)

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        self.recorder.record_datagram(PEER, remote, data, from_sut=True)
        self.heard.append(data)

    def wait(self, count: int, ms: int) -> bool:
        return self.environment.run_until(lambda: len(self.heard) >= count, ms)


def test_replayed_event_after_timeout_but_before_end_of_wait_counts(world_of: MadeWorlds):
    """An event that was recorded after the timeout, but before the noted end of the wait, counts as in time: the busy
    tester noticed it only later.
    """
    world = world_of(came(130))
    assert world.wait(1, 100)
    assert world.environment.now().monotonic_ms == 5_130


def test_replayed_wait_ends_at_recorded_time(world_of: MadeWorlds):
    world = world_of(note(104.5, timed_out=True), came(200))
    assert not world.wait(1, 100)
    assert world.environment.now().monotonic_ms == 5_104
    assert world.wait(1, 500)


def test_replayed_wait_in_virtual_time_ends_at_its_timeout(world_of: MadeWorlds):
    world = world_of(came(130), virtual=True)
    assert not world.wait(1, 100)
    assert world.environment.now().monotonic_ms == 5_100


def test_wait_is_evaluated_after_simultaneous_events(world_of: MadeWorlds):
    items = note(10, together=True), came(10, b"a"), came(11, b"b", 2), note(11, together=False)
    world = world_of(*items)
    assert world.wait(1, 100)
    assert world.heard == [b"a", b"b"]


def test_replay_is_not_blocked_by_simultaneous_events_without_frames(world_of: MadeWorlds):
    """Simultaneous events without frames, such as the end of an unrecorded connection, do not block a query of the
    process.
    """
    world = world_of(note(2_000, together=True), note(2_001, together=False), note(2_002, ended="9", looked=1))
    assert world.player.record_observation("ended") == "9"
    assert world.environment.now().monotonic_ms == 7_002


@pytest.mark.parametrize(("due_ms", "heard"), [(100 - TIMER_LATENESS_MS, 1), (100 - TIMER_LATENESS_MS - 1, 0)])
def test_replayed_timer_due_just_before_an_event_runs_after_the_event(world_of: MadeWorlds, due_ms: int, heard: int):
    world, found = world_of(came(100)), []
    world.environment.call_at(5_000 + due_ms, lambda: found.append(len(world.heard)))
    world.environment.run_until(lambda: bool(found), 1_000)
    assert found == [heard]


def test_replayed_timer_due_at_once_runs_before_the_waiting_check_continues(world_of: MadeWorlds):
    """A timer that is due at once runs before the waiting check continues, so that an answer which the timer sends
    precedes the check's next packet.
    """
    world, found = world_of(came(100)), list[str]()

    def hear(remote: Endpoint, data: bytes) -> None:
        world.on_datagram(remote, data)
        world.environment.call_at(world.environment.now().monotonic_ms, lambda: found.append("answers"))

    world.environment.udp[PEER].sink = SimpleNamespace(on_datagram=hear)
    world.wait(1, 1_000)
    assert found == ["answers"]


def test_replayed_packet_has_its_recorded_utc_second(world_of: MadeWorlds):
    """While the harness approaches its next recorded action, its clock shows the UTC second of the recording."""
    question = note(20, call="inspect", **{"with": {}})
    world = world_of(question)
    world.environment.advance_clock_to(at(-5) + 1_000_000)
    assert world.environment.now().utc_s == BEGAN["utc_s"]
    world = world_of(ReplayedNote(0, at(1_001), question.said))
    world.environment.advance_clock_to(at(999))
    assert world.environment.now().utc_s == BEGAN["utc_s"] + 1


def test_replayed_port_is_the_recorded_port(world_of: MadeWorlds):
    world = world_of(note(0, picked=4_711))
    assert world.environment.open_udp_port(Endpoint("127.0.0.2", 0), world).endpoint.port == 4_711


@pytest.mark.parametrize("said", [{"picked": "x"}, {"picked": 70_000}, {"picked": 0}, {"call": "x"}])
def test_replay_port_missing_in_the_capture_is_a_difference(world_of: MadeWorlds, said: dict[str, Any]):
    world = world_of(note(0, **said))
    with pytest.raises(NotReplayable):
        world.environment.open_udp_port(Endpoint("127.0.0.2", 0), world)
    assert world.differences == ["after frame 0: the harness chooses a port: not replayable"]


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([note(1, lost="the system stalled")], "after frame 0: the system stalled: not replayable"),
        ([note(1, what="?")], "after frame 0: an unknown note: not replayable"),
        ([note(1, to=[1], answer={})], "after frame 0: an unknown note: not replayable"),
        ([note(1, bytes=5), came(1)], "after frame 0: bytes of one read are missing: not replayable"),
        ([note(1, bytes="x"), came(1)], "after frame 0: bytes of one read are missing: not replayable"),
        (
            [ReplayedPacket(1, at(1), True, UdpDatagram(SUT, Endpoint("127.0.0.2", 9), b"x"), b"")],
            "frame 1: the harness does not receive the packet: not replayable",
        ),
        ([came(1, number=2)], "frame 1: the harness sends different bytes: not replayable"),
    ],
)
def test_note_of_lost_or_unknown_kind_makes_the_check_not_replayable(
    world_of: MadeWorlds, items: list[CaptureItem], why: str
):
    world = world_of(*items)
    with pytest.raises(NotReplayable):
        world.wait(1, 100)
    assert world.differences == [why]


def test_replay_refuses_to_resolve_host_names(world_of: MadeWorlds):
    world = world_of()
    assert world.environment.resolve("127.0.0.9") == ("127.0.0.9",)
    with pytest.raises(NotReplayable):
        world.environment.resolve("localhost")


def test_replay_clock_equals_virtual_clock_of_the_recorded_run(world_of: MadeWorlds):
    """The clock of a replay equals the virtual clock of the recorded run, so that times in packets are equal."""
    virtual = VirtualEnvironment()
    now = virtual.now()
    began = {
        "monotonic_ms": now.monotonic_ms,
        "utc_s": now.utc_s,
        "epoch_us": virtual.get_epoch_us_at(now.monotonic_ms),
    }
    replay = ReplayEnvironment(world_of().player, began, virtual=True)
    for environment in (virtual, replay):
        environment.run_until(lambda: False, 61_234)
    assert (replay.now(), replay.epoch_us()) == (virtual.now(), virtual.epoch_us())
