"""The project's pcapng reader and writer: files written by hand, round trips, and every kind of damaged file."""

from __future__ import annotations

import zlib
from itertools import pairwise
from pathlib import Path
from struct import pack

import pytest
from budgets import FEW, SOME, budget
from hypothesis import given
from hypothesis import strategies as st

from harness.capture import CapturedFrame, CaptureError, CaptureWriter, read_pcapng
from harness.capture.pcapng import (
    MAX_BLOCK_BYTES,
    MAX_NOTE_TEXT_BYTES,
    CapturedNote,
    build_block_of_note_data,
    build_file_header,
    build_note_block,
    build_packet_block,
    read_packets_and_notes,
)
from reference_qm.surface.inputs import Endpoint

CLIENT, SERVER = Endpoint("192.0.2.1", 4057), Endpoint("192.0.2.2", 3527)
START_US = 1_700_000_000_000_000

SECTION = bytes.fromhex("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000")
RAW_INTERFACE = bytes.fromhex("01000000 14000000 6500 0000 00000000 14000000")


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    return pack(order + "II", kind, 12 + len(body)) + body + pack(order + "I", 12 + len(body))


def enhanced(packet: bytes, *, ticks: int = 0, interface: int = 0, order: str = "<") -> bytes:
    head = pack(order + "IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet))
    return block(6, head + packet + bytes(-len(packet) % 4), order)


def frames_of(path: Path, data: bytes) -> list[CapturedFrame]:
    path.write_bytes(data)
    return list(read_pcapng(path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.pcapng"


def test_pcapng_section_header_matches_the_format() -> None:
    assert build_file_header() == bytes.fromhex(
        "0a0d0d0a 30000000 4d3c2b1a 0100 0000 ffffffffffffffff 0400 0900 6d71636f6e666f726d 000000 00000000 30000000"
        "01000000 30000000 6500 0000 00000000 0200 0900 6d71636f6e666f726d 000000 0900 0100 06 000000 00000000 30000000"
    )


def test_pcapng_packet_block_matches_the_format() -> None:
    assert build_packet_block(0x1_0000_0002, b"abcde", "hi") == bytes.fromhex(
        "06000000 34000000 00000000 01000000 02000000 05000000 05000000 6162636465 000000"
        "0100 0200 6869 0000 00000000 34000000"
    )


def test_packet_block_contains_known_direction() -> None:
    assert build_packet_block(0x1_0000_0002, b"abcde", "hi", inbound=True) == bytes.fromhex(
        "06000000 3c000000 00000000 01000000 02000000 05000000 05000000 6162636465 000000"
        "0100 0200 6869 0000 0200 0400 01000000 00000000 3c000000"
    )
    assert build_packet_block(0, b"", None, inbound=False)[28:-4] == bytes.fromhex("0200 0400 02000000 00000000")


def test_direction_of_packet_block_is_read(file: Path) -> None:
    known = (True, False, None)
    with CaptureWriter(file, START_US) as writer:
        for from_sut in known:
            writer.write_udp(CLIENT, SERVER, b"one", time_us=5, comment="café", from_sut=from_sut)
    assert tuple(frame.inbound for frame in read_pcapng(file)) == known


def test_frames_carry_number_time_comment_and_offset(file: Path) -> None:
    with CaptureWriter(file, START_US) as writer:
        assert writer.write_udp(CLIENT, SERVER, b"one", time_us=5, comment="café") == 1
        assert writer.write_udp(SERVER, CLIENT, b"two", time_us=1_000_006) == 2
    frames = list(read_pcapng(file))
    assert [(f.number, f.time_us, f.comment) for f in frames] == [
        (1, START_US + 5, "café"),
        (2, START_US + 1_000_006, None),
    ]
    assert frames[0].file_offset == len(build_file_header())
    assert file.read_bytes()[frames[1].file_offset :][:4] == bytes.fromhex("06000000")


def test_each_packet_is_written_to_the_file_at_once(file: Path) -> None:
    """The writer buffers nothing, so a killed run loses no packet."""
    writer = CaptureWriter(file)
    for number in range(1, 4):
        writer.write_udp(CLIENT, SERVER, bytes(number), time_us=number)
        assert len(list(read_pcapng(file))) == number
    writer.close()


def test_big_endian_pcapng_with_time_resolutions_and_unknown_blocks_is_read(file: Path) -> None:
    section = block(0x0A0D0D0A, bytes.fromhex("1a2b3c4d 0001 0000 ffffffffffffffff"), ">")
    milliseconds = block(1, pack(">HHI", 101, 0, 0) + pack(">HHB3x", 9, 1, 3), ">")
    halves = block(1, pack(">HHI", 1, 0, 0) + pack(">HHB3x", 9, 1, 0x81), ">")
    unknown = block(0x0BAD, b"whatever", ">")
    data = section + milliseconds + halves + unknown
    data += enhanced(b"a", ticks=7, order=">") + enhanced(b"b", ticks=3, interface=1, order=">")
    assert [(f.number, f.time_us, f.link_type, f.data) for f in frames_of(file, data)] == [
        (1, 7_000, 101, b"a"),
        (2, 1_500_000, 1, b"b"),
    ]


def test_new_pcapng_section_resets_interfaces(file: Path) -> None:
    with pytest.raises(CaptureError, match="interface 0, which no earlier block describes"):
        frames_of(file, SECTION + RAW_INTERFACE + enhanced(b"a") + SECTION + enhanced(b"b"))


GOOD = SECTION + RAW_INTERFACE
BROKEN = {
    "empty": (b"", "the file is empty"),
    "three bytes": (b"abc", "the Section Header block is missing"),
    "old pcap": (bytes.fromhex("d4c3b2a102000400") + bytes(16), "the Section Header block is missing"),
    "wrong byte order magic": (SECTION[:8] + b"\0\0\0\0" + SECTION[12:], "byte-order magic is 00 00 00 00"),
    "cut in a head": (GOOD + b"\6\0\0", "ends inside the header"),
    "cut in a block": (GOOD + enhanced(b"abc")[:-1], "1 bytes of a block are missing"),
    "cut in the section": (SECTION[:10], "is truncated"),
    "block too long": (GOOD + pack("<II", 6, MAX_BLOCK_BYTES + 4), f"a block has {MAX_BLOCK_BYTES + 4} bytes"),
    "block too short": (GOOD + pack("<II", 6, 8), "a block has 8 bytes"),
    "length no multiple of 4": (GOOD + pack("<II", 6, 33) + bytes(33), "a block has 33 bytes"),
    "lengths differ": (GOOD + enhanced(b"abcd")[:-4] + pack("<I", 40), "the length at the end of a block differs"),
    "unknown interface": (GOOD + enhanced(b"a", interface=1), "interface 1, which no earlier block describes"),
    "packet past its block": (
        GOOD + block(6, pack("<IIIII", 0, 0, 0, 5, 5) + b"abcd"),
        "frame 1, with 5 bytes, does not fit into its block",
    ),
    "packet cut by a snapshot length": (
        GOOD + block(6, pack("<IIIII", 0, 0, 0, 4, 9) + b"abcd"),
        "4 of 9 bytes; capture without a snapshot",
    ),
    "packet block too short": (GOOD + block(6, bytes(16)), "too short for its fields"),
    "option past its block": (
        GOOD + block(6, pack("<IIIII", 0, 0, 0, 0, 0) + pack("<HH", 1, 9)),
        "option 1 of 9 bytes",
    ),
    "option head cut": (
        GOOD + block(6, pack("<IIIII", 0, 0, 0, 0, 0) + b"\1\0\0\0"[:2] + b"\0\0")[:-4],
        "is truncated",
    ),
    "bad time resolution": (
        SECTION + block(1, pack("<HHI", 101, 0, 0) + pack("<HHI", 9, 2, 0)),
        "must have exactly one byte",
    ),
    "simple packet": (GOOD + block(3, pack("<I", 4) + b"abcd"), "Simple Packet blocks are not supported"),
    "obsolete packet": (GOOD + block(2, bytes(24)), "Packet blocks are not supported"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_pcapng_file_gives_one_line_error_with_file_and_offset(file: Path, name: str) -> None:
    data, message = BROKEN[name]
    with pytest.raises(CaptureError, match=message) as caught:
        frames_of(file, data)
    assert caught.value.file == file
    assert str(caught.value).startswith(f"{file}: at byte {caught.value.offset}: ")
    assert "\n" not in str(caught.value)


@budget(FEW, with_fixtures=True)
@given(st.integers(0, 10**9), st.data())
def test_truncated_pcapng_file_gives_the_whole_frames_before_the_cut(
    tmp_path: Path, time_us: int, data: st.DataObject
) -> None:
    file = tmp_path / "cut.pcapng"
    with CaptureWriter(file) as writer:
        for number in range(4):
            writer.write_udp(CLIENT, SERVER, bytes(number), time_us=time_us)
    whole = file.read_bytes()
    starts = [frame.file_offset for frame in read_pcapng(file)] + [len(whole)]
    cut = data.draw(st.integers(starts[0], len(whole)))
    file.write_bytes(whole[:cut])
    seen = []
    try:
        for frame in read_pcapng(file):
            seen.append(frame.file_offset)
    except CaptureError as error:
        assert error.offset == max(start for start in starts if start <= cut)
        assert cut not in starts
    else:
        assert cut in starts
    assert seen == [start for start, end in pairwise(starts) if end <= cut]


@budget(SOME, with_fixtures=True)
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=120).map(lambda tail: GOOD + tail)))
def test_arbitrary_bytes_raise_nothing_but_the_typed_error(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "any.pcapng"
    try:
        frames_of(file, data)
    except CaptureError as error:
        assert 0 <= error.offset <= len(data)


def test_note_is_stored_between_packets_and_not_read_as_packet(file: Path):
    with CaptureWriter(file) as writer:
        writer.note(b"before")
        writer.write_udp(CLIENT, SERVER, b"one", time_us=1)
        writer.write_udp(CLIENT, SERVER, b"two", time_us=2)
        writer.note(b"")
        writer.note(b"after")
    found = [one.text if isinstance(one, CapturedNote) else one.number for one in read_packets_and_notes(file)]
    assert found == [b"before", 1, 2, b"", b"after"]
    assert [frame.number for frame in read_pcapng(file)] == [1, 2]


def test_long_capture_note_is_compressed(file: Path):
    text = b'{"answered":"' + b"x" * 5_000 + b'"}'
    file.write_bytes(build_file_header() + build_note_block(text))
    assert file.stat().st_size < 300
    (note,) = read_packets_and_notes(file)
    assert isinstance(note, CapturedNote)
    assert note.text == text
    assert build_block_of_note_data(note.data) == build_note_block(text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x\x01nonsense", "the text of the note cannot be decompressed"),
        (zlib.compress(b"{}" * 600)[:-5], "the text of the note is truncated"),
        (zlib.compress(bytes(MAX_NOTE_TEXT_BYTES + 1)), f"more than {MAX_NOTE_TEXT_BYTES} bytes"),
    ],
)
def test_note_with_invalid_compression_is_refused(file: Path, data: bytes, why: str):
    file.write_bytes(build_file_header() + build_block_of_note_data(data))
    (note,) = read_packets_and_notes(file)
    assert isinstance(note, CapturedNote)
    with pytest.raises(CaptureError, match=why):
        _ = note.text


@given(st.binary(max_size=40).map(lambda text: text * 50) | st.binary(max_size=40))
@budget(FEW, with_fixtures=True)
def test_capture_note_is_read_as_it_was_written(file: Path, text: bytes):
    file.write_bytes(build_file_header() + build_note_block(text))
    assert [one.text for one in read_packets_and_notes(file) if isinstance(one, CapturedNote)] == [text]


def test_longest_capture_note_is_read_and_a_longer_one_is_refused(file: Path):
    file.write_bytes(build_file_header() + build_block_of_note_data(bytes(MAX_NOTE_TEXT_BYTES)))
    assert len(list(read_packets_and_notes(file))) == 1
    file.write_bytes(build_file_header() + build_block_of_note_data(bytes(MAX_BLOCK_BYTES)))
    with pytest.raises(CaptureError, match="the length must be a multiple of 4, and at most"):
        list(read_packets_and_notes(file))


@pytest.mark.parametrize("body", [b"", b"\1", b"\5\0\0\0abcd"])
def test_truncated_capture_note_is_refused(file: Path, body: bytes):
    file.write_bytes(build_file_header() + block(0x80006D71, body + bytes(-len(body) % 4)))
    with pytest.raises(
        CaptureError, match=r"a note of \d bytes does not fit into its block of|too short for its fields"
    ):
        list(read_packets_and_notes(file))
