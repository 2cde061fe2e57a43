"""Read a capture as a sequence of events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.capture.ip import TcpFlags, TcpSegment, UdpDatagram, parse_ip_packet
from harness.capture.pcapng import CapturedFrame, read_packets_and_notes
from harness.errors import HarnessError
from harness.sut.wires import ControlReply
from reference_qm.surface.inputs import Endpoint

MAX_NOTE_BYTES = 64 * 2**20
"""int bytes: the maximum size of a capture that can be replayed."""
LATEST_TIME_US = 2**53
"""int microseconds: the largest accepted time. Every JSON parser represents it exactly."""


class NotReplayable(HarnessError):
    """Raised when a check cannot be replayed from its capture, for example because the harness does something other
    than what the capture records.
    """


@dataclass(frozen=True, slots=True)
class ConnectionOpening:
    """The opening of a TCP connection. It is represented by the first of the three frames of the handshake."""

    frame: int
    time_us: int
    is_by_sut: bool
    client: Endpoint
    server: Endpoint
    packet: bytes


@dataclass(frozen=True, slots=True)
class ReplayedPacket:
    """A frame with data, a frame that ends a connection, or the second or third frame of a handshake."""

    frame: int
    time_us: int
    is_by_sut: bool
    segment: TcpSegment | UdpDatagram
    packet: bytes


@dataclass(frozen=True, slots=True)
class ReplayedNote:
    """A note in a capture (harness/sut/replay_tape.py) that follows a frame. ``us`` is the time of the note in
    microseconds, or 0 if the note has no time.
    """

    frame: int
    time_us: int
    said: dict[str, Any]

    @property
    def is_by_sut(self) -> bool:
        """Return whether the event was an action of the system or of its control channel."""
        return not self.said.keys() & {"call", "begin", "picked", "timed_out", "looked", "over"}

    @property
    def is_question(self) -> bool:
        """Return whether the note is a request on the control channel."""
        return not self.said.keys().isdisjoint(("call", "begin"))


CaptureItem = ConnectionOpening | ReplayedPacket | ReplayedNote


def read_items(path: Path) -> list[CaptureItem]:
    """Read the events of a capture. Raise MqconformError if this harness did not record the capture."""
    if not path.is_file():
        raise NotReplayable("the check has no capture")
    if path.stat().st_size > MAX_NOTE_BYTES:
        raise NotReplayable(f"{path.name} is longer than {MAX_NOTE_BYTES:,} bytes")
    items: list[CaptureItem] = []
    number = noted = 0
    for one in read_packets_and_notes(path):
        if isinstance(one, CapturedFrame):
            number = one.number
            items.append(_read_frame_item(path, one))
        else:
            text = one.text
            noted += len(text)
            if noted > MAX_NOTE_BYTES:
                raise NotReplayable(f"{path.name}: its notes are longer than {MAX_NOTE_BYTES:,} bytes")
            items.append(_read_note(path, text, number))
    return items


def _read_frame_item(path: Path, frame: CapturedFrame) -> ConnectionOpening | ReplayedPacket:
    try:
        part = parse_ip_packet(frame.data)
    except ValueError as error:
        raise NotReplayable(f"{path.name}: frame {frame.number}: {error}") from error
    is_by_sut = bool(frame.inbound)
    if isinstance(part, TcpSegment) and part.flags & TcpFlags.SYN and not part.flags & TcpFlags.ACK:
        return ConnectionOpening(frame.number, frame.time_us, is_by_sut, part.source, part.target, frame.data)
    return ReplayedPacket(frame.number, frame.time_us, is_by_sut, part, frame.data)


def _read_note(path: Path, text: bytes, number: int) -> ReplayedNote:
    try:
        said = json.loads(text, object_hook=ControlReply)
    except (ValueError, RecursionError) as error:
        raise NotReplayable(f"{path.name}: the note after frame {number}: {error}") from error
    if not isinstance(said, dict) or type(us := said.get("us", 0)) is not int or not 0 <= us < LATEST_TIME_US:
        raise NotReplayable(f"{path.name}: the note after frame {number} is not a note of this harness")
    return ReplayedNote(number, us, said)
