"""Play a capture to a check in place of the system. Each recorded action of the system takes place at its recorded
time, but not before the harness has repeated all of its own actions that precede it in the capture.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Never, Protocol

from harness.capture import CaptureWriter
from harness.capture.ip import TcpFlags, UdpDatagram
from harness.capture.recorder import Recorder
from harness.environment import StreamSink
from harness.errors import SutUnavailable
from harness.printable import one_line
from harness.sut.replay_items import CaptureItem, ConnectionOpening, NotReplayable, ReplayedNote, ReplayedPacket
from harness.sut.replay_tape import encode_note
from harness.sut.sut import Sut
from reference_qm.surface.inputs import Endpoint

NOT_REPLAYABLE = "not replayable"
_LONGEST_END_TEXT_CHARACTERS = 200


class HarnessEndOfReplayedStream(Protocol):
    """The harness's end of a connection in the capture."""

    open: bool

    @property
    def sink(self) -> StreamSink:
        """Return the object that receives the bytes from the system."""


class ReplayEnvironmentInterface(Protocol):
    """The interface of the environment in which a capture is played. It provides the time and the harness's
    connections.
    """

    def epoch_us(self) -> int:
        """Return the current time of the replay (int microseconds since 1970 UTC)."""

    def advance_clock_to(self, time_us: int) -> None:
        """Set the clock to the time of a recorded event."""

    def is_connecting_to(self, item: ConnectionOpening) -> bool:
        """Return whether the harness is connecting to an endpoint."""

    def get_harness_end(
        self, item: ConnectionOpening, local: Endpoint, remote: Endpoint
    ) -> HarnessEndOfReplayedStream | None:
        """Return the harness's end of a connection that has just been opened, or None if the harness neither opens
        such a connection nor listens for it.
        """

    def datagram(self, segment: UdpDatagram) -> None:
        """Deliver a datagram from the SUT to the harness."""


