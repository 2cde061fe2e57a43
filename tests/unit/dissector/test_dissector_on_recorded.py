"""tshark with the generated dissector reads each packet of recorded conversations as ``harness.wire`` does."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from test_dissector_agrees_with_wire import TSHARK, compare, lua, packets_of, run_tshark

from harness.capture.recorder import MALFORMED_PACKET_KIND, Frame
from harness.judging.captured import judge_capture
from harness.rules.catalogue import load_catalogue
from harness.wire import dissect, dissect_ping

__all__ = ["lua"]
pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
RECORDED = Path(__file__).parents[1] / "foreign" / "recorded"
CONVERSATIONS = ["raw/own/00", "raw/own/01", "many/own/08", "many/own/41"]
"""Captures that the harness recorded together with foreign captures: sessions, transactions, pings, and a refused
message.
"""


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_recorded_packets_have_the_fields_of_the_scapy_layers(lua: Path, tmp_path: Path, name: str) -> None:
    capture = tmp_path / "conversation.pcapng"
    capture.write_bytes(gzip.decompress((RECORDED / f"{name}.pcapng.gz").read_bytes()))
    frames: list[Frame] = []
    judge_capture(capture, name, load_catalogue(), watch=frames.append)
    expected = sorted((frame for frame in frames if frame.transport != "rpc"), key=lambda frame: frame.number)
    found = packets_of(run_tshark(lua, capture, "-T", "pdml"))
    assert len(found) == len(expected) > 4
    for proto, frame in zip(found, expected, strict=True):
        if frame.kind == MALFORMED_PACKET_KIND:
            assert any(field.get("name") == "msmq.malformed" for field in proto.iter("field"))
        else:
            compare(proto, dissect_ping(frame.data) if frame.transport == "udp" else dissect(frame.data))
