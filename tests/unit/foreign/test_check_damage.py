"""`check` answers a damaged capture with verdicts or with one error line, never with a traceback."""

from __future__ import annotations

import random
import zlib

import pytest
import wrapped_captures as made

from harness.capture import CaptureError
from harness.errors import MqconformError, UsageError
from harness.foreign.check import check_capture
from harness.foreign.findings import build_findings
from harness.foreign.report import REPORT_FORMATTER_BY_FORMAT_NAME
from harness.rules.catalogue import load_catalogue

CATALOGUE = load_catalogue()
EXAMPLES = 1000


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the bytes of captures in several formats."""
    folder = tmp_path_factory.mktemp("whole")
    packets = made.cut_segments(made.converse(folder / "own.pcapng", body=200))
    six = made.converse(folder / "six.pcapng", made.SUT_6, made.PEER_6, body=100)
    fragments = [part for packet in packets for part in made.fragments_of(packet, 256)]
    files = [made.pcapng(folder / f"{link.__name__}", made.framed(packets, link)) for link in made.LINKS]
    files += [made.pcap(folder / "six", made.framed(six)), made.pcap(folder / "parts", made.framed(fragments), ">")]
    files += [made.pcap(folder / "cut", made.snapped(made.framed(packets), 96), nano=True)]
    files += [made.gzipped(made.pcap(folder / "packed", made.framed(packets)))]
    return [file.read_bytes() for file in files]


def damage(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Damage the bytes of a capture at random: change bytes, cut them off, leave out a part, or insert a part of
    another capture.
    """
    made = bytearray(data)
    kind = chance.randrange(5)
    if kind == 0:
        for _ in range(chance.choice((1, 3, 20, 200))):
            made[chance.randrange(len(made))] = chance.randrange(256)
    elif kind == 1:
        del made[chance.randrange(len(made)) :]
    elif kind == 2:
        at, size = chance.randrange(len(made)), chance.randrange(1, 3000)
        del made[at : at + size]
    elif kind == 3:
        at = chance.randrange(len(other))
        made[chance.randrange(len(made)) :] = other[at:]
    else:
        at = chance.randrange(len(made) - 4)
        made[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x80", b"LIOR"))
    return bytes(made)


def test_a_thousand_damaged_captures_give_verdicts_or_one_line(whole, tmp_path):
    chance, path = random.Random(31), tmp_path / "x"
    outcomes = {"judged": 0, "refused": 0}
    for _ in range(EXAMPLES):
        path.write_bytes(damage(chance.choice(whole), chance.choice(whole), chance))
        try:
            found = check_capture(path, CATALOGUE)
        except MqconformError as error:
            outcomes["refused"] += 1
            assert len(str(error).splitlines()) == 1
            continue
        outcomes["judged"] += 1
        systems = [(found, build_findings(found))]
        for form in REPORT_FORMATTER_BY_FORMAT_NAME.values():
            assert form(systems)
    assert outcomes["judged"] > EXAMPLES // 2
    assert outcomes["refused"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "the file is empty"),
        (b"PK\3\4....", r"neither pcap nor pcapng \(it begins with 50 4b 03 04\); .*editcap -F pcapng"),
        (b"snoop\0\0\0", "a snoop file; convert it with: editcap -F pcapng x.cap x.pcapng"),
        (b"\x28\xb5\x2f\xfd....", "a file compressed by zstd; convert it with: editcap -F pcapng x.cap x.pcapng"),
    ],
)
def test_file_that_is_not_a_capture_gives_one_line_error_with_remedy(tmp_path, content, line):
    path = tmp_path / "x.cap"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=line):
        check_capture(path, CATALOGUE)


def test_capture_file_without_a_complete_frame_is_refused(tmp_path):
    path = made.pcap(tmp_path / "x", made.framed([b"E" * 40]))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CaptureError, match="no frame can be read: the last record is truncated"):
        check_capture(path, CATALOGUE)


@pytest.mark.parametrize("form", [made.pcap, made.pcapng])
def test_frames_before_damage_in_capture_are_judged_and_damage_is_named(tmp_path, form):
    frames = made.framed(made.converse(tmp_path / "own.pcapng"))
    path = form(tmp_path / "x", frames)
    path.write_bytes(path.read_bytes()[:-9])
    found = check_capture(path, CATALOGUE)
    assert found.traffic.frames == len(frames) - 1
    (damage,) = found.damage_descriptions
    assert damage.startswith(f"the file is damaged after frame {len(frames) - 1}: ")


def test_truncated_gzip_capture_is_judged_up_to_the_cut(tmp_path):
    path = made.pcap(tmp_path / "x", made.framed(made.converse(tmp_path / "own.pcapng")))
    packed = zlib.compressobj(0, wbits=31)
    path.write_bytes((packed.compress(path.read_bytes()) + packed.flush())[:-3000])
    found = check_capture(path, CATALOGUE)
    assert found.traffic.frames > 10
    assert "cannot be decompressed further" in found.damage_descriptions[0]


def test_capture_record_with_huge_claimed_length_is_not_read(tmp_path):
    path = made.pcapng(tmp_path / "x", made.framed(made.converse(tmp_path / "own.pcapng")))
    path.write_bytes(path.read_bytes() + b"\6\0\0\0\xf0\xff\xff\xff" + bytes(100))
    assert (
        "a record has 4294967268 bytes; at most 16777216 are read"
        in check_capture(path, CATALOGUE).damage_descriptions[0]
    )