class CapturePlayer:
    """The player of the capture of one check. While the check runs, the player receives the same notes as a recorder of
    checks, and compares them with the notes in the capture. If the check cannot be replayed, ``differs`` is called once
    with the reason.
    """

    def __init__(self, items: list[CaptureItem], differs: Callable[[str], object]) -> None:
        self.environment: ReplayEnvironmentInterface
        self.late: dict[int, ReplayedNote] = {}
        """The answers to the control requests that ``begin`` started, by request id."""
        self.has_ended = False
        """Whether the replay has ended. After its end, the actions of the harness are no longer compared."""
        self._items = remove_groups_without_events(items)
        self._at = 0
        self._report_difference = differs
        self._answer: ReplayedNote | None = None
        self._streams: dict[tuple[Endpoint, Endpoint], HarnessEndOfReplayedStream] = {}
        self._observation_count_by_name: Counter[str] = Counter()
        self._is_delivering_packets = False
        self.must_play_more_before_check = False
        """Whether the player must play further events of the capture before the check, which is waiting, may continue.
        """

    # -- actions of the harness ----------------------------------------------------------------------------------

    def begin(self, recorder: Recorder, sut: Sut, run: str, test: str) -> None:
        """Begin to compare the records of the check with the records in the capture."""
        recorder.new_writer = lambda path: _CaptureComparingWriter(path, self)

    def lose(self, why: str) -> None:
        """Do nothing, because the capture already contains its notes about missing information."""

    def record_observation(self, what: str, found: str | None = None) -> str | None:
        """Return the recorded result of the observation at this position in the capture."""
        self._observation_count_by_name[what] += 1
        item = None if self.has_ended else self.get_next_capture_item()
        if (
            not isinstance(item, ReplayedNote)
            or what not in item.said
            or item.said.get("looked") != self._observation_count_by_name[what]
        ):
            return None
        self._at += 1
        self.environment.advance_clock_to(item.time_us)
        return one_line(str(item.said[what]), _LONGEST_END_TEXT_CHARACTERS)

    def end(self) -> None:
        """End the replay when the check ends. The recorded check must end at the same position in the capture."""
        if self.has_ended:
            return
        while (item := self.get_next_capture_item()) is not None and item.is_by_sut and not _is_loss_note(item):
            self._at += 1
        if item is not None and _is_loss_note(item):
            self._report_difference(self._describe_lost_information(item))
        elif item is not None and not (isinstance(item, ReplayedNote) and "over" in item.said):
            self._report_difference(
                f"after frame {self._current_frame()}: the harness ends the check: {NOT_REPLAYABLE}"
            )
        self.has_ended, self.must_play_more_before_check = True, False

    def check_frame(self, frame: int, packet: bytes) -> None:
        """Compare a frame that the recorder writes with the next frame of the capture."""
        if self.has_ended:
            return
        expected = self._take_harness_action()
        if isinstance(expected, ReplayedNote) or expected is None or expected.packet != packet:
            self.end_check_for_difference(f"frame {frame}: the harness sends different bytes: {NOT_REPLAYABLE}")
        self._at += 1
        self.environment.advance_clock_to(expected.time_us)

    def ask_control(self, how: str, verb: str, arguments: Mapping[str, Any]) -> None:
        """Compare a request on the control channel with the next request in the capture."""
        if self.has_ended:
            raise SutUnavailable("the capture has ended")
        expected = self._take_harness_action()
        where = f"after frame {self._current_frame()}"
        if not isinstance(expected, ReplayedNote) or not expected.is_question:
            self.end_check_for_difference(f"{where}: the harness calls {verb}: {NOT_REPLAYABLE}")
        wanted = json.loads(encode_note({how: verb, "with": arguments}))
        if {key: value for key, value in expected.said.items() if key != "us"} != wanted:
            self.end_check_for_difference(
                f"{where}: the harness calls {verb} with different arguments: {NOT_REPLAYABLE}"
            )
        self._at += 1
        self._answer = None
        self.environment.advance_clock_to(expected.time_us)

    def take_recorded_port(self) -> int:
        """Return the port that the harness chose at this position in the capture, or 0 after the end of the replay."""
        if self.has_ended:
            return 0
        expected = self._take_harness_action()
        port = expected.said.get("picked") if isinstance(expected, ReplayedNote) else None
        if type(port) is not int or not 0 < port < 2**16:
            self.end_check_for_difference(
                f"after frame {self._current_frame()}: the harness chooses a port: {NOT_REPLAYABLE}"
            )
        self._at += 1
        return port

    def has_answer(self) -> bool:
        """Return whether the answer to the current control request has been played."""
        return self._answer is not None or self.has_ended

    def take_recorded_control_answer(self) -> ReplayedNote:
        """Return the recorded answer to the current control request."""
        answer, self._answer = self._answer, None
        if answer is None:
            self.end_check_for_difference(
                f"after frame {self._current_frame()}: the control channel does not answer: {NOT_REPLAYABLE}"
            )
        return answer

    def get_remaining_ms(self) -> int:
        """Return the time from now until the end of the capture (int ms)."""
        last = max((one.time_us for one in self._items[self._at :]), default=0)
        return max(0, (last - self.environment.epoch_us()) // 1000) + 1_000

    def end_check_for_difference(self, why: str) -> Never:
        """End the check, because the harness does something other than what the capture records."""
        if not self.has_ended:
            self._report_difference(why)
        self.has_ended, self.must_play_more_before_check = True, False
        raise NotReplayable(why)

    def _current_frame(self) -> int:
        return self._items[self._at - 1].frame if self._at else 0

    # -- actions of the system -----------------------------------------------------------------------------------

    def get_next_capture_item(self) -> CaptureItem | None:
        """Return the next item of the capture, or None at its end."""
        return self._items[self._at] if self._at < len(self._items) else None

    def _take_harness_action(self) -> CaptureItem | None:
        """Return the next item of the capture, which should be an action of the harness, or None at the end of the
        capture. End the check if the item records that the capture lacks information.
        """
        self._skip_size_notes()
        item = self.get_next_capture_item()
        if item is not None and _is_loss_note(item):
            self.end_check_for_difference(self._describe_lost_information(item))
        return item

    def get_sut_action_us(self) -> int | None:
        """Return the time of the system's next action, or None if the next action is the harness's or everything
        has been played.
        """
        if self.has_ended or self._is_delivering_packets or (item := self.get_next_capture_item()) is None:
            return None
        acts = item.is_by_sut or (isinstance(item, ConnectionOpening) and self.environment.is_connecting_to(item))
        return item.time_us if acts else None

    def get_harness_action_us(self) -> int | None:
        """Return the time of the harness's next action, or None if the next action is the system's or everything
        has been played.
        """
        item = None if self.has_ended else self.get_next_capture_item()
        return None if item is None or item.is_by_sut else item.time_us

    def get_timeout_us(self) -> int | None:
        """Return the time at which the current wait ended because its timeout expired, or None if another event of
        the capture comes first.
        """
        item = None if self.has_ended or self._is_delivering_packets else self.get_next_capture_item()
        return item.time_us if isinstance(item, ReplayedNote) and "timed_out" in item.said else None

    def skip_timeout_note(self) -> None:
        """Skip the note that records that the timeout of a wait expired."""
        self._at += 1

    def play_next_action(self) -> None:
        """Play the next action of the system."""
        item = self._items[self._at]
        self._is_delivering_packets = True
        try:
            if isinstance(item, ReplayedNote):
                self._at += 1
                self._play_note(item)
            elif isinstance(item, ConnectionOpening):
                self._play_opening(item)
            else:
                self._deliver_packets([item])
        finally:
            self._is_delivering_packets = False

    def _play_note(self, note: ReplayedNote) -> None:
        said = note.said
        if "together" in said:
            self.must_play_more_before_check = said["together"] is True
        elif "bytes" in said:
            self._deliver_packets(self._gather_frames(said["bytes"]))
        elif "to" in said and type(said["to"]) is int:
            self.late[said["to"]] = note
        elif "answered" in said or "refused" in said:
            self._answer = note
        else:
            self.end_check_for_difference(self._describe_lost_information(note))

    @staticmethod
    def _describe_lost_information(item: CaptureItem) -> str:
        """Return a description of the information that the capture lacks, from the note that records this."""
        said = item.said if isinstance(item, ReplayedNote) else {}
        return f"after frame {item.frame}: {said.get('lost', 'an unknown note')!s:.100}: {NOT_REPLAYABLE}"

    def _gather_frames(self, size: object) -> list[ReplayedPacket]:
        """Return the next frames of the capture that together contain the ``size`` bytes which the harness received
        in one piece.
        """
        found: list[ReplayedPacket] = []
        left = size if isinstance(size, int) else 0
        for item in self._items[self._at :]:
            if left <= 0:
                break
            if isinstance(item, ReplayedNote) and "bytes" in item.said:
                continue
            if not isinstance(item, ReplayedPacket) or not item.is_by_sut or not item.segment.data:
                break
            found.append(item)
            left -= len(item.segment.data)
        if not found or left:
            self.end_check_for_difference(
                f"after frame {self._current_frame()}: bytes of one read are missing: {NOT_REPLAYABLE}"
            )
        return found

    def _play_opening(self, item: ConnectionOpening) -> None:
        local, remote = (item.server, item.client) if item.is_by_sut else (item.client, item.server)
        stream = self.environment.get_harness_end(item, local, remote)
        if stream is None:
            self.end_check_for_difference(
                f"frame {item.frame}: the harness does not listen at the destination: {NOT_REPLAYABLE}"
            )
        self._streams[item.client, item.server] = stream
        at = self._at
        stream.sink.on_connection_open()
        if self._at == at:
            self.end_check_for_difference(
                f"frame {item.frame}: the harness does not record the connection: {NOT_REPLAYABLE}"
            )

    def _deliver_packets(self, packets: list[ReplayedPacket]) -> None:
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
        if self._at == at and not self.has_ended:
            self.end_check_for_difference(
                f"frame {first.frame}: the harness does not receive the packet: {NOT_REPLAYABLE}"
            )

    def _skip_size_notes(self) -> None:
        """Skip the notes about the sizes of received pieces. They were already read together with the bytes."""
        while (
            self._is_delivering_packets
            and isinstance(item := self.get_next_capture_item(), ReplayedNote)
            and "bytes" in item.said
        ):
            self._at += 1

    def list_unplayed_items(self) -> list[CaptureItem]:
        """Return the items of the capture that have not been played yet."""
        return self._items[self._at :]


def remove_groups_without_events(items: list[CaptureItem]) -> list[CaptureItem]:
    """Return the items without the groups that contain no event. A group consists of the notes that mark its
    beginning and its end, and of the events between them.
    """
    left: list[CaptureItem] = []
    for item in items:
        if left and _get_together_flag(item) is False and _get_together_flag(left[-1]) is True:
            left.pop()
        else:
            left.append(item)
    return left


def _get_together_flag(item: CaptureItem) -> Any:
    return item.said.get("together") if isinstance(item, ReplayedNote) else None


def _is_loss_note(item: CaptureItem) -> bool:
    return isinstance(item, ReplayedNote) and "lost" in item.said


class _CaptureComparingWriter(CaptureWriter):
    """A writer of captures that writes no frames, but compares each frame with the recorded frame."""

    def __init__(self, path: Path, player: CapturePlayer) -> None:
        super().__init__(path)
        self._player = player

    def note(self, text: bytes) -> None:
        """Do nothing, because a replay only compares."""

    def _write_packet_block(
        self, packet: bytes, time_us: int, comment: str | None, inbound: bool | None, *, later: bool = False
    ) -> int:
        number = super()._write_packet_block(packet, time_us, comment, inbound, later=later)
        self._player.check_frame(number, packet)
        return number
