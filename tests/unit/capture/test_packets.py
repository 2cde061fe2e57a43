"""The display of the packets of a capture: reassembled, dissected, and with the deciding field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.capture import CaptureError
from harness.capture.deciding import VerdictTexts
from harness.capture.golden import GOLDEN_FOLDER, load_golden_capture
from harness.capture.packets import CapturedPackets, PacketForReaders, PacketMissingInCapture, PacketNamedByVerdict
from harness.capture.recorder import FROM_SUT_DIRECTION, TO_SUT_DIRECTION, Recorder
from harness.capture.writer import MAX_SEGMENT_BYTES
from harness.environment import VirtualEnvironment
from harness.wire import ping_request, ping_response, session_ack, user_message
from harness.wire.rpc import ACCEPTANCE_RESULT, NDR, NDR64, QM2QM, BindOutcome, Proposal, bind, bind_ack
from harness.wire.rpc_fragments import build_request_fragments, build_response_fragments
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from reference_qm.surface.inputs import Endpoint

PEER, SUT = Endpoint("127.0.0.2", 50_000), Endpoint("127.0.0.1", 1801)
ACK = bytes(session_ack(AckSequenceNumber=3, WindowSize=64))
OPEN = QM2QM_OPERATIONS["RemoteQMOpenQueue"]
PURGE = QM2QM_OPERATIONS["RemoteQMPurgeQueue"]


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(VirtualEnvironment(), tmp_path / "made.pcapng")
    yield made
    made.close()


def show(recorder: Recorder, frame: int, first: int | None = None, last: int | None = None) -> PacketForReaders:
    assert recorder.path is not None
    (shown,) = CapturedPackets(recorder.path).show([PacketNamedByVerdict(frame, first, last)])
    return shown


def marked(shown: PacketForReaders) -> list[str]:
    return [shown.dissection[start:end] for start, end in shown.marked]


def test_packet_for_display_has_bytes_direction_and_frame(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    sent = recorder.record_sent(connection, b"junk")
    (came,) = recorder.record_received(connection, ACK)
    asked = recorder.record_datagram(PEER, SUT, bytes(ping_request(Cookie=7)), from_sut=False)
    answered = recorder.record_datagram(PEER, SUT, bytes(ping_response(Cookie=7)), from_sut=True)
    wanted = [
        (sent, TO_SUT_DIRECTION, "tcp", PEER, SUT),
        (came, FROM_SUT_DIRECTION, "tcp", SUT, PEER),
        (asked, TO_SUT_DIRECTION, "udp", PEER, SUT),
        (answered, FROM_SUT_DIRECTION, "udp", SUT, PEER),
    ]
    for frame, direction, transport, source, target in wanted:
        shown = show(recorder, frame.number)
        assert (shown.frame, shown.data) == (frame.number, frame.data)
        assert (shown.direction, shown.transport, shown.source, shown.target) == (direction, transport, source, target)
        assert (shown.dissection, shown.first, shown.last, shown.marked) == (frame.dissection_text, None, None, ())


def test_direction_does_not_depend_on_who_opened_the_connection(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=False)
    (came,) = recorder.record_received(connection, ACK)
    shown = show(recorder, came.number)
    assert (shown.direction, shown.source, shown.target) == (FROM_SUT_DIRECTION, SUT, PEER)


def test_times_of_displayed_packets_equal_capture_times(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.environment.run_until(lambda: False, 1_500)
    (came,) = recorder.record_received(connection, ACK)
    assert recorder.path is not None
    captured = CapturedPackets(recorder.path)
    (shown,) = captured.show([PacketNamedByVerdict(came.number)])
    assert (shown.time_ms, shown.time_us - captured.start_us) == (1_500, 1_500_000)


@pytest.mark.parametrize("size", [10, MAX_SEGMENT_BYTES - 500, MAX_SEGMENT_BYTES, 3 * MAX_SEGMENT_BYTES])
def test_packets_are_reassembled_from_segments_and_split_from_joint_segments(recorder: Recorder, size: int) -> None:
    message = bytes(user_message(body=bytes(size)))
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    frames = [recorder.record_sent(connection, message), recorder.record_sent(connection, message)]
    data = message + ACK + message + ACK
    for start in range(0, len(data), 50_000):
        frames += recorder.record_received(connection, data[start : start + 50_000])
    assert [frame.data for frame in frames] == [message, message, message, ACK, message, ACK]
    assert len({frame.number for frame in frames}) == len(frames)
    for frame in frames:
        assert show(recorder, frame.number).data == frame.data


def test_dissection_marks_the_field_at_a_byte_range(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    (ack,) = recorder.record_received(connection, ACK)
    (message,) = recorder.record_received(connection, bytes(user_message()))
    assert marked(show(recorder, ack.number, 20, 21)) == ["AckSequenceNumber = 0x0003  @0x14"]
    flags = marked(show(recorder, ack.number, 2, 3))
    assert (flags[0][:8], flags[1]) == ("Flags = ", "PR = 3")
    queue = next(line for line in message.lines if line.path[-1] == "DestinationQueue")
    there = marked(show(recorder, message.number, queue.start, queue.end - 1))
    assert there[0].startswith("DestinationQueue (")
    assert there[2].startswith("DirectFormatName = ")
    assert marked(show(recorder, ack.number, 20, 20)) == []  # of no field
    for first, last in ((-1, 2), (3, 2), (0, len(ACK))):
        outside = show(recorder, ack.number, first, last)
        assert (outside.first, outside.last, outside.marked) == (None, None, ())


def test_verdict_text_selects_the_marked_bit_or_field_without_a_byte_range(
    recorder: Recorder,
) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    (ack,) = recorder.record_received(connection, ACK)
    assert recorder.path is not None
    captured = CapturedPackets(recorder.path)
    for wanted in (PacketNamedByVerdict(ack.number), PacketNamedByVerdict(ack.number, 2, 3)):
        (shown,) = captured.show([wanted], VerdictTexts("MQMQ-2.2.19.1", "", "BaseHeader.Flags.PR 3"))
        assert (shown.first, shown.last, marked(shown)) == (2, 3, ["PR = 3"])
    (shown,) = captured.show(
        [PacketNamedByVerdict(ack.number, 20, 21)], VerdictTexts("MQMQ-2.2.19.1", "", "BaseHeader.Flags.PR 3")
    )
    assert marked(shown) == ["AckSequenceNumber = 0x0003  @0x14"]  # the file has the last word


def test_packets_of_the_peer_have_no_deciding_field(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    sent = recorder.record_sent(connection, ACK)
    assert recorder.path is not None
    (shown,) = CapturedPackets(recorder.path).show(
        [PacketNamedByVerdict(sent.number)], VerdictTexts("", "", "AckSequenceNumber 3")
    )
    assert (shown.first, shown.marked) == (None, ())


def test_undissectable_packet_is_shown_as_raw_bytes(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    (junk,) = recorder.record_received(connection, bytes(40))
    shown = show(recorder, junk.number, 0, 3)
    assert (shown.data, shown.first, shown.last, shown.marked) == (bytes(40), 0, 3, ())
    assert shown.dissection.startswith("cannot be dissected: ")


@pytest.mark.parametrize(("transfer", "wide"), [(NDR, False), (NDR64, True)])
@pytest.mark.parametrize("by_peer", [True, False])
@pytest.mark.parametrize("fragment", [5840, 40])
def test_call_stubs_are_dissected_by_bound_interface(
    recorder: Recorder, transfer: object, wide: bool, by_peer: bool, fragment: int
) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=by_peer, rpc=True)

    def passes(data: bytes, *, from_client: bool) -> int:
        if from_client == by_peer:
            return recorder.record_sent(connection, data).number
        (frame,) = recorder.record_received(connection, data)
        return frame.number

    other = NDR if transfer is NDR64 else NDR64
    proposals = [Proposal(4, QM2QM, (other,)), Proposal(5, QM2QM, (transfer,))]  # type: ignore[arg-type]
    outcomes = [BindOutcome(2), BindOutcome(ACCEPTANCE_RESULT, transfer_syntax=transfer)]  # type: ignore[arg-type]
    passes(bytes(bind(1, proposals)), from_client=True)
    passes(bytes(bind_ack(1, outcomes, group=1)), from_client=False)
    asked, answered = [], []
    for call, operation, values in ((2, OPEN, {"hQueue": 0x1234}), (3, PURGE, {"hQueue": 0x4321})):
        stub = operation.build_request(wide, **values)
        parts = build_request_fragments(call, 5, operation.opnum, stub, fragment=fragment)
        asked.append([passes(part, from_client=True) for part in parts])
    for call, operation in ((3, PURGE), (2, OPEN)):
        parts = build_response_fragments(call, 5, operation.build_response(wide, Return=0xC00E0001), fragment=fragment)
        answered.append([passes(part, from_client=False) for part in parts])
    for frames, name, value in (
        (asked[0], "RemoteQMOpenQueue_Request", "4660"),
        (asked[1], "RemoteQMPurgeQueue_Request", "17185"),
        (answered[0], "RemoteQMPurgeQueue_Response", str(0xC00E0001)),
        (answered[1], "RemoteQMOpenQueue_Response", str(0xC00E0001)),
    ):
        texts = [show(recorder, frame).dissection for frame in frames]
        assert name in texts[0]
        assert value in texts[0]
        assert not any(name in text for text in texts[1:])


def test_call_of_unbound_interface_is_shown_without_stub(recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True, rpc=True)
    recorder.record_sent(connection, b"\5\0\0\3" + bytes(20))
    (part,) = build_request_fragments(2, 5, PURGE.opnum, PURGE.build_request(False, hQueue=1))
    sent = recorder.record_sent(connection, part)
    shown = show(recorder, sent.number, 0, 3)
    assert "PurgeQueue" not in shown.dissection
    assert (shown.transport, shown.first, shown.marked) == ("rpc", 0, ())


def test_captures_without_directions_are_displayed() -> None:
    captured = CapturedPackets(GOLDEN_FOLDER / "frames.pcapng")
    frames = load_golden_capture().frames
    assert [packet.data for packet in captured.packets] == [frame.data for frame in frames]
    ack = captured.packets[-1]
    (shown,) = captured.show([PacketNamedByVerdict(ack.frame)], VerdictTexts("", "", "AckSequenceNumber 1"))
    assert (shown.direction, marked(shown)) == ("", ["AckSequenceNumber = 0x0001  @0x14"])


def test_frame_without_packet_start_and_invalid_file_give_one_line_errors(recorder: Recorder, tmp_path: Path) -> None:
    recorder.record_opening(PEER, SUT, by_peer=True)
    for frame in (0, 1, 99):
        with pytest.raises(PacketMissingInCapture, match=f"no packet begins in frame {frame}; check that this file"):
            show(recorder, frame)
    (tmp_path / "none.pcapng").write_bytes(b"text")
    with pytest.raises(CaptureError, match="this is not a pcapng file"):
        CapturedPackets(tmp_path / "none.pcapng")
