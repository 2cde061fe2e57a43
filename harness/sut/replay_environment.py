"""Provide the environment of a replayed check. The capture determines the time and the network of this environment."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from harness.capture.ip import UdpDatagram
from harness.environment import StreamSink
from harness.environment.virtual import MAX_EVENTS_PER_WAIT, NETWORK_LATENCY_MS, VirtualEnvironment
from harness.sut.replay_items import ConnectionOpening, NotReplayable
from harness.sut.replay_player import CapturePlayer
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

TIMER_LATENESS_MS = 50
"""int ms: how late a timer of the harness may run in real time. If an action of the system is recorded within this
time after a timer, the replay plays the action before it runs the timer.
"""


class ReplayStream:
    """The harness's end of a connection. The bytes that it sends are discarded, because the recorder compares them."""

    def __init__(self, local: Endpoint, remote: Endpoint, sink: StreamSink | None) -> None:
        self.local = local
        self.remote = remote
        self.open = True
        if sink is not None:
            self.sink = sink

    def send(self, data: bytes) -> None:
        """Do nothing, because the recorder compares the bytes."""

    def close(self) -> None:
        self.open = False


class ReplayEnvironment(VirtualEnvironment):
    """The environment of a replay. Time jumps to the next event or to the next action of the SUT. When the harness
    acts, the time is that of the recorded action.

    ``virtual`` states whether the capture is from virtual time. In a capture from real time, a wait ends where it
    ends in the capture.
    """

    def __init__(self, player: CapturePlayer, began: Mapping[str, int], *, virtual: bool) -> None:
        super().__init__()
        self.is_time_virtual = virtual
        self._max_timer_lateness_ms = 0 if virtual else TIMER_LATENESS_MS
        self._player = player
        self._start_times = began
        self._now_ms = began["monotonic_ms"]
        self._last_event_us = began["epoch_us"]
        """The time of the last event of the capture that has been played (int microseconds)."""
        ahead_s = began["utc_s"] - began["epoch_us"] // 1_000_000
        self._packet_clock_lead_s = ahead_s if abs(ahead_s) > 1 else 0
        """The clock of packets minus the clock of captures (int s)."""
        self._ports = count(1)  # the ports to return after the end of the replay; no capture contains these ports
        self._connecting: list[tuple[ReplayStream, StreamSink]] = []

    def now(self) -> Now:
        return Now(self._now_ms, self._utc_us() // 1_000_000 + self._packet_clock_lead_s)

    def _utc_us(self) -> int:
        """Return the time of day (int microseconds). If the capture was recorded in real time and the harness's next
        action is imminent, return the time of this action.
        """
        us = self.get_epoch_us_at(self._now_ms)
        coming_us = None if self.is_time_virtual else self._player.get_harness_action_us()
        return coming_us if coming_us is not None and us < coming_us < us + TIMER_LATENESS_MS * 1_000 else us

    def epoch_us(self) -> int:
        return max(self._last_event_us, self.get_epoch_us_at(self._now_ms))

    def get_epoch_us_at(self, monotonic_ms: int) -> int:
        return self._start_times["epoch_us"] + (monotonic_ms - self._start_times["monotonic_ms"]) * 1000

    def advance_clock_to(self, time_us: int) -> None:
        """Set the clock to the time of a recorded event."""
        self._last_event_us = max(self._last_event_us, time_us)
        self._now_ms = max(self._now_ms, self._convert_to_monotonic_ms(time_us))

    def _convert_to_monotonic_ms(self, time_us: int) -> int:
        return self._start_times["monotonic_ms"] + (time_us - self._start_times["epoch_us"]) // 1000

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        deadline_ms = self._now_ms + timeout_ms
        for _ in range(MAX_EVENTS_PER_WAIT):
            if not self._player.must_play_more_before_check and condition():
                return True
            if self._player.has_ended or self.is_time_virtual:
                over = not self._play_next_event(deadline_ms)
            else:
                over = not self._play_next_action(deadline_ms)
            if over:
                return condition()
        raise NotReplayable(f"more than {MAX_EVENTS_PER_WAIT} events occurred during one wait")

    def _play_next_event(self, deadline_ms: int) -> bool:
        """Handle the next event of a capture from virtual time: an action of the system, or a timer of the harness.
        Return False if the current wait ends before the next event.
        """
        next_us = self._player.get_sut_action_us()
        if (
            next_us is not None
            and self._precedes_timers(next_us)
            and self._convert_to_monotonic_ms(next_us) <= deadline_ms
        ):
            self.advance_clock_to(next_us)
            self._player.play_next_action()
            return True
        if self._run_due_timer(deadline_ms):
            return True
        self._now_ms = max(deadline_ms, self._now_ms)
        return False

    def _play_next_action(self, deadline_ms: int) -> bool:
        """Handle the next event of a capture from real time: an action of the system, or a timer of the harness.
        Return False if the current wait ends before the next event, or if no event is left.
        """
        next_us, timeout_us = self._player.get_sut_action_us(), self._player.get_timeout_us()
        if next_us is not None:
            if self._precedes_timers(next_us):
                self.advance_clock_to(next_us)
                self._player.play_next_action()
                while not self._player.must_play_more_before_check and self._run_due_timer(self._now_ms):
                    pass  # the waiting check continues after the due timers have run
            else:
                self._run_due_timer(self._convert_to_monotonic_ms(next_us))
            return True
        if timeout_us is not None:
            if self._run_due_timer(self._convert_to_monotonic_ms(timeout_us) - self._max_timer_lateness_ms):
                return True
            self.advance_clock_to(timeout_us)
            self._player.skip_timeout_note()
            return False
        if self._run_due_timer(deadline_ms + self._max_timer_lateness_ms):
            return True
        self._now_ms = max(deadline_ms, self._now_ms)
        return False

    def _precedes_timers(self, time_us: int) -> bool:
        """Return whether the system's next action in the capture comes before the harness's next timer. ``us`` is
        the time of the action.
        """
        return (
            not self._events
            or max(self._convert_to_monotonic_ms(time_us), self._now_ms)
            <= self._events[0][0] + self._max_timer_lateness_ms
        )

    def _run_due_timer(self, until_ms: int) -> bool:
        """Run the next timer of the harness if it expires no later than the given time. Return whether a timer was
        due.
        """
        if not self._events or self._events[0][0] > max(until_ms, self._now_ms):
            return False
        due_ms, _, event = heapq.heappop(self._events)
        self._now_ms = max(self._now_ms, due_ms)
        if not event.cancelled:
            event.action()
        return True

    # -- connections ---------------------------------------------------------------------------------------------

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> Any:
        stream = ReplayStream(Endpoint(local_host, 0), remote, sink)
        if any(
            isinstance(one, ConnectionOpening) and not one.is_by_sut and one.server == remote
            for one in self._player.list_unplayed_items()
        ):
            self._connecting.append((stream, sink))
        else:
            self.call_later(2 * NETWORK_LATENCY_MS, lambda: self._refuse_connection(stream, sink))
        return stream

    @staticmethod
    def _refuse_connection(stream: ReplayStream, sink: StreamSink) -> None:
        if stream.open:
            sink.on_failed("connection refused")

    def is_connecting_to(self, item: ConnectionOpening) -> bool:
        """Return whether the harness is connecting to an endpoint."""
        return any(stream.remote == item.server and stream.open for stream, _ in self._connecting)

    def get_harness_end(self, item: ConnectionOpening, local: Endpoint, remote: Endpoint) -> ReplayStream | None:
        """Return the harness's end of a connection that has just been opened, or None if the harness neither opens
        such a connection nor listens for it.
        """
        if item.is_by_sut:
            listener = self.listeners.get(local)
            if listener is None:
                return None
            stream = ReplayStream(local, remote, None)
            stream.sink = listener.accept(stream)
            return stream
        for number, (stream, _) in enumerate(self._connecting):
            if stream.remote == item.server and stream.open:
                del self._connecting[number]
                stream.local = local
                return stream
        return None

    def _choose_port(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint at which the replayed harness listens. Its port is the port that was chosen in the
        recorded check.
        """
        return (
            endpoint
            if endpoint.port
            else super()._choose_port(Endpoint(endpoint.host, self._player.take_recorded_port()))
        )

    def datagram(self, segment: UdpDatagram) -> None:
        """Deliver a datagram from the SUT to the harness."""
        end = self.udp.get(segment.target)
        if end is not None:
            end.sink.on_datagram(segment.source, segment.data)

    def resolve(self, host: str) -> tuple[str, ...]:
        """Return an address unchanged, because captures do not contain the results of name resolution."""
        found = super().resolve(host)
        if not found:
            self._player.end_check_for_difference(
                "the check resolves a host name, which captures do not record: not replayable"
            )
        return found
