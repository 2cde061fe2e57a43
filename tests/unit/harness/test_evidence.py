"""The packets of a verdict as text, read from the capture, or from a verdict of schema 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness_made import recorded

from harness.run.evidence import MAX_HEX_DUMP_BYTES, EvidenceTexts
from harness.wire import session_ack, user_message

CAPTURE = "captures/made.pcapng"
ACK = bytes(session_ack(AckSequenceNumber=3))


def line(*evidence: dict[str, Any], **changes: Any) -> dict[str, Any]:
    known = {"document": "MQQB", "section": "2.2.1", "verdict": "fail", "expected": "a", "observed": "b"}
    return known | {"capture": CAPTURE, "evidence": list(evidence)} | changes


def named(frame: int, first: int | None = None, last: int | None = None) -> dict[str, Any]:
    return {"frame": frame, "first": first, "last": last}


def texts(folder: Path, of: dict[str, Any]) -> list[str]:
    return list(EvidenceTexts(folder).of(of))


def test_evidence_shows_a_packet_with_its_marked_field(tmp_path: Path) -> None:
    (frame,) = recorded(tmp_path / CAPTURE, ACK)
    (text,) = texts(tmp_path, line(named(frame, 20, 21)))
    assert text.startswith(
        f"frame {frame}, sut->peer, 0 ms, tcp, bytes 0x14 to 0x15 decide the verdict\n\n  BaseHeader\n"
    )
    assert "\n>   AckSequenceNumber = 0x0003  @0x14\n    RecoverableMsgAckSeqNumber" in text
    assert text.count("\n>") == 1
    first, last = ACK[:16].hex(" "), ACK[32:].hex(" ")
    assert f"\n000000  {first}  ....LIOR" in text
    assert text.splitlines()[-1].startswith(f"000020  {last} ")
    assert len({line.index("LIOR") for line in text.splitlines() if "LIOR" in line}) == 1


def test_evidence_without_a_field_has_no_marks_and_long_packets_are_cut(tmp_path: Path) -> None:
    ack, message = recorded(tmp_path / CAPTURE, ACK, bytes(user_message(body=bytes(2 * MAX_HEX_DUMP_BYTES))))
    short, long = texts(tmp_path, line(named(ack), named(message)))
    assert short.startswith(f"frame {ack}, sut->peer, 0 ms, tcp\n\nBaseHeader\n  VersionNumber")
    assert "more bytes" not in short
    assert long.endswith("more bytes\n")
    assert f"{MAX_HEX_DUMP_BYTES - 16:06x}  " in long
    assert f"{MAX_HEX_DUMP_BYTES:06x}  " not in long


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [([(4, None), (5, 20), (6, None)], [5]), ([(4, None), (5, None)], [5]), ([(4, 20), (5, 20)], [4]), ([], [])],
)
def test_evidence_of_a_pass_shows_the_deciding_packet(
    tmp_path: Path, evidence: list[tuple[int, int | None]], shown: list[int]
) -> None:
    assert recorded(tmp_path / CAPTURE, ACK, ACK, ACK) == [4, 5, 6]
    asked = [named(frame, first, first and first + 1) for frame, first in evidence]
    found = texts(tmp_path, line(*asked, verdict="pass"))
    assert [int(text.split(",")[0].removeprefix("frame ")) for text in found] == shown


def test_evidence_of_a_schema_1_verdict_shows_its_quoted_packet(tmp_path: Path) -> None:
    quoted = named(7) | {"time_ms": 3, "direction": "sut->peer", "transport": "tcp", "hex": "1041", "dissection": "x"}
    (text,) = texts(tmp_path, line(quoted))
    assert text == f"frame 7, sut->peer, 3 ms, tcp\n\nx\n\n000000  10 41{' ' * 44}.A\n"


@pytest.mark.parametrize(
    ("capture", "frame", "why"),
    [
        ("captures/none.pcapng", 4, "No such file"),
        (CAPTURE, 99, "no packet begins in frame 99"),
        ("captures/text.pcapng", 4, "this is not a pcapng file"),
        ("../outside.pcapng", 4, "is not a file of"),
        ("captures/../../outside.pcapng", 4, "is not a file of"),
        ("/etc/passwd", 4, "is not a file of"),
        (None, 4, "is not a file of"),
    ],
)
def test_evidence_that_cannot_be_shown_has_the_reason(
    tmp_path: Path, capture: str | None, frame: int, why: str
) -> None:
    folder = tmp_path / "run"
    recorded(folder / CAPTURE, ACK)
    recorded(tmp_path / "outside.pcapng", ACK)
    (folder / "captures/text.pcapng").write_text("text")
    (text,) = texts(folder, line(named(frame), capture=capture))
    assert text.startswith("the packets of this verdict cannot be shown: ")
    assert why in text
