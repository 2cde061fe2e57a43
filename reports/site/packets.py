"""Formats the octets and the dissection of a packet as pieces of text, so that a template can mark the field that
decided the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from reports.model import Frame
from reports.text import MAX_DISSECTION_CHARACTERS, MAX_SHOWN_OCTETS, clip_text

TextWithDecidingMark = tuple[str, bool]
"""A part of a dissection: its text, and whether this text shows the field that decided the verdict."""
_OCTETS_PER_DUMP_ROW = 16
_REPEATED_ROWS_MARK: TextWithDecidingMark = ("*\n", False)
_PRINTABLE_LETTERS = bytes(octet if 0x20 <= octet < 0x7F else ord(".") for octet in range(256))


def format_octets(frame: Frame) -> list[TextWithDecidingMark]:
    """Return the usual dump of a packet, with 16 octets per line. The octets that decided the verdict are marked in
    both columns.

    A star replaces lines that repeat the previous line, as in hexdump; the deciding octets and the end are always
    shown.
    """
    try:
        data = bytes.fromhex(frame.hex)[:MAX_SHOWN_OCTETS]
    except ValueError:
        return [(f"not hexadecimal: {clip_text(frame.hex, 200)}", False)]
    letters: list[TextWithDecidingMark] = []
    before = b""
    for offset in range(0, len(data), _OCTETS_PER_DUMP_ROW):
        row = data[offset : offset + _OCTETS_PER_DUMP_ROW]
        is_last = offset + _OCTETS_PER_DUMP_ROW >= len(data) and frame.octets <= len(data)
        if any(_is_deciding_octet(frame, each) for each in range(offset, offset + len(row))):
            letters += _mark_dump_row(frame, row, offset)
            letters.append(("|" if is_last else "|\n", False))
            before = b""
        elif row == before and offset + _OCTETS_PER_DUMP_ROW < len(data):
            if letters[-1] != _REPEATED_ROWS_MARK:
                letters.append(_REPEATED_ROWS_MARK)
        else:
            before = row
            letters.append((_format_dump_row(row, offset) + ("" if is_last else "\n"), False))
    if frame.octets > len(data):
        letters.append((f"… {frame.octets - len(data)} more octets", False))
    return _join_marked_texts(letters)


def format_dissection(frame: Frame) -> list[TextWithDecidingMark]:
    """Return the dissection, in which the field that decided the verdict is marked."""
    text = clip_text(frame.dissection, MAX_DISSECTION_CHARACTERS)
    stretches, at = [], 0
    for start, end in sorted(frame.deciding_text_ranges):
        if at <= start < end <= len(text):
            stretches += [(text[at:start], False), (text[start:end], True)]
            at = end
    return [each for each in (*stretches, (text[at:], False)) if each[0]]


def get_deciding_text(frame: Frame) -> str:
    """Return the part of the dissection that shows the field that decided the verdict, or an empty text if no field
    decided it.
    """
    return "; ".join(text.strip() for text, is_marked in format_dissection(frame) if is_marked)


def _format_dump_row(row: bytes, offset: int) -> str:
    half = _OCTETS_PER_DUMP_ROW // 2
    shown = row.translate(_PRINTABLE_LETTERS).decode("ascii")
    return f"{offset:04x}  {row[:half].hex(' '):<23}  {row[half:].hex(' '):<23}  |{shown}|"


def _mark_dump_row(frame: Frame, row: bytes, offset: int) -> Iterator[TextWithDecidingMark]:
    marked = [_is_deciding_octet(frame, offset + index) for index in range(len(row))]
    yield f"{offset:04x}  ", False
    for index in range(_OCTETS_PER_DUMP_ROW):
        if index == _OCTETS_PER_DUMP_ROW // 2:
            yield " ", False
        if index < len(row):
            yield f"{row[index]:02x}", marked[index]
            yield (
                " ",
                marked[index] and index + 1 < len(row) and marked[index + 1] and index + 1 != _OCTETS_PER_DUMP_ROW // 2,
            )
        else:
            yield "   ", False
    yield " |", False
    for octet, is_marked in zip(row, marked, strict=True):
        yield chr(_PRINTABLE_LETTERS[octet]), is_marked


def _is_deciding_octet(frame: Frame, offset: int) -> bool:
    return frame.first is not None and frame.last is not None and frame.first <= offset <= frame.last


def _join_marked_texts(letters: Iterable[TextWithDecidingMark]) -> list[TextWithDecidingMark]:
    return [("".join(text for text, _ in group), mark) for mark, group in groupby(letters, key=lambda each: each[1])]
