"""Comments on the frames of a capture name the verdicts for which these frames are evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.capture.capture_error import CaptureError
from harness.capture.comments import add_frame_comments
from harness.capture.pcapng import CapturedFrame, CapturedNote, read_packets_and_notes, read_pcapng
from harness.capture.streams import read_streams
from harness.capture.writer import CaptureWriter
from harness.judging.verdicts import Verdict
from harness.run.capture_comments import add_comments_to_captures
from harness.run.results import RuleResult
from reference_qm.surface.inputs import Endpoint

PEER, SUT = Endpoint("127.0.0.2", 40_000), Endpoint("127.0.0.1", 1_801)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "captures" / "one.pcapng"
    path.parent.mkdir()
    with CaptureWriter(path, 1_700_000_000_000_000) as writer:
        writer.write_tcp_open(1, PEER, SUT, time_us=5, comment="DCE/RPC", client_is_sut=False)
        writer.write_tcp_data(1, True, b"asked", time_us=10)
        writer.write_tcp_data(1, False, b"answered", time_us=20)
        writer.write_tcp_close(1, False, time_us=30)
    return path


def test_added_comment_keeps_notes_between_packets(capture: Path):
    with CaptureWriter(capture) as writer:
        writer.note(b"first")
        writer.write_udp(SUT, PEER, b"datagram", time_us=1, from_sut=True)
        writer.note(b"last")
    add_frame_comments(capture, {1: "pass"})
    first, frame, last = read_packets_and_notes(capture)
    assert isinstance(first, CapturedNote)
    assert isinstance(last, CapturedNote)
    assert isinstance(frame, CapturedFrame)
    assert (first.text, frame.comment, last.text) == (b"first", "pass", b"last")


def test_comment_leaves_other_blocks_unchanged(capture: Path):
    before, streams_before = list(read_pcapng(capture)), read_streams(capture)
    add_frame_comments(capture, {5: "fail: Zürich", 1: "not taken: there is one"})
    after = list(read_pcapng(capture))
    assert [frame.comment for frame in after] == ["DCE/RPC", None, None, None, "fail: Zürich", None]
    for old, new in zip(before, after, strict=True):
        assert (old.time_us, old.data, old.inbound) == (new.time_us, new.data, new.inbound)
    assert read_streams(capture) == streams_before


def test_comment_without_new_content_is_not_written(capture: Path):
    add_frame_comments(capture, {5: "fail"})
    written, said = capture.stat().st_mtime_ns, capture.read_bytes()
    add_frame_comments(capture, {5: "another", 99: "no such frame"})
    assert (capture.stat().st_mtime_ns, capture.read_bytes()) == (written, said)


def result(verdict: Verdict, frame: int, rule: str = "MQQB-2.1.2-01", **line: Any) -> RuleResult:
    usual = {"expected": "a", "observed": "b\x1b", "capture": "captures/one.pcapng", "evidence": [{"frame": frame}]}
    return RuleResult(rule, verdict, usual | line)


def test_failure_comment_is_added_to_its_packet(capture: Path):
    add_comments_to_captures(
        [
            result(Verdict.FAIL, 5),
            result(Verdict.WARN, 5, "MQQB-2.1.2-02"),
            result(Verdict.PASS, 4),
            result(Verdict.FAIL, 1, capture="captures/gone.pcapng"),
            result(Verdict.INCONCLUSIVE, 1, capture=None, evidence=[]),
        ],
        capture.parent.parent,
    )
    assert [frame.comment for frame in read_pcapng(capture)][3:5] == [
        None,
        "fail MQQB-2.1.2-01: expected a; observed b<U+001B>\nwarn MQQB-2.1.2-02: expected a; observed b<U+001B>",
    ]


def test_truncated_capture_is_not_annotated(capture: Path):
    capture.write_bytes(capture.read_bytes()[:-5])
    said = capture.read_bytes()
    with pytest.raises(CaptureError):
        add_frame_comments(capture, {5: "x"})
    add_comments_to_captures([result(Verdict.FAIL, 5)], capture.parent.parent)
    assert capture.read_bytes() == said
