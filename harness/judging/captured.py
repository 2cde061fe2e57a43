"""Judge a capture independently of the run that recorded it. The passive predicates judge the packets from the SUT as
they did in the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from harness.capture.recorder import COMMENT_ON_OPENED_RPC_CONNECTION, Connection, Frame, Recorder
from harness.capture.streams import CapturedDirection, CapturedStream, CapturedStreamsAndDatagrams, read_streams
from harness.capture.window import MEMORY_BYTES_PER_FRAME
from harness.environment import VirtualEnvironment
from harness.errors import MqconformError
from harness.judging.judge import MAX_SHOWN_PASSES_PER_RULE, Judge
from harness.judging.passive import load_predicates
from harness.judging.verdicts import VerdictEntry
from harness.rules.catalogue import Catalogue, load_catalogue
from reference_qm.releases.names import NO_RELEASE

MAX_CAPTURE_BYTES = 512 * 1024 * 1024
"""int bytes: the maximum size of a capture that is judged. Each frame counts as at least `MEMORY_BYTES_PER_FRAME`. This
limit is higher than the limit for the packets of one check.
"""


class CaptureWithoutPacketDirections(MqconformError):
    """The error when a capture does not record which of its packets the SUT sent."""


class CaptureTooLarge(MqconformError):
    """The error when a capture contains more packets than the harness judges."""


_TimedReplayEvent = tuple[int, int, Callable[[], object]]
"""A frame of the capture, with its time (int microseconds since 1970 UTC, 0 if unknown) and the function that
replays the frame.
"""


class JudgedCapture(NamedTuple):
    """The verdicts for a capture, sorted by rule. ``ended_us``: the time of the capture's last frame, in int
    microseconds since 1970 UTC.
    """

    entries: list[VerdictEntry]
    ended_us: int


def judge_capture(
    path: Path,
    name: str,
    catalogue: Catalogue,
    profile: str = NO_RELEASE,
    watch: Callable[[Frame], None] = lambda frame: None,
) -> JudgedCapture:
    """Apply every passive predicate to a capture of a SUT that has the given profile. ``name`` is the name of the
    SUT in the verdicts.

    ``watch`` is also called with each packet. Raise CaptureError, CaptureWithoutPacketDirections or CaptureTooLarge if
    the capture cannot be judged. Failures and warnings name the deciding field; passes are only counted.
    """
    passes = Counter(dict.fromkeys(load_predicates(), MAX_SHOWN_PASSES_PER_RULE))
    entries: list[VerdictEntry] = []
    judge = Judge(catalogue, entries, test=name, covers=(), capture=name, passes=passes, profile=profile)
    replay = CaptureReplayRecorder(path)
    replay.listeners.append(judge.packets.on_frame)
    replay.listeners.append(watch)
    replay.listeners.append(lambda frame: frame.drop_dissection())
    replay.play_capture()
    judge.conclude_passive_rules()
    return JudgedCapture(entries, replay.now_us)


def lines_of_capture(path: Path, name: str, profile: str = NO_RELEASE) -> tuple[int, list[dict[str, Any]]]:
    """Return the time of the last frame of a capture (int microseconds since 1970 UTC), and the verdicts for the
    capture as lines of schema 2.

    The caller must add ``test``, ``seq`` and ``ms`` to the lines. Raise the exceptions of `judge_capture`.
    """
    found = judge_capture(path, name, load_catalogue(), profile)
    lines = [entry.to_json(0, 0) for entry in found.entries]
    return found.ended_us, [
        {key: value for key, value in line.items() if key not in ("test", "seq", "ms")} for line in lines
    ]


class CaptureReplayRecorder(Recorder):
    """A recorder that receives the frames of a capture as if they were arriving now. The frames keep their numbers
    and times in the capture.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(VirtualEnvironment(), None, flood_limit=MAX_CAPTURE_BYTES)
        self.source = path
        self._number = 0
        self._start_us = self.now_us = 0

    def play_capture(self) -> None:
        """Judge the whole capture, frame by frame."""
        self._number = 1
        found = read_streams(self.source)
        if (cost := _estimate_judging_cost(found)) > MAX_CAPTURE_BYTES:
            raise CaptureTooLarge(
                f"{self.source} is too large to judge: its packets count as "
                f"{cost} bytes, and at most {MAX_CAPTURE_BYTES} are judged"
            )
        self._start_us = self.now_us = found.start_us
        events: list[_TimedReplayEvent] = []
        for one in found.udp_datagrams:
            by_sut = self._note_direction(one.inbound)
            ends = (one.target, one.source) if by_sut else (one.source, one.target)
            events.append((one.frame, one.time_us, partial(self.record_datagram, *ends, one.data, from_sut=by_sut)))
        for stream in found.tcp_streams:
            events += self._replay_stream(stream)
        for number, time_us, happens in sorted(events, key=lambda event: event[0]):
            self._number = number
            self.now_us = max(self.now_us, time_us)
            happens()
        self.record_incomplete_packets_of_connections()

    def elapsed_ms(self) -> int:
        return (self.now_us - self._start_us) // 1000

    def _get_next_frame_number(self) -> int:
        return self._number

    def _replay_stream(self, stream: CapturedStream) -> Iterator[_TimedReplayEvent]:
        client_is_sut = self._note_direction(stream.is_sut_the_client)
        rpc = stream.comment == COMMENT_ON_OPENED_RPC_CONNECTION
        connection = self.record_opening(stream.client, stream.server, by_peer=not client_is_sut, rpc=rpc)
        for way, from_sut in ((stream.from_client, client_is_sut), (stream.from_server, not client_is_sut)):
            yield from (
                self._replay_received_bytes(way, connection) if from_sut else self._replay_sent_bytes(way, connection)
            )
            if way.closed_frame is not None:
                yield way.closed_frame, 0, partial(self.record_connection_end, connection, by_peer=not from_sut)

    def _replay_received_bytes(self, way: CapturedDirection, connection: Connection) -> Iterator[_TimedReplayEvent]:
        for each in way.byte_ranges:
            yield (
                each.frame,
                each.time_us,
                partial(self._record_received_segment, connection, way, each.start, each.end),
            )

    def _record_received_segment(self, connection: Connection, way: CapturedDirection, start: int, end: int) -> None:
        self.record_received(connection, bytes(way.data[start:end]))

    def _replay_sent_bytes(self, way: CapturedDirection, connection: Connection) -> Iterator[_TimedReplayEvent]:
        """Yield an event for each packet from the peer. Bytes that the peer sent in one piece are one packet. The
        number of a packet is the number of its first frame.
        """
        first = None
        for each in way.byte_ranges:
            first = first or each
            if each.has_push_flag or each is way.byte_ranges[-1]:
                yield (
                    first.frame,
                    each.time_us,
                    partial(self._record_sent_bytes, connection, way, first.start, each.end),
                )
                first = None

    def _record_sent_bytes(self, connection: Connection, way: CapturedDirection, start: int, end: int) -> None:
        self.record_sent(connection, bytes(way.data[start:end]))

    def _note_direction(self, inbound: bool | None) -> bool:
        if inbound is None:
            raise CaptureWithoutPacketDirections(
                f"{self.source}: the capture does not record which packets the SUT sent (the direction of frames)"
            )
        return inbound


def _estimate_judging_cost(found: CapturedStreamsAndDatagrams) -> int:
    sizes = [len(one.data) for one in found.udp_datagrams]
    for stream in found.tcp_streams:
        sizes += [each.end - each.start for way in (stream.from_client, stream.from_server) for each in way.byte_ranges]
    return sum(max(size, MEMORY_BYTES_PER_FRAME) for size in sizes)
