"""The driver, which is the interface between a core and any host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from reference_qm.directory import Site
from reference_qm.directory.interface import DirectoryDeleteRequest
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.driver import CoreDriver
from reference_qm.surface.effects import (
    CloseRpcConnection,
    CloseTransport,
    CommandCompleted,
    CommandRejected,
    Connect,
    Effect,
    Persist,
    ReadDirectory,
    ResolveHost,
    RestartQueueManager,
    SendDatagram,
    SendPacket,
    SendRpcBytes,
    WriteDirectory,
)
from reference_qm.surface.inputs import (
    Endpoint,
    HostResolved,
    Input,
    PingSocket,
    QueueManagerStarted,
    RecordPersisted,
    TransportLost,
)

THERE = Endpoint("192.0.2.1", 1801)
CARRIED_OUT_BY: list[tuple[Effect, str]] = [
    (Connect("out-1", THERE), "connect"),
    (SendPacket("out-1", b"packet"), "send_packet_on_transport"),
    (CloseTransport("out-1", "done"), "close_transport"),
    (SendDatagram(PingSocket.SOURCE, THERE, b"ping"), "send_datagram"),
    (SendRpcBytes("rpc-1", b"bytes"), "send_rpc_bytes"),
    (CloseRpcConnection("rpc-1", "done"), "close_rpc_connection"),
    (ResolveHost("there.example"), "resolve_host"),
    (Persist(1, {}), "persist"),
    (ReadDirectory(1), "read_directory"),
    (WriteDirectory(2, DirectoryDeleteRequest(Site())), "write_directory"),
    (RestartQueueManager(), "start_again"),
    (CommandCompleted(1, Result()), "answer"),
    (CommandRejected(2, "no"), "answer"),
]


@dataclass(eq=False)
class Timer:
    due: int
    action: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class ScriptedCore:
    """A core that answers each input with the result of ``script``."""

    script: Callable[[Input], list[Effect]] = field(default=lambda event: [])
    on_timer: list[Effect] = field(default_factory=list)
    due: int | None = None
    inputs: list[tuple[Input | str, int]] = field(default_factory=list)

    def handle(self, event: Input, now: Now) -> list[Effect]:
        self.inputs.append((event, now.monotonic_ms))
        return self.script(event)

    def next_due(self) -> int | None:
        return self.due

    def handle_timer(self, now: Now) -> list[Effect]:
        self.inputs.append(("timer", now.monotonic_ms))
        self.due = None
        return self.on_timer

    def restart(self) -> None: ...


class Host:
    """A host that records every call; ``does`` is called for each effect."""

    def __init__(self, core: ScriptedCore) -> None:
        self.core = core
        self.ms = 1_000
        self.calls: list[tuple[str, Effect]] = []
        self.timers: list[Timer] = []
        self.does: Callable[[Effect], None] = lambda effect: None
        for _, name in CARRIED_OUT_BY:
            setattr(self, name, self._method(name))
        self.driver = CoreDriver(self)  # type: ignore[arg-type]

    def _method(self, name: str) -> Callable[[Any], None]:
        def method(effect: Effect) -> None:
            self.calls.append((name, effect))
            self.does(effect)

        return method

    def now(self) -> Now:
        return Now(self.ms, 0)

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        self.timers.append(Timer(monotonic_ms, action))
        return self.timers[-1]

    def advance(self, ms: int) -> None:
        """Advance the time, and carry out the actions that are due."""
        self.ms += ms
        due, self.timers = self.timers, []
        for timer in due:
            if timer.due > self.ms:
                self.timers.append(timer)
            elif not timer.cancelled:
                timer.action()

    @property
    def wanted(self) -> list[int]:
        """Return the times at which the host will call the core."""
        return [timer.due for timer in self.timers if not timer.cancelled]

    @property
    def inputs(self) -> list[Input | str]:
        return [event for event, _ in self.core.inputs]


@pytest.fixture
def host() -> Host:
    return Host(ScriptedCore())


def resolved(host: str) -> HostResolved:
    return HostResolved(host, ())


def scripted(started: list[Effect] | None = None, **resolved: list[Effect]) -> Callable[[Input], list[Effect]]:
    """Return a script that answers Started, and the HostResolved of each named host, with the given effects."""

    def script(event: Input) -> list[Effect]:
        if isinstance(event, HostResolved):
            return resolved.get(event.host, [])
        return started or [] if isinstance(event, QueueManagerStarted) else []

    return script


# -- effects ----------------------------------------------------------------------------------------------------


def test_driver_carries_out_every_effect_by_its_method_in_order(host: Host) -> None:
    effects = [effect for effect, _ in CARRIED_OUT_BY]
    assert {type(effect) for effect in effects} == set(get_args(Effect))
    host.core.script = scripted(started=effects)
    host.driver.handle(QueueManagerStarted())
    assert [(effect, name) for name, effect in host.calls] == CARRIED_OUT_BY


def test_driver_passes_the_core_the_time_of_each_input(host: Host) -> None:
    host.driver.handle(QueueManagerStarted())
    host.ms += 5
    host.driver.handle(RecordPersisted(1))
    assert host.core.inputs == [(QueueManagerStarted(), 1_000), (RecordPersisted(1), 1_005)]


def test_unknown_effect_raises_type_error(host: Host) -> None:
    host.core.script = scripted(started=[SendPacket("out-1", b"1"), Result(), SendPacket("out-1", b"2")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="Result is not an effect"):
        host.driver.handle(QueueManagerStarted())
    assert host.calls == [("send_packet_on_transport", SendPacket("out-1", b"1"))]


# -- inputs that arise meanwhile --------------------------------------------------------------------------------


def test_driver_delays_resulting_input_until_all_effects_are_carried_out(host: Host) -> None:
    one, two, three = (SendPacket("out-1", data) for data in (b"1", b"2", b"3"))
    host.core.script = scripted(started=[ResolveHost("a"), one, ResolveHost("b"), two], a=[three])

    def at_once(effect: Effect) -> None:
        if isinstance(effect, ResolveHost):
            host.driver.handle(resolved(effect.host))

    host.does = at_once
    host.driver.handle(QueueManagerStarted())
    assert [effect for _, effect in host.calls] == [ResolveHost("a"), one, ResolveHost("b"), two, three]
    assert host.inputs == [QueueManagerStarted(), resolved("a"), resolved("b")]


def test_resulting_inputs_are_queued_behind_waiting_ones_without_recursion(host: Host) -> None:
    depth, deepest, left = 0, 0, 2_000  # deeper than Python recurses
    host.core.script = lambda event: [ResolveHost("again")]

    def at_once(effect: Effect) -> None:
        nonlocal depth, deepest, left
        depth, left = depth + 1, left - 1
        deepest = max(deepest, depth)
        if left > 0:
            host.driver.handle(resolved(str(left)))
        depth -= 1

    host.does = at_once
    host.driver.handle(QueueManagerStarted(), TransportLost("in-1", "reset"))
    assert host.inputs[:4] == [
        QueueManagerStarted(),
        TransportLost("in-1", "reset"),
        resolved("1999"),
        resolved("1998"),
    ]
    assert (deepest, left) == (1, -1)


def test_driver_handles_several_inputs_in_order_each_with_its_effects(host: Host) -> None:
    host.core.script = scripted(a=[SendPacket("out-1", b"a")], b=[SendPacket("out-1", b"b")])
    host.driver.handle(resolved("a"), resolved("b"))
    assert [effect for _, effect in host.calls] == [SendPacket("out-1", b"a"), SendPacket("out-1", b"b")]


def test_host_error_propagates_through_driver_and_drops_only_later_effects(host: Host) -> None:
    host.core.script = scripted(started=[ResolveHost("a"), SendPacket("out-1", b"1"), SendPacket("out-1", b"2")])

    def fail(effect: Effect) -> None:
        if isinstance(effect, ResolveHost):
            host.driver.handle(resolved("a"))
        else:
            raise OSError("unplugged")

    host.does = fail
    with pytest.raises(OSError, match="unplugged"):
        host.driver.handle(QueueManagerStarted())
    assert [name for name, _ in host.calls] == ["resolve_host", "send_packet_on_transport"]
    host.driver.handle(RecordPersisted(1))
    assert host.inputs == [QueueManagerStarted(), resolved("a"), RecordPersisted(1)]


def test_core_error_propagates_through_driver_and_next_input_is_handled(host: Host) -> None:
    def fail(event: Input) -> list[Effect]:
        raise ValueError("a bug")

    host.core.script = fail
    with pytest.raises(ValueError, match="a bug"):
        host.driver.handle(QueueManagerStarted())
    host.core.script = scripted()
    host.driver.handle(RecordPersisted(1))
    assert host.inputs == [QueueManagerStarted(), RecordPersisted(1)]


# -- the wake-up ------------------------------------------------------------------------------------------------


def test_driver_wakes_core_when_due_and_carries_out_its_effects(host: Host) -> None:
    host.core.due, host.core.on_timer = 1_500, [SendPacket("out-1", b"again")]
    host.driver.handle(QueueManagerStarted())
    assert (host.wanted, host.driver.due) == ([1_500], 1_500)
    host.advance(499)
    assert host.inputs == [QueueManagerStarted()]
    host.advance(1)
    assert host.core.inputs[1:] == [("timer", 1_500)]
    assert host.calls == [("send_packet_on_transport", SendPacket("out-1", b"again"))]
    assert (host.wanted, host.driver.due) == ([], None)


def test_driver_reschedules_wake_up_after_each_input_and_wake_up(host: Host) -> None:
    host.core.due = 1_500
    host.driver.handle(QueueManagerStarted())
    host.core.due = 1_200
    host.driver.handle(RecordPersisted(1))
    assert host.wanted == [1_200]
    host.core.on_timer = [Persist(2, {})]

    def later(effect: Effect) -> None:
        host.core.due = 1_800

    host.does = later
    host.advance(200)
    assert host.wanted == [1_800]


def test_cancelled_wake_up_is_not_delivered(host: Host) -> None:
    host.core.due = 1_500
    host.driver.handle(QueueManagerStarted())
    host.core.due = None
    host.driver.handle(RecordPersisted(1))
    assert (host.wanted, host.driver.due) == ([], None)


def test_postponed_timer_fires_only_when_it_is_due(host: Host) -> None:
    host.core.due = 1_500
    host.driver.handle(QueueManagerStarted())
    host.core.due = 1_900
    host.driver.handle(RecordPersisted(1))
    assert host.wanted == [1_500]
    host.advance(500)
    assert (host.inputs, host.wanted) == ([QueueManagerStarted(), RecordPersisted(1)], [1_900])
    host.advance(400)
    assert host.inputs[2:] == ["timer"]


def test_ended_core_gets_no_timer_and_no_waiting_input(host: Host) -> None:
    host.core.due = 1_500
    host.core.script = scripted(started=[ResolveHost("a"), ResolveHost("b")])

    def end(effect: Effect) -> None:
        if effect == ResolveHost("a"):
            host.driver.handle(resolved("a"))
        else:
            host.driver.forget()
            host.core = ScriptedCore()

    host.driver.handle(RecordPersisted(1))
    assert host.wanted == [1_500]
    host.does = end
    host.driver.handle(QueueManagerStarted())
    assert (host.core.inputs, host.wanted) == ([], [])
