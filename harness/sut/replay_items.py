"""A capture as what happened, one thing after the other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.capture.ip import TcpFlags, TcpSegment, UdpDatagram, take_apart
from harness.capture.pcapng import CapturedFrame, CapturedNote, read_with_notes
from harness.errors import MqconformError
from reference_qm.surface.inputs import Endpoint

MOST = 64 * 2**20
"""int bytes of a capture that is replayed."""


@dataclass(frozen=True, slots=True)
class Open:
    """A new connection: three frames of which this is the first."""

    frame: int
    us: int
    by_sut: bool
    client: Endpoint
    server: Endpoint
    packet: bytes


@dataclass(frozen=True, slots=True)
class Packet:
    """A frame with data, with the end of a connection, or of an opening the second or third one."""

    frame: int
    us: int
    by_sut: bool
    segment: TcpSegment | UdpDatagram
    packet: bytes
    opening: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the control channel, or how many bytes came at once; ``us`` is 0 where it has no time."""

    frame: int
    us: int
    said: dict[str, Any]


Item = Open | Packet | Note


def items_of(path: Path) -> list[Item]:
    """Read a capture; MqconformError where it is no capture of this harness."""
    if path.stat().st_size > MOST:
        raise MqconformError(f"{path.name}: is longer than {MOST:,} bytes")
    items: list[Item] = []
    number = 0
    for one in read_with_notes(path):
        if isinstance(one, CapturedFrame):
            number = one.number
            items.append(_of_frame(path, one))
        else:
            items.append(_of_note(path, one, number))
    return items


def _of_frame(path: Path, frame: CapturedFrame) -> Open | Packet:
    try:
        part = take_apart(frame.data)
    except ValueError as error:
        raise MqconformError(f"{path.name}: frame {frame.number}: {error}") from error
    by_sut = bool(frame.inbound)
    if not isinstance(part, TcpSegment) or not part.flags & TcpFlags.SYN:
        opening = isinstance(part, TcpSegment) and not part.data and part.flags == TcpFlags.ACK
        return Packet(frame.number, frame.time_us, by_sut, part, frame.data, opening)
    if part.flags & TcpFlags.ACK:
        return Packet(frame.number, frame.time_us, by_sut, part, frame.data, opening=True)
    return Open(frame.number, frame.time_us, by_sut, part.source, part.target, frame.data)


def _of_note(path: Path, note: CapturedNote, number: int) -> Note:
    try:
        said = json.loads(note.text)
    except (ValueError, RecursionError) as error:
        raise MqconformError(f"{path.name}: a note behind frame {number}: {error}") from error
    if not isinstance(said, dict) or type(us := said.get("us", 0)) is not int or not 0 <= us < 2**53:
        raise MqconformError(f"{path.name}: a note behind frame {number}: no note of this harness")
    return Note(number, us, said)
