"""MS-MQQB 3.1.5.4.1 Request Packet: how an acceptor answers ConnectionParameters.

The predicates of this section judge whether each response repeats both timeouts.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, packet
from harness.peer.handshake import NULL_GUID, UNUSUAL_WINDOW_SIZE, build_parameters_request
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs, varied
from suites.messages import Sequence
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    drop_echoed_packet,
    find_accepted_session,
    read_in_flag_and_packet_type,
)
from suites.mqqb.steps.outgoing_session import await_session_of_sut

LONG_ACK_TIMEOUT_MS = 120_000
SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS = 0x1F4
ACK_TIMEOUT_OF_OTHER_SESSIONS_MS = 90_000
SHORT_ACK_TIMEOUT_OF_REQUEST_MS = 4_000
WINDOW_SIZE_WHILE_SUT_SESSION_IS_OPEN = 3
"""The WindowSize of the peer in the case in which the SUT has a session that the SUT initiated."""


@covers(
    "MQQB-3.1.5.4.1-D01",
    "MQQB-3.1.5.4.1-05",
    "MQQB-3.1.5.4.1-06",
    "MQQB-3.1.5.4.1-07",
    "MQQB-3.1.5.4.1-11",
    "MQQB-3.1.5.4.1-13",
)
@pytest.mark.parametrize("window", [1, WINDOW_SIZE_WHILE_SUT_SESSION_IS_OPEN, UNUSUAL_WINDOW_SIZE, 0xFFFF])
def test_connection_parameters_request_opens_session(peer, sut, judge, window):
    """While another session is open and a third session waits for ConnectionParameters, the SUT answers a
    ConnectionParameters request with its own WindowSize, and then acknowledges a message. In one case, the SUT is the
    initiator of the open session.
    """
    if window == WINDOW_SIZE_WHILE_SUT_SESSION_IS_OPEN:
        await_session_of_sut(peer, sut)
    else:
        peer.open_raw()
    peer.request_session()
    connection = peer.request_session()
    sent = connection.send(build_parameters_request(WindowSize=window))
    came = connection.poll_next_packet()
    answer = drop_echoed_packet(sent, came)
    bits = read_in_flag_and_packet_type(answer)
    evidence = [sent, came]
    judge(
        "MQQB-3.1.5.4.1-05",
        expected=packet(),
        observed=answer or connection,
        case="answer to ConnectionParameters",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.4.1-05")
    if answer is None:
        judge(
            "MQQB-3.1.5.4.1-D01",
            expected=packet(),
            observed=connection,
            case="answer to ConnectionParameters",
            evidence=evidence,
        )
        judge.conclude("MQQB-3.1.5.4.1-D01")
        raise ConformanceFailure("the SUT sent no response to ConnectionParameters")
    judge("MQQB-3.1.5.4.1-06", expected=1, observed=bits["IN"], case="IN of the answer", evidence=evidence)
    judge("MQQB-3.1.5.4.1-07", expected=3, observed=bits["PT"], case="PT of the answer", evidence=evidence)
    judge.conclude("MQQB-3.1.5.4.1-06", "MQQB-3.1.5.4.1-07")
    if answer.kind != "ConnectionParameters":
        raise ConformanceFailure(f"the SUT's response is {answer.kind} instead of ConnectionParameters")
    count = 1
    if window > 1:  # the first message of the session is a transactional one
        connection.send(Sequence(peer).message())
        count = 2
    acknowledged = connection.request_acknowledgment()
    judge(
        "MQQB-3.1.5.4.1-13",
        "MQQB-3.1.5.4.1-D01",
        expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": count}),
        observed=acknowledged or connection,
        case="answer to the message",
        evidence=[connection.sent[-1], acknowledged],
    )
    judge.conclude("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01")
    if acknowledged is None:
        raise ConformanceFailure("the SUT acknowledged no message, so its WindowSize is unknown")
    judge(
        "MQQB-3.1.5.4.1-11",
        expected=acknowledged["SessionHeader"].WindowSize,
        observed=answer["ConnectionParametersHeader"].WindowSize,
        case="WindowSize of the answer",
        evidence=[sent, answer, acknowledged],
    )


def measure_ack_delay(connection, *, recoverable: bool, expected_ms: int) -> tuple[object, object, list]:
    """Send a message, and send a second message after half of the delay of the acknowledgment; return the allowed and
    the measured time from the first message to the acknowledgment, in ms, and the packets.
    """
    sut = connection.peer.sut
    due_ms, slack_ms = sut.duration_ms(expected_ms), sut.slack_ms(expected_ms)
    allowed = (due_ms * 4 // 5, due_ms + slack_ms)
    sent = connection.send(connection.peer.message({"DM": int(recoverable)}))
    if not connection.wait_closed(due_ms // 2, exactly=True):
        connection.send(connection.peer.message({"DM": int(recoverable)}))
    came = connection.poll("SessionAck", within_ms=2 * (due_ms + slack_ms))
    evidence = [connection.sent[1], sent, came]
    if came is None:
        return between(*allowed), "no SessionAck in twice the time", evidence
    took = connection.peer.measure_duration(sent, came)
    return between(*took.get_allowed_range(*allowed)), took.ms, evidence


@covers("MQQB-3.1.5.4.1-02")
@pytest.mark.parametrize(
    "timeout_ms", [ACK_TIMEOUT_MS, 2 * ACK_TIMEOUT_MS, pytest.param(LONG_ACK_TIMEOUT_MS, marks=needs("set_timers"))]
)
@varied("priority", "extension", "correlation", "label", "body", "destination")
def test_express_message_is_acknowledged_after_half_the_ack_timeout(peer, judge, timeout_ms):
    """The peer sends an express message, and the SUT acknowledges it after half of the AckTimeout in the peer's
    ConnectionParameters. A session that was opened earlier and one that is opened later have a different AckTimeout.
    With the shortest AckTimeout, the peer repeats this on the same session.
    """
    peer.open_raw(AckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS)
    connection = peer.open_raw(AckTimeout=timeout_ms)
    peer.open_raw(AckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS)
    for case in ("ms until the SessionAck", "ms until the second SessionAck"):
        if case == "ms until the SessionAck" or timeout_ms == ACK_TIMEOUT_MS:
            due_ms = timeout_ms // 2
            expected, observed, evidence = measure_ack_delay(connection, recoverable=False, expected_ms=due_ms)
            judge("MQQB-3.1.5.4.1-02", expected=expected, observed=observed, case=case, evidence=evidence)


@covers("MQQB-3.1.5.4.1-04")
@pytest.mark.parametrize(
    "timeout_ms",
    [SHORT_ACK_TIMEOUT_OF_REQUEST_MS, 16_000, pytest.param(LONG_ACK_TIMEOUT_MS, marks=needs("set_timers"))],
)
@varied("priority", "application tag", "extension", "correlation", "destination", "queue journaling")
def test_recoverable_message_is_acknowledged_after_its_timeout(peer, judge, timeout_ms):
    """The peer sends a recoverable message, and the SUT acknowledges it after the RecoverableAckTimeout in the peer's
    ConnectionParameters. A session that was opened earlier and one that is opened later have a different
    RecoverableAckTimeout. With the shortest RecoverableAckTimeout, the peer repeats this on the same session.
    """
    peer.open_raw(RecoverableAckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS)
    connection = peer.open_raw(RecoverableAckTimeout=timeout_ms, AckTimeout=LONG_ACK_TIMEOUT_MS)
    peer.open_raw(RecoverableAckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS)
    for case in ("ms until the SessionAck", "ms until the second SessionAck"):
        if case == "ms until the SessionAck" or timeout_ms == SHORT_ACK_TIMEOUT_OF_REQUEST_MS:
            expected, observed, evidence = measure_ack_delay(connection, recoverable=True, expected_ms=timeout_ms)
            judge("MQQB-3.1.5.4.1-04", expected=expected, observed=observed, case=case, evidence=evidence)


@needs("inspect")
@covers("MQQB-3.1.5.4.1-01")
def test_received_window_size_is_that_of_the_request(peer, sut, judge):
    """The SUT accepts two sessions: ReceivedWindowSize of the second session is the WindowSize of its
    ConnectionParameters.
    """
    peer.open_raw(WindowSize=UNUSUAL_WINDOW_SIZE + 1)
    connection = peer.request_session(ClientGuid=OTHER_GUID)
    sent = connection.send(build_parameters_request())
    connection.expect("ConnectionParameters")
    observed = find_accepted_session(sut, OTHER_GUID)["ReceivedWindowSize"]
    judge(
        "MQQB-3.1.5.4.1-01",
        expected=UNUSUAL_WINDOW_SIZE,
        observed=observed,
        case="ReceivedWindowSize of the session",
        evidence=sent,
    )


@covers("MQQB-3.1.5.4.1-05", "MQQB-3.1.5.4.1-09", "MQQB-3.1.5.4.1-10")
@pytest.mark.parametrize(
    "recoverable", [SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS, 0xFFFF, 0x1_0000, 0x1_D4BF, 0x1_D4C0], ids=hex
)
@pytest.mark.parametrize("express", [0x4E20, 0xFFFF, 0x1_0000, 0x1_D4C0], ids=hex)
def test_timeouts_of_the_whole_range_are_repeated(peer, sut, judge, recoverable, express):
    """The peer sends a ConnectionParameters request whose timeouts are at the limits of their ranges, or near 0xFFFF,
    while a second session has other timeouts. The SUT's response repeats both timeouts, whether or not the peer's
    EstablishConnection request named the SUT.
    """
    peer.open_raw(AckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS, RecoverableAckTimeout=ACK_TIMEOUT_OF_OTHER_SESSIONS_MS)
    connection = peer.request_session(
        ServerGuid=sut.guid if recoverable == SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS else NULL_GUID
    )
    sent = connection.send(build_parameters_request(RecoverableAckTimeout=recoverable, AckTimeout=express))
    answer = connection.poll("ConnectionParameters")
    evidence = [sent, answer]
    judge("MQQB-3.1.5.4.1-05", expected=packet(), observed=answer or connection, evidence=evidence)
    for rule, name, value in (
        ("MQQB-3.1.5.4.1-09", "RecoverableAckTimeout", recoverable),
        ("MQQB-3.1.5.4.1-10", "AckTimeout", express),
    ):
        expected = packet("ConnectionParameters", {f"ConnectionParametersHeader.{name}": value})
        judge(rule, expected=expected, observed=answer or connection, evidence=evidence)


@covers("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01")
def test_message_sent_with_connection_parameters_request_is_acknowledged(peer, judge):
    """The peer sends a recoverable message in the same TCP segment as the ConnectionParameters request. The SUT
    acknowledges the message.
    """
    connection = peer.request_session()
    sent = connection.send_together(build_parameters_request(), peer.recoverable_message())
    ack = connection.await_session_ack(1)
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
    judge.all(expected=expected, observed=ack or connection, evidence=[*sent, ack])
