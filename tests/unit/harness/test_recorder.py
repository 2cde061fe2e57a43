"""The recorder reassembles packets from a stream that is cut at any place, and records for each packet the frame of the
capture in which it begins.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st

import harness.capture.recorder
import harness.wire.packets
from harness.capture import read_pcapng, read_streams
from harness.capture.recorder import (
    FROM_SUT_DIRECTION,
    LONGEST_KEPT_DISSECTION_BYTES,
    TO_SUT_DIRECTION,
    Connection,
    Frame,
    Recorder,
)
from harness.capture.window import MEMORY_BYTES_PER_FRAME, WindowOfLatestFrames
from harness.capture.writer import MAX_SEGMENT_BYTES
from harness.environment import VirtualEnvironment
from harness.errors import ConformanceFailure, HarnessError, SutFlood
from harness.wire import (
    connection_parameters,
    dissect,
    establish_connection,
    ping_request,
    session_ack,
    user_message,
)
from reference_qm.codec import FormatError, MessageIdentifier
from reference_qm.surface.inputs import Endpoint

PEER, SUT = Endpoint("127.0.0.2", 50_000), Endpoint("127.0.0.1", 1801)
PACKETS = [
    bytes(establish_connection()),
    bytes(connection_parameters(WindowSize=64)),
    bytes(session_ack(AckSequenceNumber=1)),
    bytes(user_message(body=b"x" * 300)),
]
KINDS = ["EstablishConnection", "ConnectionParameters", "SessionAck", "UserMessage"]


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(VirtualEnvironment(), tmp_path / "made.pcapng")
    yield made
    made.close()


def begins_in(path: Path, frames: list[Frame], *, by_peer: bool = True) -> list[int]:
    """Return, for each packet that the SUT sent, the number of the capture's frame that contains the packet's first
    byte.
    """
    stream = read_streams(path).tcp_streams[0]
    way = stream.from_server if by_peer else stream.from_client
    position, numbers = 0, []
    for frame in frames:
        assert way.data[position : position + len(frame.data)] == frame.data
        numbers.append(next(each.frame for each in way.byte_ranges if each.start <= position < each.end))
        position += len(frame.data)
    return numbers


def feed(recorder: Recorder, cuts: list[int], data: bytes, *, by_peer: bool = True) -> tuple[Connection, list[Frame]]:
    connection = recorder.record_opening(PEER, SUT, by_peer=by_peer)
    edges = [0, *sorted(cuts), len(data)]
    frames: list[Frame] = []
    for start, end in pairwise(edges):
        if start < end:
            frames += recorder.record_received(connection, data[start:end])
    recorder.close()
    return connection, frames


@pytest.mark.parametrize("by_peer", [True, False])
def test_recorder_gives_each_packet_its_frame_in_joined_and_split_chunks(
    recorder: Recorder, tmp_path: Path, by_peer: bool
) -> None:
    data = b"".join(PACKETS)
    second = len(PACKETS[0]) + len(PACKETS[1])
    _, frames = feed(recorder, [second + 5], data, by_peer=by_peer)
    assert [frame.kind for frame in frames] == KINDS
    assert [frame.data for frame in frames] == PACKETS
    assert [frame.number for frame in frames] == [4, 5, 6, 8]  # after SYN, SYN-ACK, ACK
    assert begins_in(tmp_path / "made.pcapng", frames, by_peer=by_peer) == [4, 5, 6, 8]


@budget(FEW, with_fixtures=True)
@given(cuts=st.lists(st.integers(0, sum(map(len, PACKETS))), max_size=12))
def test_recorder_finds_packets_and_frames_in_any_chunks_of_a_stream(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("cut") / "made.pcapng"
    connection, frames = feed(Recorder(VirtualEnvironment(), path), cuts, b"".join(PACKETS))
    assert [(frame.kind, frame.data) for frame in frames] == list(zip(KINDS, PACKETS, strict=True))
    assert [frame.number for frame in frames] == begins_in(path, frames)
    assert connection.received == frames


def test_packet_start_is_found_in_chunk_of_several_segments(recorder: Recorder, tmp_path: Path) -> None:
    big = bytes(user_message(body=b"x" * (MAX_SEGMENT_BYTES + 100)))
    _, frames = feed(recorder, [], big + PACKETS[2] + PACKETS[2])
    assert [frame.kind for frame in frames] == ["UserMessage", "SessionAck", "SessionAck"]
    assert [frame.number for frame in frames] == begins_in(tmp_path / "made.pcapng", frames) == [4, 6, 7]


def test_recorder_keeps_packets_before_broken_bytes_and_finds_none_after_them(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    good, bad = recorder.record_received(connection, PACKETS[2] + b"\xff" * 40)
    assert (good.kind, good.data, good.error) == ("SessionAck", PACKETS[2], None)
    assert bad.kind == "malformed"
    assert isinstance(bad.error, FormatError)
    (after,) = recorder.record_received(connection, PACKETS[2])
    assert (after.kind, after.data) == ("malformed", PACKETS[2])
    assert connection.has_unparsable_bytes
    assert connection.received == [good, bad, after]


def test_recorder_writes_each_sent_packet_as_one_frame(recorder: Recorder, tmp_path: Path) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    frames = [recorder.record_sent(connection, data) for data in (PACKETS[0], b"rubbish", PACKETS[2] + PACKETS[2][:5])]
    recorder.close()
    assert [frame.kind for frame in frames] == ["EstablishConnection", "malformed", "malformed"]
    assert {frame.direction for frame in frames} == {TO_SUT_DIRECTION}
    assert bytes(read_streams(tmp_path / "made.pcapng").tcp_streams[0].from_client.data) == b"".join(
        f.data for f in frames
    )


def test_recorder_numbers_and_names_datagrams(recorder: Recorder, tmp_path: Path) -> None:
    ping = bytes(ping_request(Cookie=7))
    asked = recorder.record_datagram(PEER, SUT, ping, from_sut=False)
    junk = recorder.record_datagram(PEER, SUT, b"junk", from_sut=True)
    recorder.close()
    assert [(each.number, each.kind, each.direction, each.transport) for each in (asked, junk)] == [
        (1, "Ping", TO_SUT_DIRECTION, "udp"),
        (2, "malformed", FROM_SUT_DIRECTION, "udp"),
    ]
    first, second = read_streams(tmp_path / "made.pcapng").udp_datagrams
    assert (first.source, first.target, first.data) == (PEER, SUT, ping)
    assert (second.source, second.target, second.data) == (SUT, PEER, b"junk")


def test_recorder_keeps_parallel_connections_in_separate_streams(recorder: Recorder, tmp_path: Path) -> None:
    one = recorder.record_opening(PEER, SUT, by_peer=True)
    two = recorder.record_opening(Endpoint(PEER.host, PEER.port + 1), SUT, by_peer=True)
    recorder.record_received(one, PACKETS[0][:9])
    assert recorder.record_received(two, PACKETS[1])[0].kind == "ConnectionParameters"
    assert recorder.record_received(one, PACKETS[0][9:])[0].kind == "EstablishConnection"
    recorder.close()
    assert [bytes(stream.from_server.data) for stream in read_streams(tmp_path / "made.pcapng").tcp_streams] == PACKETS[
        :2
    ]


def test_recorder_writes_the_end_of_a_connection_once_with_its_frame(recorder: Recorder, tmp_path: Path) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_received(connection, PACKETS[0])
    recorder.record_connection_end(connection, by_peer=False)
    recorder.record_connection_end(connection, by_peer=True)
    recorder.close()
    assert (connection.closed_by, connection.closed_frame) == ("sut", 5)
    (stream,) = read_streams(tmp_path / "made.pcapng").tcp_streams
    assert (stream.from_server.closed_frame, stream.from_client.closed_frame) == (5, None)


def test_recorded_frame_provides_packet_of_both_codecs_and_as_text(recorder: Recorder) -> None:
    (frame,) = recorder.record_received(recorder.record_opening(PEER, SUT, by_peer=True), PACKETS[2])
    assert frame["SessionHeader"].AckSequenceNumber == 1
    assert frame.record.SessionHeader.AckSequenceNumber == 1  # type: ignore[union-attr]
    assert "AckSequenceNumber" in frame.dissection_text
    assert "SessionAck, frame 4" in repr(frame)


@pytest.mark.parametrize("by_sut", [True, False])
def test_recorded_frame_is_dissected_by_scapy_once_and_only_on_access(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, by_sut: bool
) -> None:
    dissected: list[bytes] = []

    def counted(data: bytes) -> Any:
        dissected.append(data)
        return dissect(data)

    for module in (harness.capture.recorder, harness.wire.packets):
        monkeypatch.setattr(module, "dissect", counted)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    frames = [
        frame
        for data in PACKETS
        for frame in (
            recorder.record_received(connection, data) if by_sut else [recorder.record_sent(connection, data)]
        )
    ]
    assert [frame.kind for frame in frames] == KINDS
    assert dissected == []
    assert frames[2]["SessionHeader"].AckSequenceNumber == frames[2].record.SessionHeader.AckSequenceNumber == 1
    assert frames[2].packet is frames[2].packet
    assert dissected == [PACKETS[2]]


def test_packet_that_the_strict_codec_refuses_is_read_by_the_layers(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(data: bytes) -> Any:
        raise FormatError("BaseHeader", 0, "MS-MQMQ 2.2.19.1", "refused")

    monkeypatch.setattr("harness.capture.recorder.parse_packet", refuse)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    assert [recorder.record_sent(connection, data).kind for data in PACKETS] == KINDS


def test_listeners_of_recorder_get_every_frame(recorder: Recorder) -> None:
    listened: list[Frame] = []
    recorder.listeners.append(listened.append)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    frames = [
        recorder.record_sent(connection, PACKETS[0]),
        *recorder.record_received(connection, PACKETS[1] + PACKETS[2]),
    ]
    assert listened == frames == recorder.frames


def test_capture_file_begins_with_first_packet_and_has_each_frame_at_once(recorder: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "made.pcapng"
    assert not path.exists()
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    assert len(list(read_pcapng(path))) == 3
    recorder.record_sent(connection, PACKETS[0])
    assert len(list(read_pcapng(path))) == 4


def test_a_recorder_without_a_path_numbers_frames_and_has_no_writer() -> None:
    recorder = Recorder(VirtualEnvironment(), None)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    assert [frame.number for frame in recorder.record_received(connection, PACKETS[1] + PACKETS[2])] == [1, 2]
    with pytest.raises(HarnessError, match="the recorder has no file for the capture"):
        _ = recorder.writer


def test_packets_beyond_the_memory_window_are_read_from_the_capture_file(tmp_path: Path) -> None:
    recorder = Recorder(VirtualEnvironment(), tmp_path / "long.pcapng")
    recorder._window = WindowOfLatestFrames(recorder.path, limit=0)
    stream = b"".join(PACKETS) * 3 + b"no packet" + b"more of that"
    connection, frames = feed(recorder, [1, 40, 700, 1_500, len(stream) - 12], stream)
    in_memory = [frame for frame in frames if frame._data is not None]
    assert len(in_memory) == 1
    assert b"".join(frame.data for frame in frames[:12]) == b"".join(PACKETS) * 3
    assert [frame.kind for frame in frames] == KINDS * 3 + ["malformed"] * (len(frames) - 12)
    assert frames[-1].data == b"more of that"
    assert frames[3]["MessagePropertiesHeader"].MessageBody == b"x" * 300
    assert len([frame for frame in frames if frame._data is not None]) == 1
    assert connection.received == frames


@budget(FEW, with_fixtures=True)
@given(st.lists(st.integers(0, sum(map(len, PACKETS))), max_size=12), st.booleans())
def test_capture_file_has_all_packet_bytes_whatever_the_chunks(tmp_path: Path, cuts: list[int], by_peer: bool) -> None:
    recorder = Recorder(VirtualEnvironment(), tmp_path / "cut.pcapng")
    recorder._window = WindowOfLatestFrames(recorder.path, limit=0)
    _, frames = feed(recorder, cuts, b"".join(PACKETS), by_peer=by_peer)
    assert [frame.data for frame in frames] == PACKETS


def test_sent_packets_and_datagrams_are_read_back_from_the_capture_file(recorder: Recorder) -> None:
    recorder._window = WindowOfLatestFrames(recorder.path, limit=0)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    long = bytes(user_message(body=bytes(range(256)) * 1_000))
    ping = bytes(ping_request())
    kept = [
        recorder.record_sent(connection, long),
        recorder.record_datagram(PEER, SUT, ping, from_sut=True),
        recorder.record_sent(connection, b"junk"),
    ]
    assert [frame.data for frame in kept] == [long, ping, b"junk"]
    assert len(long) > 4 * MAX_SEGMENT_BYTES


def test_flood_is_a_finding_with_its_size_and_later_bytes_are_dropped(recorder: Recorder) -> None:
    recorder.flood_limit = 100_000
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    message = bytes(user_message(body=b"x" * 30_000))
    with pytest.raises(SutFlood, match=rf"sent {4 * len(message)} bytes in the first \d+ ms"):
        for _ in range(10):
            recorder.record_received(connection, message)
    assert (recorder.is_flooded, len(recorder.frames)) == (True, 3)
    assert recorder.record_received(connection, message) == []
    assert len(recorder.frames) == 3
    recorder.record_sent(connection, b"what the peer sends is its own matter")


@pytest.mark.parametrize("piece", [b"x", b"no packet, and nothing after it is one"])
def test_many_small_pieces_of_a_broken_stream_count_as_flood(recorder: Recorder, piece: bytes) -> None:
    recorder.flood_limit = 100 * MEMORY_BYTES_PER_FRAME
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    with pytest.raises(SutFlood):
        while True:
            recorder.record_received(connection, piece)
    assert len(recorder.frames) <= 100


def test_many_small_packets_in_few_pieces_count_as_flood(recorder: Recorder) -> None:
    recorder.flood_limit = 100 * MEMORY_BYTES_PER_FRAME
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    piece = bytes(user_message()) * 30
    assert len(piece) < 4 * MEMORY_BYTES_PER_FRAME
    with pytest.raises(SutFlood, match="bytes and 100 packets"):
        while True:
            recorder.record_received(connection, piece)
    assert len(recorder.frames) == 90


def test_many_datagrams_count_as_flood(recorder: Recorder) -> None:
    recorder.flood_limit = 10 * MEMORY_BYTES_PER_FRAME
    for _ in range(10):
        recorder.record_datagram(PEER, SUT, b"ping", from_sut=True)
    with pytest.raises(SutFlood):
        recorder.record_datagram(PEER, SUT, b"ping", from_sut=True)


def test_message_summary_outlives_its_bytes(recorder: Recorder) -> None:
    recorder._window = WindowOfLatestFrames(recorder.path, limit=0)
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    source = UUID(int=7)
    answered = MessageIdentifier(UUID(int=9), 0x1234)
    message = user_message(
        user={"SourceQueueManager": source, "MessageID": 5},
        MessageClass=0x4000,
        ApplicationTag=77,
        CorrelationID=answered.build(),
    )
    first, other = recorder.record_received(connection, bytes(message) + PACKETS[2])
    assert first._data is None
    assert first.message == (source, 5, 0x4000, 77, answered.build())
    assert first.message is not None
    assert first.message.acknowledged_message_identifier == answered
    assert other.message is None


def test_unreferenced_long_message_is_freed_at_once(recorder: Recorder) -> None:
    """A long message is freed as soon as its frame leaves its layers. Once reference cycles of scapy kept 16 MB for
    each message of 4 MB until the garbage collector ran, which it rarely did.
    """
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    (frame,) = recorder.record_received(connection, bytes(user_message(body=b"x" * LONGEST_KEPT_DISSECTION_BYTES)))
    gc.disable()
    try:
        layers = [weakref.ref(layer) for layer in frame.packet.iterpayloads()]
        queue = weakref.ref(frame["UserHeader"].DestinationQueue)
        assert len(layers) == 3
        assert all(layer() is not None for layer in (*layers, queue))
        frame.drop_dissection()
        assert [layer() for layer in (*layers, queue)] == [None] * 4
    finally:
        gc.enable()


def test_access_to_a_missing_header_of_a_packet_is_not_a_harness_error(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    message, junk = recorder.record_received(connection, PACKETS[3] + b"no packet")
    for frame in (message, junk):
        with pytest.raises(ConformanceFailure, match=f"the {frame.kind} in frame {frame.number} has no SessionHeader"):
            frame["SessionHeader"]
