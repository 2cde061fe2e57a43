"""Plays a capture to a check: what the SUT did comes when it did, as soon as the harness did all that came before."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Never

from harness.capture import CaptureWriter
from harness.capture.ip import TcpFlags, UdpDatagram
from harness.capture.recorder import Recorder
from harness.environment import StreamSink
from harness.environment.virtual import EVENT_LIMIT, LATENCY_MS, VirtualEnvironment
from harness.errors import HarnessError
from harness.sut.replay_items import Item, Note, Open, Packet
from harness.sut.replay_tape import as_line
from harness.sut.sut import Sut
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

FOREVER_MS = 10**9


class NotReplayable(HarnessError):
    """The harness does something else than it did when the capture was made."""


class ReplayStream:
    """The harness's end of a connection; what it sends is compared where it is recorded."""

    def __init__(self, local: Endpoint, remote: Endpoint, sink: StreamSink | None) -> None:
        self.local = local
        self.remote = remote
        self.open = True
        if sink is not None:
            self.sink = sink

    def send(self, data: bytes) -> None:
        """Do nothing: the recorder has it."""

    def close(self) -> None:
        self.open = False


class Player:
    """The capture of one check, as far as it was played. Takes notes as a tape does, and compares them."""

    def __init__(self, items: list[Item], began: Mapping[str, int], differs: Callable[[str], object]) -> None:
        self.environment: ReplayEnvironment
        self.late: dict[int, dict[str, Any]] = {}
        """Answers to requests that were begun."""
        self._items = items
        self._at = 0
        self._began = began
        self._differs = differs
        self._answer: dict[str, Any] | None = None
        self._streams: dict[tuple[Endpoint, Endpoint], ReplayStream] = {}
        self._delivering = False
        self.over = False
        """Whether nothing is played or compared any more."""

    # -- what the harness does -----------------------------------------------------------------------------------

    def begin(self, recorder: Recorder, sut: Sut) -> None:
        """Compare what is recorded from now on with what was."""
        recorder.new_writer = lambda path: _ComparingWriter(path, self)

    def end(self) -> None:
        """Play no more: the check is over."""
        self.over = True

    def written(self, frame: int, packet: bytes) -> None:
        """Compare a frame that is recorded now."""
        if self.over:
            return
        self._pass_sizes()
        expected = self._next()
        if isinstance(expected, Note) or expected is None or expected.packet != packet:
            self._differ(f"frame {frame}: the harness sends something else: not replayable")
        self._at += 1
        self.environment.follow(expected.us)

    def asked(self, how: str, verb: str, arguments: Mapping[str, Any]) -> None:
        """Compare a question that is asked now."""
        if self.over:
            raise NotReplayable("the capture is over")
        self._pass_sizes()
        expected = self._next()
        where = f"after frame {self._frame()}"
        wanted = json.loads(as_line({how: verb, "with_": arguments}))
        if not isinstance(expected, Note):
            self._differ(f"{where}: the harness asks {verb}: not replayable")
        if {key: value for key, value in expected.said.items() if key != "us"} != wanted:
            self._differ(f"{where}: the harness asks {verb} otherwise: not replayable")
        self._at += 1
        self._answer = None
        self.environment.follow(expected.us)

    def has_answer(self) -> bool:
        """Return whether the question has its answer."""
        return self._answer is not None or self.over

    def take_answer(self) -> dict[str, Any]:
        """Return the answer to the question."""
        answer, self._answer = self._answer, None
        if answer is None or not ("refused" in answer or "answered" in answer):
            self._differ(f"after frame {self._frame()}: the control channel answers nothing: not replayable")
        return answer

    def rest_ms(self) -> int:
        """Return how long all that is left took."""
        last = max((one.us for one in self._items[self._at :]), default=0)
        return max(0, (last - self.environment.epoch_us()) // 1000) + 1_000

    def _differ(self, why: str) -> Never:
        if not self.over:
            self.over = True
            self._differs(why)
        raise NotReplayable(why)

    def _frame(self) -> int:
        return next((one.frame for one in reversed(self._items[: self._at])), 0)

    # -- what the SUT does ---------------------------------------------------------------------------------------

    def next_us(self) -> int | None:
        """Return when the SUT acts next; None while the harness is to act, or when all was played."""
        if self.over or self._delivering:
            return None
        item = self._next()
        if item is None:
            return None
        if isinstance(item, Note):
            acts = not ("call" in item.said or "begin" in item.said)
        elif isinstance(item, Open):
            acts = item.by_sut or self.environment.awaits(item)
        else:
            acts = item.by_sut
        return item.us if acts else None

    def play(self) -> None:
        """Let the SUT do what it does next."""
        self._delivering = True
        try:
            self._play(self._items[self._at])
        finally:
            self._delivering = False

    def _play(self, item: Item) -> None:
        if isinstance(item, Note):
            self._at += 1
            if "bytes" in item.said:
                self._deliver(self._gather(item.said["bytes"]))
            elif "to" in item.said:
                self.late[item.said["to"]] = item.said
            else:
                self._answer = item.said
        elif isinstance(item, Open):
            self._open(item)
        else:
            self._deliver([item])

    def _gather(self, size: object) -> list[Packet]:
        """Return the frames of bytes that came at once."""
        found: list[Packet] = []
        left = size if isinstance(size, int) else 0
        for item in self._items[self._at :]:
            if left <= 0:
                break
            if isinstance(item, Note) and "bytes" in item.said:
                continue
            if not isinstance(item, Packet) or not item.by_sut or not item.segment.data:
                break
            found.append(item)
            left -= len(item.segment.data)
        if not found or left:
            self._differ(f"after frame {self._frame()}: the capture lacks what came at once: not replayable")
        return found

    def _open(self, item: Open) -> None:
        local, remote = (item.server, item.client) if item.by_sut else (item.client, item.server)
        stream = self.environment.opened(item, local, remote)
        if stream is None:
            self._differ(f"frame {item.frame}: the harness does not listen there: not replayable")
        self._streams[item.client, item.server] = stream
        at = self._at
        stream.sink.on_open()
        if self._at == at:
            self._differ(f"frame {item.frame}: the harness does not record the connection: not replayable")

    def _deliver(self, packets: list[Packet]) -> None:
        first, at = packets[0], self._at
        data = b"".join(one.segment.data for one in packets)
        if isinstance(first.segment, UdpDatagram):
            self.environment.datagram(first.segment)
        else:
            ends = first.segment.source, first.segment.target
            stream = self._streams.get(ends) or self._streams.get(ends[::-1])
            if stream is not None and stream.open:
                if data:
                    stream.sink.on_bytes(data)
                elif first.segment.flags & (TcpFlags.FIN | TcpFlags.RST):
                    stream.open = False
                    stream.sink.on_closed("closed by the other side")
        if self._at == at and not self.over:
            self._differ(f"frame {first.frame}: the harness does not take it: not replayable")

    def _next(self) -> Item | None:
        return self._items[self._at] if self._at < len(self._items) else None

    def _pass_sizes(self) -> None:
        """Pass over how many bytes came at once, which who delivers them has seen."""
        while self._delivering and isinstance(item := self._next(), Note) and "bytes" in item.said:
            self._at += 1

    def left(self) -> list[Item]:
        """Return what was not played yet."""
        return self._items[self._at :]


class _ComparingWriter(CaptureWriter):
    """A writer of captures that has each frame compared with the one that was written then."""

    def __init__(self, path: Path, player: Player) -> None:
        super().__init__(path)
        self._player = player

    def note(self, text: bytes) -> None:
        """Write nothing: who asks compares."""

    def _write(self, packet: bytes, time_us: int, comment: str | None, inbound: bool | None) -> int:
        number = super()._write(packet, time_us, comment, inbound)
        self._player.written(number, packet)
        return number


class ReplayEnvironment(VirtualEnvironment):
    """Time jumps to the next event or to what the SUT does next; where the harness recorded something, it is then."""

    def __init__(self, player: Player, began: Mapping[str, int], *, virtual: bool) -> None:
        super().__init__()
        self.virtual = virtual
        self._player = player
        self._began = began
        self._now_ms = began["monotonic_ms"]
        self._us = began["epoch_us"]
        """The time where the last thing happened that was recorded."""
        self._connecting: list[tuple[ReplayStream, StreamSink]] = []

    def now(self) -> Now:
        elapsed_ms = self._now_ms - self._began["monotonic_ms"]
        within_us = self._began["epoch_us"] % 1_000_000
        return Now(self._now_ms, self._began["utc_s"] + (within_us // 1000 + elapsed_ms) // 1000)

    def epoch_us(self) -> int:
        return max(self._us, self._began["epoch_us"] + (self._now_ms - self._began["monotonic_ms"]) * 1000)

    def follow(self, us: int) -> None:
        """Note that it is as late as something was recorded."""
        self._us = max(self._us, us)
        self._now_ms = max(self._now_ms, self._ms(us))

    def _ms(self, us: int) -> int:
        return self._began["monotonic_ms"] + (us - self._began["epoch_us"]) // 1000

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        deadline = self._now_ms + timeout_ms
        for _ in range(EVENT_LIMIT):
            if condition():
                return True
            next_us = self._player.next_us()
            sut_ms = None if next_us is None else max(self._ms(next_us), self._now_ms)
            event_ms = self._events[0][0] if self._events else None
            due = [each for each in (sut_ms, event_ms) if each is not None and each <= deadline]
            if not due:
                self._now_ms = max(deadline, self._now_ms)
                return condition()
            if next_us is not None and sut_ms == min(due):
                self.follow(next_us)
                self._player.play()
                continue
            due_ms, _, event = heapq.heappop(self._events)
            self._now_ms = max(self._now_ms, due_ms)
            if not event.cancelled:
                event.action()
        raise NotReplayable(f"more than {EVENT_LIMIT} events in one wait")

    # -- connections ---------------------------------------------------------------------------------------------

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> Any:
        stream = ReplayStream(Endpoint(local_host, 0), remote, sink)
        if any(isinstance(one, Open) and not one.by_sut and one.server == remote for one in self._player.left()):
            self._connecting.append((stream, sink))
        else:
            self.later(2 * LATENCY_MS, lambda: self._refuse(stream, sink))
        return stream

    @staticmethod
    def _refuse(stream: ReplayStream, sink: StreamSink) -> None:
        if stream.open:
            sink.on_failed("connection refused")

    def awaits(self, item: Open) -> bool:
        """Return whether the harness is connecting there."""
        return any(stream.remote == item.server and stream.open for stream, _ in self._connecting)

    def opened(self, item: Open, local: Endpoint, remote: Endpoint) -> ReplayStream | None:
        """Return the harness's end of a connection that stands now; None where it neither asked nor listens."""
        if item.by_sut:
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

    def listen(self, endpoint: Endpoint, accept: Callable[..., StreamSink]) -> Any:
        used = {one.server for one in self._player.left() if isinstance(one, Open) and one.by_sut}
        return super().listen(self._picked(endpoint, used, set(self.listeners)), accept)

    def datagrams(self, endpoint: Endpoint, sink: Any) -> Any:
        used = {
            one.segment.target if one.by_sut else one.segment.source
            for one in self._player.left()
            if isinstance(one, Packet) and isinstance(one.segment, UdpDatagram)
        }
        if endpoint.port == 0:
            for one in self._player.left():
                if isinstance(one, Packet) and isinstance(one.segment, UdpDatagram) and not one.by_sut:
                    source = one.segment.source
                    if source.host == endpoint.host and source not in self.udp:
                        endpoint = source
                        break
        return super().datagrams(self._picked(endpoint, used, set(self.udp)), sink)

    @staticmethod
    def _picked(endpoint: Endpoint, used: set[Endpoint], taken: set[Endpoint]) -> Endpoint:
        """Return the endpoint with the port that was picked for it then."""
        if endpoint.port:
            return endpoint
        free = sorted(one for one in used - taken if one.host == endpoint.host)
        return free[0] if free else endpoint

    def datagram(self, segment: UdpDatagram) -> None:
        """Let a datagram of the SUT arrive."""
        end = self.udp.get(segment.target)
        if end is not None:
            end.sink.on_datagram(segment.source, segment.data)
