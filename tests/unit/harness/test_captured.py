"""A capture that is judged later has the verdicts of the run that recorded it."""

import pytest

from harness.capture import CaptureError, CaptureWriter
from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging import captured
from harness.judging.captured import CaptureTooLarge, CaptureWithoutPacketDirections, judge_capture, lines_of_capture
from harness.judging.judge import MAX_SHOWN_PASSES_PER_RULE, Judge
from harness.judging.passive import load_predicates
from harness.judging.verdicts import Advice, Verdict
from harness.rules.catalogue import load_catalogue
from harness.wire import connection_parameters, establish_connection, ping_request, session_ack, user_message
from reference_qm.surface.inputs import Endpoint

SUT, PEER = Endpoint("127.0.0.2", 1801), Endpoint("127.0.0.1", 50_000)


def recorded(path, happens):
    """Record a conversation; return the verdicts of a judge that saw the packets during the recording."""
    recorder = Recorder(VirtualEnvironment(), path)
    entries = []

    passes = dict.fromkeys(load_predicates(), MAX_SHOWN_PASSES_PER_RULE)
    judge = Judge(load_catalogue(), entries, test="x", covers=(), capture="x", passes=captured.Counter(passes))
    recorder.listeners.append(judge.packets.on_frame)
    happens(recorder)
    recorder.record_incomplete_packets_of_connections()
    judge.conclude_passive_rules()
    recorder.close()
    return entries


def session(recorder):
    """A session with messages in both directions, and a SessionAck that arrives in two parts, the second together with
    the next packet.
    """
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_sent(connection, bytes(establish_connection()))
    recorder.record_received(connection, bytes(establish_connection()))
    recorder.record_sent(connection, bytes(connection_parameters()))
    recorder.record_received(connection, bytes(connection_parameters()))
    recorder.record_sent(connection, bytes(user_message(user={"MessageID": 1})) * 3)
    whole = bytes(session_ack(UserMsgSequenceNumber=1)) + bytes(user_message(user={"MessageID": 2}))
    recorder.record_received(connection, whole[:11])
    recorder.record_sent(connection, b"\xff" * 70_000)
    recorder.record_received(connection, whole[11:])
    recorder.record_received(connection, bytes(user_message(body=b"x" * 200_000)))
    recorder.record_connection_end(connection, by_peer=False)


def wrong(recorder):
    """A connection that the SUT opens, on which it sends a packet with a wrong version, then bytes that are not a
    packet.
    """
    connection = recorder.record_opening(PEER, SUT, by_peer=False)
    request = bytearray(bytes(establish_connection()))
    request[2] |= 1 << 6  # X9
    recorder.record_received(connection, bytes(request))
    recorder.record_received(connection, b"\x11" + bytes(establish_connection())[1:])
    recorder.record_received(connection, b"garbage")
    recorder.record_received(connection, b"more garbage" * 9)
    recorder.record_connection_end(connection, by_peer=True)


def pings(recorder):
    session(recorder)
    recorder.record_datagram(PEER, SUT, bytes(ping_request()), from_sut=False)
    recorder.record_datagram(PEER, SUT, bytes(ping_request()), from_sut=True)


@pytest.mark.parametrize("happens", [session, wrong, pings])
def test_capture_gives_verdicts_of_its_run(tmp_path, happens):
    path = tmp_path / "x.pcapng"
    live = recorded(path, happens)
    assert live
    assert judge_capture(path, "x", load_catalogue()).entries == live


def test_failed_verdict_of_a_capture_names_the_deciding_bytes(tmp_path):
    path = tmp_path / "x.pcapng"
    recorded(path, wrong)
    _, lines = lines_of_capture(path, "captures/x.pcapng")
    missed = {line["rule"]: line for line in lines if line["verdict"] in (Verdict.FAIL, Verdict.WARN)}
    (advice,) = (line for line in lines if line.get("advice") == Advice.MISSED)
    assert (advice["rule"], advice["evidence"]) == ("MQMQ-2.2.19.1-10", [[4, 2, 3]])
    assert missed["MQMQ-2.2.19.1-01"]["evidence"] == [[5]]
    assert missed["MQMQ-2.2.19.1-01"]["capture"] == "captures/x.pcapng"
    assert not {"test", "seq", "ms"} & missed["MQMQ-2.2.19.1-01"].keys()


def test_unjudgeable_capture_is_refused_by_name(tmp_path, monkeypatch):
    path = tmp_path / "x.pcapng"
    recorded(path, session)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(CaptureError, match="the file is truncated"):
        lines_of_capture(path, "x")
    with CaptureWriter(path) as writer:
        writer.write_udp(PEER, SUT, bytes(ping_request()), time_us=0)
    with pytest.raises(CaptureWithoutPacketDirections, match="does not record which packets"):
        lines_of_capture(path, "x")
    path.write_bytes(whole)
    monkeypatch.setattr(captured, "MAX_CAPTURE_BYTES", 100_000)
    with pytest.raises(CaptureTooLarge, match="at most 100000 are judged"):
        lines_of_capture(path, "x")
