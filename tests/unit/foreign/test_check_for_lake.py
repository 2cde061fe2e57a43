"""Captures of other tools in a lake are judged as captures of one system, or rejected with a line that names the
remedy.
"""

from __future__ import annotations

import pytest
import wrapped_captures as made

from harness.foreign.for_lake import NothingJudged, lines_of_capture
from harness.judging import captured
from harness.judging.captured import CaptureWithoutPacketDirections


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.pcapng"
    made.converse(path)
    return path


@pytest.fixture
def other(own, tmp_path):
    packets = made.converse(own)
    return made.gzipped(made.pcap(tmp_path / "other.pcap", made.framed(packets)))


def test_capture_of_a_run_names_the_system_under_test(own):
    assert lines_of_capture(own, "x") == captured.lines_of_capture(own, "x")


def test_foreign_capture_has_verdict_lines_of_the_given_system(own, other):
    _, lines = lines_of_capture(other, "x", sut="10.0.0.2")
    assert lines == captured.lines_of_capture(own, "x")[1]


def test_several_systems_in_capture_are_named_without_given_system(other):
    with pytest.raises(CaptureWithoutPacketDirections, match=r"give --sut with one of 10\.0\.0\.1, 10\.0\.0\.2"):
        lines_of_capture(other, "x")


def test_given_system_without_packets_in_capture_is_named_in_error(other):
    with pytest.raises(NothingJudged, match=r"no packet from a queue manager at 10\.9\.9\.9 that can be judged"):
        lines_of_capture(other, "x", sut="10.9.9.9")
