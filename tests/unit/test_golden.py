"""The frames of MS-MQQB section 4: both codecs read the values of the manifest, and the capture contains exactly these
frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from harness.capture import read_pcapng, read_streams
from harness.capture.golden import GOLDEN_FOLDER, GoldenFrame, load_golden_capture, write_golden_capture
from harness.wire import dissect, dissect_ping, kind
from reference_qm.codec import StreamFramer, parse_packet, parse_ping

FRAMES = {frame.number: frame for frame in load_golden_capture().frames}
DOCUMENT = Path(__file__).resolve().parents[3] / "shared" / "specs" / "MS-MQQB.later.md"

Reader = Callable[[str], Any]
"""A function that reads the value at a dotted path of field names."""


def walk(start: Any, names: list[str]) -> Any:
    return reduce(getattr, names, start)


def strict_reader(frame: GoldenFrame) -> Reader:
    """Return a reader for the strict codec, in which headers are attributes of a record and a Ping packet is its own
    header.
    """
    record: Any = parse_ping(frame.data) if frame.transport == "udp" else parse_packet(frame.data)
    return lambda path: walk(record, path.split(".")[frame.transport == "udp" :])


def scapy_reader(frame: GoldenFrame) -> Reader:
    """Return a reader for the scapy layers, in which headers are layers and the items of SecurityData are fields of
    their header.
    """
    packet: Any = dissect_ping(frame.data) if frame.transport == "udp" else dissect(frame.data)

    def read(path: str) -> Any:
        header, *names = path.replace("SecurityData.", "").split(".")
        return walk(packet[header], names)

    return read


READERS = {"strict": strict_reader, "scapy": scapy_reader}
TERMINATED = {"MessagePropertiesHeader.Label", "UserHeader.DestinationQueue.DirectFormatName"}
"""Texts that a codec may read with or without their terminating null."""


@pytest.mark.parametrize("codec", READERS)
@pytest.mark.parametrize("number", FRAMES)
def test_golden_fields_equal_those_of_the_manifest(number: int, codec: str) -> None:
    frame = FRAMES[number]
    read = READERS[codec](frame)
    found = {}
    for path in frame.fields:
        value = read(path)
        found[path] = value.rstrip("\0") if path in TERMINATED else value
    assert found == frame.fields


@pytest.mark.parametrize("number", FRAMES)
def test_both_codecs_rebuild_each_golden_frame(number: int) -> None:
    frame = FRAMES[number]
    ping = frame.transport == "udp"
    assert (parse_ping if ping else parse_packet)(frame.data).build() == frame.data
    assert bytes((dissect_ping if ping else dissect)(frame.data)) == frame.data


@pytest.mark.parametrize("number", [3, 4])
def test_establish_connection_padding_of_golden_frames_is_filled(number: int) -> None:
    """The padding of EstablishConnection packets in the golden frames is filled, in the response as MS-MQQB 2.2.3.1
    demands, and also in the request.
    """
    for codec in READERS.values():
        assert codec(FRAMES[number])("EstablishConnectionHeader.Padding") == b"\x5a" * 512


def test_body_of_golden_frame_7_has_the_length_of_its_header() -> None:
    for codec in READERS.values():
        assert codec(FRAMES[7])("MessagePropertiesHeader.MessageBody") == b"a\0" * 1000


def test_only_golden_frame_7_has_a_reconstructed_tail() -> None:
    assert {n: (f.printed_size, len(f.data)) for n, f in FRAMES.items() if f.printed_size != len(f.data)} == {
        7: (1650, 2224)
    }


@pytest.mark.parametrize("number", FRAMES)
def test_packet_kinds_equal_the_names_of_the_manifest(number: int) -> None:
    frame = FRAMES[number]
    name = kind(frame.data, ping=frame.transport == "udp")
    assert name == frame.packet


@pytest.mark.parametrize("number", FRAMES)
def test_listed_disagreements_of_a_golden_frame_concern_its_fields(number: int) -> None:
    frame = FRAMES[number]
    for each in frame.disagreements:
        header, field = each.field.rsplit(".", 1)
        assert each.text and each.why
        assert any(path.startswith(f"{header}.") for path in frame.fields)
        assert each.field in frame.fields or field == "Padding"


def test_committed_golden_capture_equals_output_of_its_builder(tmp_path: Path) -> None:
    golden = load_golden_capture()
    write_golden_capture(golden, tmp_path / "made.pcapng")
    assert (GOLDEN_FOLDER / golden.capture).read_bytes() == (tmp_path / "made.pcapng").read_bytes()


def test_frames_read_from_golden_capture_equal_golden_frames() -> None:
    golden = load_golden_capture()
    found = read_streams(GOLDEN_FOLDER / golden.capture)
    (stream,) = found.tcp_streams
    assert [d.data for d in found.udp_datagrams] == [FRAMES[1].data, FRAMES[2].data]
    assert (stream.client.port, stream.server.port) == (49759, 1801)
    assert [(d.source.port, d.target.port) for d in found.udp_datagrams] == [(4057, 3527), (3527, 4057)]
    for direction, mine in ((stream.from_client, True), (stream.from_server, False)):
        packets = StreamFramer().feed(bytes(direction.data))
        assert packets == [f.data for f in golden.frames if f.transport == "tcp" and f.from_client is mine]
    comments = [frame.comment for frame in read_pcapng(GOLDEN_FOLDER / golden.capture) if frame.comment]
    assert comments == [f"{f.section} {f.title}" for f in golden.frames]


@pytest.mark.skipif(not DOCUMENT.exists(), reason="the specifications are not beside this clone")
@pytest.mark.parametrize("number", FRAMES)
def test_golden_frames_match_dump_of_document(number: int) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    section = re.search(rf"### 4\.1\.{number} FRAME.*?(?=\n<a id|\Z)", text, re.DOTALL)
    assert section is not None
    lines = re.findall(r"^[0-9A-F]{2}(?: [0-9A-F]{2})*$", section.group(0).partition("Hex Dump:")[2], re.MULTILINE)
    assert FRAMES[number].data[: FRAMES[number].printed_size] == bytes.fromhex(" ".join(lines))
