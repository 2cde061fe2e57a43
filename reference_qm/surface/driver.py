"""Drives a core: the driver passes inputs and the time to the core, carries out the core's effects in order, and
calls the core when a timer is due.

All hosts follow the same contract with the core. An effect is carried out after all effects that were returned
before it. An input that is caused by an effect waits until all effects are carried out. A core is never called
recursively.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from reference_qm.surface.clock import Now
from reference_qm.surface.effects import (
    Answer,
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
from reference_qm.surface.inputs import Input

EffectType = TypeVar("EffectType", bound=Effect)


class Core(Protocol):
    """A reference queue manager, with or without faults. A core does no I/O and reads no clock."""

    def handle(self, event: Input, now: Now, /) -> list[Effect]:
        """Process an input, and return the effects to carry out, in order."""

    def next_due(self) -> int | None:
        """Return the time for the next call of ``handle_timer`` in ms of the monotonic clock, or None if no call is
        needed.
        """

    def handle_timer(self, now: Now, /) -> list[Effect]:
        """Handle the timers that are due, and return the effects to carry out, in order."""


class RestorableCore(Core, Protocol):
    """A core that can start with the saved entries of an earlier core."""

    def restore(self, records: Mapping[str, object], /) -> None:
        """Restore the state from the entries of a store, before the first input."""


CoreFactory = Callable[[Mapping[str, object]], Core]
"""A function that makes a core from the entries of a store. A host calls this function to replace its core after a
restart.
"""


class Timer(Protocol):
    """An action that is scheduled for a later time."""

    def cancel(self) -> None:
        """Cancel the scheduled action."""


class Host(Protocol):
    """The environment of a core: time, connections, host names, a disk, a directory, and the receivers of answers. The
    documentation of each effect names the inputs with which the host answers it. The host passes these inputs to
    ``CoreDriver.handle``, at once or later.
    """

    @property
    def core(self) -> Core:
        """The current core. A restart replaces it."""

    def now(self) -> Now:
        """Return the current time."""

    def call_at(self, monotonic_ms: int, action: Callable[[], None], /) -> Timer:
        """Schedule an action for an instant. If the action cannot run then, it runs as soon as possible after the
        instant.

        The action never runs during the call of this method.
        """

    def connect(self, effect: Connect, /) -> None:
        """Open a TCP connection."""

    def send_packet_on_transport(self, effect: SendPacket, /) -> None:
        """Send a packet. If the connection has been lost, do nothing."""

    def close_transport(self, effect: CloseTransport, /) -> None:
        """Close a TCP connection if it is still open."""

    def send_datagram(self, effect: SendDatagram, /) -> None:
        """Send a UDP datagram."""

    def send_rpc_bytes(self, effect: SendRpcBytes, /) -> None:
        """Send bytes of DCE/RPC. If the connection has been lost, do nothing."""

    def close_rpc_connection(self, effect: CloseRpcConnection, /) -> None:
        """Close a DCE/RPC connection if it is still open."""

    def resolve_host(self, effect: ResolveHost, /) -> None:
        """Look up the addresses of a host name."""

    def persist(self, effect: Persist, /) -> None:
        """Write a record to the disk."""

    def read_directory(self, effect: ReadDirectory, /) -> None:
        """Read the whole directory."""

    def write_directory(self, effect: WriteDirectory, /) -> None:
        """Carry out a change of the directory."""

    def start_again(self, effect: RestartQueueManager, /) -> None:
        """Replace the core with a new core, which starts with the content of the store."""

    def answer(self, effect: Answer, /) -> None:
        """Pass the answer to a Command to the sender of the Command."""


class CoreDriver:
    """Calls the core of a host and carries out its effects."""

    def __init__(self, host: Host) -> None:
        self.due: int | None = None
        """The time of the core's next wake-up, in ms of the monotonic clock."""
        self._host = host
        self._inputs: deque[Input] = deque()
        self._is_handling_inputs = False
        self._timer: Timer | None = None
        self._host_method_by_effect_type = dict(
            (
                _pair_effect_with_host_method(Connect, host.connect),
                _pair_effect_with_host_method(SendPacket, host.send_packet_on_transport),
                _pair_effect_with_host_method(CloseTransport, host.close_transport),
                _pair_effect_with_host_method(SendDatagram, host.send_datagram),
                _pair_effect_with_host_method(SendRpcBytes, host.send_rpc_bytes),
                _pair_effect_with_host_method(CloseRpcConnection, host.close_rpc_connection),
                _pair_effect_with_host_method(ResolveHost, host.resolve_host),
                _pair_effect_with_host_method(Persist, host.persist),
                _pair_effect_with_host_method(ReadDirectory, host.read_directory),
                _pair_effect_with_host_method(WriteDirectory, host.write_directory),
                _pair_effect_with_host_method(RestartQueueManager, host.start_again),
                _pair_effect_with_host_method(CommandCompleted, host.answer),
                _pair_effect_with_host_method(CommandRejected, host.answer),
            )
        )

    def handle(self, *events: Input) -> None:
        """Pass inputs to the core in order, after the inputs that are waiting or being handled."""
        self._inputs.extend(events)
        if not self._is_handling_inputs:
            self.carry_out([])

    def carry_out(self, effects: list[Effect]) -> None:
        """Carry out effects, handle the waiting inputs, and schedule the next wake-up.

        After an error of the host, the remaining effects are lost; the waiting inputs are handled before the next
        input. Raise TypeError for an unknown effect.
        """
        self._is_handling_inputs = True
        try:
            while True:
                for effect in effects:
                    perform = self._host_method_by_effect_type.get(type(effect))
                    if perform is None:
                        raise TypeError(f"{type(effect).__name__} is not an effect that a host carries out")
                    perform(effect)
                if not self._inputs:
                    break
                effects = self._host.core.handle(self._inputs.popleft(), self._host.now())
        finally:
            self._is_handling_inputs = False
        self._schedule_wake_up(self._host.core.next_due())

    def forget(self) -> None:
        """Drop the waiting inputs and the scheduled wake-up of a core that has ended or is being replaced."""
        self._inputs.clear()
        self._schedule_wake_up(None)

    def _wake_core(self) -> None:
        self._timer = self.due = None
        now, due = self._host.now(), self._host.core.next_due()
        expired = due is not None and due <= now.monotonic_ms
        self.carry_out(self._host.core.handle_timer(now) if expired else [])

    def _schedule_wake_up(self, due: int | None) -> None:
        """Schedule the core's next wake-up. An earlier wake-up stays scheduled, but does nothing when it occurs.

        Cores postpone their timers after almost every packet, and rescheduling a wake-up would cost more than ignoring
        it.
        """
        if due is not None and self.due is not None and due >= self.due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.due = due
        self._timer = None if due is None else self._host.call_at(due, self._wake_core)


def _pair_effect_with_host_method(
    kind: type[EffectType], perform: Callable[[EffectType], None]
) -> tuple[type, Callable[[Any], None]]:
    """Return a type of effect and the host's method that carries it out. mypy checks that their types match."""
    return kind, perform
