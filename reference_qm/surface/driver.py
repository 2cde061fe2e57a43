"""Drives a core: feeds it inputs with the time, has its effects carried out in order, wakes it when it is due.

The contract of the sans-IO core, the same in every host: an effect is carried out after every effect that was returned
before it; an input that arises meanwhile waits until all of them are; a core is never called while it is called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from reference_qm.surface.clock import Now
from reference_qm.surface.effects import (
    Answer,
    CloseTransport,
    Completed,
    Connect,
    Effect,
    Persist,
    ReadDirectory,
    Rejected,
    ResolveHost,
    RpcClose,
    RpcSend,
    SendDatagram,
    SendPacket,
    StartAgain,
    WriteDirectory,
)
from reference_qm.surface.inputs import Input

E = TypeVar("E", bound=Effect)


class Core(Protocol):
    """A reference queue manager, or one wrapped in faults. It does no I/O and reads no clock."""

    def handle(self, event: Input, now: Now, /) -> list[Effect]:
        """Take an input; return what is to be done, in order."""

    def next_due(self) -> int | None:
        """Return when ``handle_timer`` wants to be called: int ms of the monotonic clock, None for never."""

    def handle_timer(self, now: Now, /) -> list[Effect]:
        """Let due timers expire; return what is to be done, in order."""


class RestorableCore(Core, Protocol):
    """A core that begins with what another left."""

    def restore(self, records: Mapping[str, object], /) -> None:
        """Begin with the entries of a store, before the first input."""


NewCore = Callable[[Mapping[str, object]], Core]
"""Makes a core that begins with the entries of a store: a host ends and starts cores, what survives is in its store."""


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Let it not happen."""


class Host(Protocol):
    """The surroundings of a core: time, connections, names, a disk, a directory, and whoever waits for answers.

    An effect is answered by the inputs that it names, given to ``Driver.handle`` at once or later.
    """

    @property
    def core(self) -> Core:
        """The core that is driven now."""

    def now(self) -> Now:
        """Return the time."""

    def call_at(self, monotonic_ms: int, action: Callable[[], None], /) -> Timer:
        """Do something at an instant, or as soon as possible after it; never at once."""

    def connect(self, effect: Connect, /) -> None:
        """Open a TCP connection."""

    def send_packet(self, effect: SendPacket, /) -> None:
        """Send a packet; nothing when the connection was lost while the core computed."""

    def close_transport(self, effect: CloseTransport, /) -> None:
        """Close a TCP connection, if it is still there."""

    def send_datagram(self, effect: SendDatagram, /) -> None:
        """Send a UDP datagram."""

    def rpc_send(self, effect: RpcSend, /) -> None:
        """Send bytes of DCE/RPC; nothing when the connection was lost while the core computed."""

    def rpc_close(self, effect: RpcClose, /) -> None:
        """Close a connection of DCE/RPC, if it is still there."""

    def resolve_host(self, effect: ResolveHost, /) -> None:
        """Look a host name up."""

    def persist(self, effect: Persist, /) -> None:
        """Put a record on disk."""

    def read_directory(self, effect: ReadDirectory, /) -> None:
        """Read everything that the directory holds."""

    def write_directory(self, effect: WriteDirectory, /) -> None:
        """Change the directory."""

    def start_again(self, effect: StartAgain, /) -> None:
        """Start another core on what is in the store."""

    def answer(self, effect: Answer, /) -> None:
        """Pass the answer to a Command to whoever asked."""


class Driver:
    """The one that calls the core of a host."""

    def __init__(self, host: Host) -> None:
        self.due: int | None = None
        """When the core is woken next, int ms of the monotonic clock."""
        self._host = host
        self._inputs: deque[Input] = deque()
        self._busy = False
        self._timer: Timer | None = None
        self._perform = dict(
            (
                _pair_effect(Connect, host.connect),
                _pair_effect(SendPacket, host.send_packet),
                _pair_effect(CloseTransport, host.close_transport),
                _pair_effect(SendDatagram, host.send_datagram),
                _pair_effect(RpcSend, host.rpc_send),
                _pair_effect(RpcClose, host.rpc_close),
                _pair_effect(ResolveHost, host.resolve_host),
                _pair_effect(Persist, host.persist),
                _pair_effect(ReadDirectory, host.read_directory),
                _pair_effect(WriteDirectory, host.write_directory),
                _pair_effect(StartAgain, host.start_again),
                _pair_effect(Completed, host.answer),
                _pair_effect(Rejected, host.answer),
            )
        )

    def handle(self, *events: Input) -> None:
        """Give the core inputs, in order; now, or after those that are being taken."""
        self._inputs.extend(events)
        if not self._busy:
            self.carry_out([])

    def carry_out(self, effects: list[Effect]) -> None:
        """Carry out effects, then take the inputs that wait, then see to the next wake-up.

        An error of the host ends that: the effects behind it are lost, inputs that wait come before the next one.
        TypeError: there is no such effect.
        """
        self._busy = True
        try:
            while True:
                for effect in effects:
                    perform = self._perform.get(type(effect))
                    if perform is None:
                        raise TypeError(f"{type(effect).__name__} is not an effect that a host carries out")
                    perform(effect)
                if not self._inputs:
                    break
                effects = self._host.core.handle(self._inputs.popleft(), self._host.now())
        finally:
            self._busy = False
        self._schedule_wake_up(self._host.core.next_due())

    def forget(self) -> None:
        """Drop the inputs that wait and the wake-up: the core has ended, begins again or is replaced."""
        self._inputs.clear()
        self._schedule_wake_up(None)

    def _wake_core(self) -> None:
        self._timer = self.due = None
        now, due = self._host.now(), self._host.core.next_due()
        expired = due is not None and due <= now.monotonic_ms
        self.carry_out(self._host.core.handle_timer(now) if expired else [])

    def _schedule_wake_up(self, due: int | None) -> None:
        """See that the core is woken when it is due; a wake-up that is put off stays, and comes in vain.

        Cores put their timers off with almost every packet, and a wake-up costs more to move than to ignore.
        """
        if due is not None and self.due is not None and due >= self.due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self.due = due
        self._timer = None if due is None else self._host.call_at(due, self._wake_core)


def _pair_effect(kind: type[E], perform: Callable[[E], None]) -> tuple[type, Callable[[Any], None]]:
    """Pair an effect with what carries it out, which takes such effects: mypy sees that."""
    return kind, perform
