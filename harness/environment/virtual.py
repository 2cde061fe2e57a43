"""The virtual environment, which runs in this process. Time jumps to the next event, and bytes reach the other side
after one millisecond.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from harness.environment.base import DatagramSink, StreamSink, UnseenEventRecorder
from harness.environment.pulse import LivenessMeasurement
from harness.errors import HarnessError
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

NETWORK_LATENCY_MS = 1
MAX_EVENTS_PER_WAIT = 1_000_000
"""The maximum number of events in one wait. If more events occur, the harness assumes that two cores answer each
other endlessly.
"""

_BOOT_TIME_MS = 3_600_000
_START_TIME_S = 1_767_225_600  # 2026-01-01: a fixed date, so that every run in virtual time produces the same bytes


def _compute_now(monotonic_ms: int) -> Now:
    """Return the virtual time at which the monotonic clock shows the given value."""
    return Now(monotonic_ms, _START_TIME_S + (monotonic_ms - _BOOT_TIME_MS) // 1000)


class _ScheduledAction:
    __slots__ = ("action", "cancelled", "due_ms")

    def __init__(self, due_ms: int, action: Callable[[], None]) -> None:
        self.due_ms = due_ms
        self.action = action
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class _VirtualStream:
    def __init__(self, environment: VirtualEnvironment, local: Endpoint, remote: Endpoint, sink: StreamSink) -> None:
        self.environment = environment
        self.local = local
        self.remote = remote
        self.sink = sink
        self.twin: _VirtualStream | None = None
        self.open = False
        self.given_up = False
        """Whether the stream was closed before the connection was established."""

    def send(self, data: bytes) -> None:
        if self.open and self.twin is not None:
            self.environment.call_later(NETWORK_LATENCY_MS, lambda twin=self.twin: twin.deliver(data))  # type: ignore[misc]

    def deliver(self, data: bytes) -> None:
        if self.open:
            self.sink.on_bytes(data)

    def close(self) -> None:
        if self.open and self.twin is not None:
            self.environment.call_later(NETWORK_LATENCY_MS, self.twin.lose)
        self.open, self.given_up = False, not self.open

    def lose(self) -> None:
        if self.open:
            self.open = False
            self.sink.on_closed("closed by the other side")


class _VirtualListener:
    def __init__(self, environment: VirtualEnvironment, endpoint: Endpoint, accept: Callable[..., StreamSink]) -> None:
        self.environment = environment
        self.endpoint = endpoint
        self.accept = accept

    def close(self) -> None:
        self.environment.listeners.pop(self.endpoint, None)


class _VirtualDatagrams:
    def __init__(self, environment: VirtualEnvironment, endpoint: Endpoint, sink: DatagramSink) -> None:
        self.environment = environment
        self.endpoint = endpoint
        self.sink = sink

    def send(self, remote: Endpoint, data: bytes) -> None:
        def deliver_datagram() -> None:
            target = self.environment.udp.get(remote)
            if target is not None:
                target.sink.on_datagram(self.endpoint, data)

        self.environment.call_later(NETWORK_LATENCY_MS, deliver_datagram)

    def close(self) -> None:
        self.environment.udp.pop(self.endpoint, None)


class VirtualEnvironment:
    """The environment for virtual time. It is deterministic: the same check always produces the same events at the
    same times.
    """

    is_time_virtual = True
    has_other_side_closed_connection = False
    flood_description: str | None = None
    pulse: LivenessMeasurement | None = None

    def __init__(self) -> None:
        self._now_ms = _BOOT_TIME_MS
        self._now = _compute_now(_BOOT_TIME_MS)
        self._events: list[tuple[int, int, _ScheduledAction]] = []
        self._event_numbers = itertools.count()
        self._ports = itertools.count(49_152)
        self.listeners: dict[Endpoint, _VirtualListener] = {}
        self.udp: dict[Endpoint, _VirtualDatagrams] = {}
        self.hosts: dict[str, tuple[str, ...]] = {}
        self.unseen_event_recorder: UnseenEventRecorder | None = None

    def now(self) -> Now:
        if self._now.monotonic_ms != self._now_ms:  # time is asked for much more often than it changes
            self._now = _compute_now(self._now_ms)
        return self._now

    def epoch_us(self) -> int:
        return self.get_epoch_us_at(self._now_ms)

    def get_epoch_us_at(self, monotonic_ms: int) -> int:
        return _START_TIME_S * 1_000_000 + (monotonic_ms - _BOOT_TIME_MS) * 1000

    def limit_check_time(self, check_ms: int) -> None:
        """Do nothing, because virtual time takes no real time, and the number of events is limited."""

    def call_later(self, delay_ms: int, action: Callable[[], None]) -> _ScheduledAction:
        """Call ``action`` after a delay."""
        return self.call_at(self._now_ms + delay_ms, action)

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> _ScheduledAction:
        event = _ScheduledAction(max(monotonic_ms, self._now_ms), action)
        heapq.heappush(self._events, (event.due_ms, next(self._event_numbers), event))
        return event

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        deadline = self._now_ms + timeout_ms
        for _ in range(MAX_EVENTS_PER_WAIT):
            if condition():
                return True
            if not self._events or self._events[0][0] > deadline:
                self._now_ms = deadline
                return condition()
            due_ms, _, event = heapq.heappop(self._events)
            self._now_ms = due_ms
            if not event.cancelled:
                event.action()
        raise HarnessError(
            f"more than {MAX_EVENTS_PER_WAIT} events occurred within {timeout_ms} virtual ms: two sides answer each "
            "other endlessly"
        )

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> _VirtualStream:
        near = _VirtualStream(self, Endpoint(local_host, next(self._ports)), remote, sink)

        def accept_connection() -> None:
            listener = self.listeners.get(remote)
            if listener is None:
                self.call_later(NETWORK_LATENCY_MS, report_refusal)
                return
            far = _VirtualStream(self, remote, near.local, sink)
            near.twin, far.twin = far, near
            far.open = True
            far.sink = listener.accept(far)
            self.call_later(NETWORK_LATENCY_MS, lambda: report_opening(far))  # before the first bytes of the other side
            far.sink.on_connection_open()

        def report_refusal() -> None:
            if not near.given_up:
                sink.on_failed("connection refused")

        def report_opening(far: _VirtualStream) -> None:
            if near.given_up:
                far.lose()
                return
            near.open = True
            near.sink.on_connection_open()

        self.call_later(NETWORK_LATENCY_MS, accept_connection)
        return near

    def listen(self, endpoint: Endpoint, accept: Callable[..., StreamSink]) -> _VirtualListener:
        endpoint = self._choose_port(endpoint)
        if endpoint in self.listeners:
            raise HarnessError(
                f"{endpoint.host}:{endpoint.port} is already open for listening in this virtual environment"
            )
        listener = self.listeners[endpoint] = _VirtualListener(self, endpoint, accept)
        return listener

    def open_udp_port(self, endpoint: Endpoint, sink: DatagramSink) -> _VirtualDatagrams:
        endpoint = self._choose_port(endpoint)
        if endpoint in self.udp:
            raise HarnessError(f"udp {endpoint.host}:{endpoint.port} is already open in this virtual environment")
        port = self.udp[endpoint] = _VirtualDatagrams(self, endpoint, sink)
        return port

    def _choose_port(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint at which the environment listens. If port 0 was requested, the endpoint has a free
        port.
        """
        if endpoint.port == 0:
            endpoint = Endpoint(endpoint.host, next(self._ports))
            if self.unseen_event_recorder is not None:
                self.unseen_event_recorder.note_port(endpoint)
        return endpoint

    def resolve(self, host: str) -> tuple[str, ...]:
        return self.hosts.get(host, (host,) if host.replace(".", "").isdigit() else ())

    def close(self) -> None:
        self._events.clear()
        self.listeners.clear()
        self.udp.clear()
