"""MS-MQMQ 2.2.19.1 BaseHeader: the bit IN in internal packets while another session is open, and in a refusal."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.peer.handshake import establish_request
from harness.run.marks import covers
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import OTHER_GUID, has_packet_signature, read_in_flag_and_packet_type


@covers("MQMQ-2.2.19.1-05")
def test_internal_packets_beside_open_session_have_in(peer, judge):
    """While a session is open, the peer opens another session and sends a message on it. In each packet with which the
    SUT answers, IN is set.
    """
    beside = peer.open_session()
    frames = exchange_message(peer).connection.received
    if not frames:
        raise ConformanceFailure("the SUT did not answer the set-up of the second session")
    judge(
        "MQMQ-2.2.19.1-05",
        expected=each(1),
        observed=[read_in_flag_and_packet_type(frame)["IN"] for frame in frames],
        case="IN of the packets of the second session",
        evidence=frames,
    )
    beside.close()


@covers("MQMQ-2.2.19.1-05")
def test_refusal_of_session_has_in(peer, judge):
    """The peer requests a session with a ServerGuid that is not the GUID of the SUT. If the SUT refuses the session
    with a response, IN is set in this response.
    """
    connection = peer.connect()
    request = connection.send(establish_request(peer, ServerGuid=OTHER_GUID))
    answer = connection.poll_packet(0)
    if answer is None or not has_packet_signature(answer):
        judge.mark_not_exercised("MQMQ-2.2.19.1-05", reason="the SUT sends no response that refuses a session")
        return
    judge(
        "MQMQ-2.2.19.1-05",
        expected=1,
        observed=read_in_flag_and_packet_type(answer)["IN"],
        case="IN of the refusal",
        evidence=[request, answer],
    )
