"""Define the interface that the virtual and the real environment implement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.environment.pulse import LivenessMeasurement
from reference_qm.surface.clock import Now
from reference_qm.surface.driver import Timer
from reference_qm.surface.inputs import Endpoint


class StreamSink(Protocol):
    """The interface of the object that receives the events of a stream."""

    def on_connection_open(self) -> None:
        """Handle an established connection. From now on, the ``local`` and ``remote`` endpoints of the stream are
        known.
        """

    def on_failed(self, error: str) -> None:
        """Handle a failed connection attempt."""

    def on_bytes(self, data: bytes) -> None:
        """Handle bytes that were received on the stream. They may be any part of a packet."""

    def on_closed(self, reason: str) -> None:
        """Handle the end of a connection that the other side closed or reset."""


class DatagramSink(Protocol):
    """The interface of the object that receives datagrams."""

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        """Handle one received datagram."""


class Stream(Protocol):
    """One end of a TCP connection."""

    local: Endpoint
    remote: Endpoint
    sink: StreamSink

    def send(self, data: bytes) -> None:
        """Send bytes after all bytes that were sent earlier."""

    def close(self) -> None:
        """Close the connection; the sink receives no further events."""


class TcpListener(Protocol):
    """A TCP port that accepts connections."""

    endpoint: Endpoint

    def close(self) -> None:
        """Close the port, so that no more connections are accepted."""


class UdpPort(Protocol):
    """A UDP port that sends and receives datagrams."""

    endpoint: Endpoint

    def send(self, remote: Endpoint, data: bytes) -> None:
        """Send one datagram."""

    def close(self) -> None:
        """Close the port, so that no more datagrams are sent or received."""


class UnseenEventRecorder(Protocol):
    """The interface of the object that records events which influence a check but appear in no packet."""

    def note_timeout(self) -> None:
        """Record that a wait ended because its timeout expired. This method is not called in virtual time, where
        the events alone determine when a wait ends.
        """

    def note_port(self, endpoint: Endpoint) -> None:
        """Record the port that the operating system chose for a listener."""

    def note_event_group(self, begins: bool) -> None:
        """Record the beginning (``begins`` is true) or the end of a group of events. All events of a group are handled
        before a waiting check continues. This method is not called in virtual time.
        """


class Environment(Protocol):
    """The time and the network in which a check runs."""

    is_time_virtual: bool
    has_other_side_closed_connection: bool
    """Whether the other side has closed a connection of this environment; always False in virtual time."""
    flood_description: str | None
    """A description of the flood if the SUT sends packets or opens connections endlessly, otherwise None."""
    pulse: LivenessMeasurement | None
    """The measurement of the SUT's pulse, which shows when the SUT does not respond. It is None in virtual time, or if
    no channel can measure the pulse.
    """
    unseen_event_recorder: UnseenEventRecorder | None

    def now(self) -> Now:
        """Return the current time."""

    def epoch_us(self) -> int:
        """Return the current time for captures (int microseconds since 1970-01-01 UTC)."""

    def get_epoch_us_at(self, monotonic_ms: int) -> int:
        """Return the time for captures (int microseconds since 1970-01-01 UTC) at the instant ``monotonic_ms`` of
        the monotonic clock.
        """

    def limit_check_time(self, check_ms: int) -> None:
        """End the check after ``check_ms``, even during a wait. In virtual time, do nothing."""

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> Timer:
        """Call ``action`` at the given time. If the environment is busy at that time, call it as soon as possible
        afterwards.
        """

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        """Handle events until the condition is true or ``timeout_ms`` has passed; return whether the condition is
        true.

        Unless ``exactly`` is true, known stalls of the SUT do not count as passed time.
        """

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> Stream:
        """Begin to connect to ``remote`` from the address ``local_host``. Later, ``on_connection_open`` or
        ``on_failed`` of the sink is called.
        """

    def listen(self, endpoint: Endpoint, accept: Callable[[Stream], StreamSink]) -> TcpListener:
        """Open a TCP port; port 0 means any free port. For each new stream, ``accept`` returns the object that
        receives the events of the stream.
        """

    def open_udp_port(self, endpoint: Endpoint, sink: DatagramSink) -> UdpPort:
        """Open a UDP port; port 0 means any free port."""

    def resolve(self, host: str) -> tuple[str, ...]:
        """Return the addresses of a host name as strings, with the preferred address first."""

    def close(self) -> None:
        """Close all streams, listeners and UDP ports that are still open."""
