"""The packets of a verdict in the form that the package reports uses."""

from pathlib import Path

from harness.capture.packets import CapturedPackets
from harness.capture.packets_for_reports import packets_of
from reports.packets import get_packet_reader

GOLDEN = sorted((Path(__file__).parents[3] / "captures").rglob("*.pcapng"))


def test_the_packets_of_a_capture_are_shown():
    path = GOLDEN[0]
    first = CapturedPackets(path).packets[0]
    (shown,) = packets_of(path)("MQQB-2.1.1", "", "", [(first.frame, 0, 1)])
    assert (shown.data, shown.first, shown.last) == (first.data, 0, 1)


def test_missing_frame_and_unreadable_capture_are_reported(tmp_path):
    assert "no packet begins in frame 999999" in packets_of(GOLDEN[0])("MQQB-2.1.1", "", "", [(999999, None, None)])
    (tmp_path / "a.pcapng").write_bytes(b"no capture")
    assert "cannot be read" in packets_of(tmp_path / "a.pcapng")("MQQB-2.1.1", "", "", [(1, None, None)])


def test_reports_find_packet_display_by_entry_point():
    assert get_packet_reader().read is packets_of
