"""The surface that both environments have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.environment.pulse import Pulse
from reference_qm.surface.clock import Now
from reference_qm.surface.driver import Timer
from reference_qm.surface.inputs import Endpoint


class StreamSink(Protocol):
    """The receiver of a stream's events."""

    def on_open(self) -> None:
        """Note that the connection stands; ``local`` and ``remote`` of the stream are known."""

    def on_failed(self, error: str) -> None:
        """Note that the connection could not be made."""

    def on_bytes(self, data: bytes) -> None:
        """Take bytes, cut anywhere."""

    def on_closed(self, reason: str) -> None:
        """Note that the other side closed or reset the connection."""


class DatagramSink(Protocol):
    """The receiver of datagrams."""

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        """Take one datagram."""


class Stream(Protocol):
    """The end of a TCP connection on one side."""

    local: Endpoint
    remote: Endpoint
    sink: StreamSink

    def send(self, data: bytes) -> None:
        """Send bytes in order."""

    def close(self) -> None:
        """Close; the sink gets no more events."""


class Listener(Protocol):
    """A TCP port that accepts connections."""

    endpoint: Endpoint

    def close(self) -> None:
        """Accept no more."""


class Datagrams(Protocol):
    """A UDP port."""

    endpoint: Endpoint

    def send(self, remote: Endpoint, data: bytes) -> None:
        """Send one datagram."""

    def close(self) -> None:
        """Receive and send no more."""


class Witness(Protocol):
    """A receiver of events that decide the course of a check and appear in no packet."""

    def timed_out(self) -> None:
        """Note that a wait has ended by its timeout; not in virtual time, where that follows from the rest."""

    def note_port(self, endpoint: Endpoint) -> None:
        """Note that a port was picked to listen on."""

    def together(self, begins: bool) -> None:
        """Note that several things happen, or have happened, before who waits looks again; not in virtual time."""


class Environment(Protocol):
    """Time and network."""

    virtual: bool
    hung_up: bool
    """Whether the other side closed a connection, as far as the time that takes is real."""
    flood: str | None
    """The finding about a SUT that sends or connects without end; None without such a finding."""
    pulse: Pulse | None
    """The known pulse of the system; None in virtual time and without a channel that measures it."""
    witness: Witness | None

    def now(self) -> Now:
        """Return the time."""

    def epoch_us(self) -> int:
        """Return the time for captures: microseconds since 1970-01-01 UTC."""

    def epoch_us_at(self, monotonic_ms: int) -> int:
        """Return the time for captures at the beginning of a millisecond of `now`."""

    def limit(self, check_ms: int) -> None:
        """End the check after so many ms, even during a wait; virtual time needs no limit."""

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        """Do something at an instant, or as soon as possible after it."""

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        """Run the environment until the condition holds; False when ``timeout_ms`` passed without it.

        Time in which the SUT is known to answer nothing does not count, but with ``exactly``, by the tester's clock.
        """

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> Stream:
        """Begin to connect from an address; the sink gets on_open or on_failed."""

    def listen(self, endpoint: Endpoint, accept: Callable[[Stream], StreamSink]) -> Listener:
        """Accept connections; port 0 picks a free one. ``accept`` returns the sink of each new stream."""

    def datagrams(self, endpoint: Endpoint, sink: DatagramSink) -> Datagrams:
        """Open a UDP port; port 0 picks a free one."""

    def resolve(self, host: str) -> tuple[str, ...]:
        """Return the textual addresses of a host name, best first."""

    def close(self) -> None:
        """Close everything that is still open."""
