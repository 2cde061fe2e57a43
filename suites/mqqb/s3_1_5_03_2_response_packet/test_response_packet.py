"""MS-MQQB 3.1.5.3.2 Response Packet: how an initiator answers an EstablishConnection response."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, closed_without_answer, packet
from harness.peer.handshake import NULL_GUID
from harness.peer.inbox import establish_response, parameters_response
from harness.peer.peer import Peer
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import OTHER_GUID, drop_echoed_packet, private_name, read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import OutgoingSession

SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS, LONGEST_RECOVERABLE_ACK_TIMEOUT_MS = 0x000001F4, 0x0001D4C0
ROUND_TRIP_COUNT = 8
UNREACHABLE_QUEUE_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A queue at an address that is reserved for documentation (RFC 5737)."""
DELAY_OF_ESTABLISH_RESPONSE_MS = 600
"""The delay of the response in ms of real time. The control step set_timers does not speed up the clock of TimeStamp.
"""
DELAY_OF_LATE_RESPONSE_MS = 1_500
"""A delay of a response in ms that is short compared with the Session Initialization Timer."""
CLOCK_TOLERANCE_MS = 50
"""The tolerance in ms for the resolution of the SUT's clock and for delays of the network."""


@covers(
    "MQQB-3.1.5.3.2-D01",
    "MQQB-3.1.5.3.2-D02",
    "MQQB-3.1.5.2.3-13",
    "MQQB-3.1.5.3.2-07",
    "MQQB-3.1.5.3.2-08",
    "MQQB-3.1.5.3.2-09",
    "MQQB-3.1.5.3.2-13",
    "MQQB-3.1.5.3.2-14",
)
def test_valid_response_is_answered_by_connection_parameters(peer, sut, judge):
    """The peer closes the first connection of the SUT. On the second connection, the SUT answers a late valid
    EstablishConnection response with a ConnectionParameters packet; the peer's answer to this packet opens the session.
    After the loss of this session, the SUT's next ConnectionParameters packet has the same WindowSize.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    session.connection.close()
    asked = session.await_request()
    connection = session.connection
    peer.pass_time(sut.duration_ms(DELAY_OF_LATE_RESPONSE_MS))
    sent = connection.send(establish_response(peer, asked))
    came = connection.poll_next_packet()
    answer = drop_echoed_packet(sent, came)
    bits = read_in_flag_and_packet_type(answer)
    evidence = [asked, sent, came]
    judge(
        "MQQB-3.1.5.3.2-07",
        "MQQB-3.1.5.3.2-D02",
        expected=packet(),
        observed=answer or connection,
        case="answer to the response",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-D02")
    if answer is None:
        judge(
            "MQQB-3.1.5.2.3-13",
            "MQQB-3.1.5.3.2-D01",
            expected=packet("ConnectionParameters"),
            observed=connection,
            case="answer to the response",
            evidence=evidence,
        )
        judge.conclude("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01")
        raise ConformanceFailure("the SUT sent nothing after a valid response")
    judge("MQQB-3.1.5.3.2-08", expected=1, observed=bits["IN"], case="IN of the answer", evidence=evidence)
    judge("MQQB-3.1.5.3.2-09", expected=3, observed=bits["PT"], case="PT of the answer", evidence=evidence)
    judge.conclude("MQQB-3.1.5.3.2-08", "MQQB-3.1.5.3.2-09")
    if answer.kind not in ("ConnectionParameters", "EstablishConnection"):
        raise ConformanceFailure(f"the SUT's answer to a response is {answer.kind} instead of ConnectionParameters")
    judge(
        "MQQB-3.1.5.2.3-13",
        "MQQB-3.1.5.3.2-D01",
        expected=packet("ConnectionParameters"),
        observed=answer,
        case="answer to the response",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01")
    if answer.kind != "ConnectionParameters":
        raise ConformanceFailure("the SUT sent no ConnectionParameters packet, which the next steps require")
    agreed = connection.send(parameters_response(answer, WindowSize=0xFFFF))
    message = connection.poll("UserMessage")
    judge(
        "MQQB-3.1.5.3.2-14",
        expected=packet("UserMessage"),
        observed=message,
        case="first packet on the open session",
        evidence=[agreed, message],
    )
    judge.conclude("MQQB-3.1.5.3.2-14")
    acknowledged = connection.request_acknowledgment()
    if acknowledged is None:
        raise ConformanceFailure("the SUT acknowledged no message, so its WindowSize is unknown")
    judge(
        "MQQB-3.1.5.3.2-13",
        expected=acknowledged["SessionHeader"].WindowSize,
        observed=answer["ConnectionParametersHeader"].WindowSize,
        case="WindowSize of the request",
        evidence=[answer, acknowledged],
    )
    connection.close()
    session.await_request()
    again = session.respond()
    judge(
        "MQQB-3.1.5.3.2-13",
        expected=acknowledged["SessionHeader"].WindowSize,
        observed=again["ConnectionParametersHeader"].WindowSize,
        case="WindowSize of the request of the next session",
        evidence=[again, acknowledged],
    )


@malforms("MQQB-3.1.5.3.1-08")
@sut_survives()
@covers("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02")
@pytest.mark.parametrize(
    "flaw",
    [{"ClientGuid": OTHER_GUID}, {"ClientGuid": NULL_GUID}, {"ClientGuid": "similar"}, {"internal": {"CS": 1}}],
    ids=["another ClientGuid", "no ClientGuid", "similar ClientGuid", "CS set"],
)
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_response_with_wrong_client_guid_or_cs_closes_session(peer, sut, judge, name, flaw):
    """The peer sends a response with a wrong ClientGuid or with CS set. The SUT closes the session for a direct or
    private format name. When the SUT tries again, it answers a valid response.
    """
    if name == "private":  # it is then not the only outgoing queue
        sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=60)
    session = OutgoingSession(peer, sut, None if name == "direct" else private_name(peer.identifier))
    for attempt in range(2):
        asked = session.await_request()
        if attempt and flaw.get("ClientGuid") == OTHER_GUID:
            flaw = {"ClientGuid": peer.identifier}
        if flaw.get("ClientGuid") == "similar":
            flaw = {"ClientGuid": _invert_last_guid_bit(asked["EstablishConnectionHeader"].ClientGuid)}
        sent = session.connection.send(establish_response(peer, asked, **flaw))
        answer = session.connection.poll_next_packet()
        judge.all(expected=closed_without_answer(1), observed=session.connection, evidence=[sent, answer])
    session.await_request()
    session.respond()


def _invert_last_guid_bit(guid) -> UUID:
    return UUID(int=UUID(str(guid)).int ^ 1)


@sut_survives()
@needs("send", "private_names")
@covers("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02")
def test_response_with_wrong_server_guid_closes_session(peer, sut, judge):
    """In three attempts, the peer sends a response whose ServerGuid differs from the requested ServerGuid. The SUT
    closes the session. Then the SUT answers a valid response.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    for wrong in (OTHER_GUID, _invert_last_guid_bit(peer.identifier), NULL_GUID):
        asked = session.await_request()
        sent = session.connection.send(establish_response(peer, asked, ServerGuid=wrong))
        answer = session.connection.poll_next_packet()
        judge.all(expected=closed_without_answer(1), observed=session.connection, evidence=[sent, answer])
    session.await_request()
    session.respond()


def measure_recoverable_ack_timeout(
    peer: Peer, sut: Sut, earlier_ms: int, delay_ms: int = 0, *, session: OutgoingSession | None = None
) -> tuple[int, int, list[Frame]]:
    """Respond with an earlier TimeStamp. Return RecoverableAckTimeout, the longest possible duration of the exchange,
    and the packets.

    The exchange begins before the recorded time of the SUT's request, which is the time at which the tester read the
    packet. ``session``: the session of an earlier attempt, which the SUT opens again.
    """
    began_ms = peer.recorder.elapsed_ms()
    session = session or OutgoingSession(peer, sut)
    asked = session.await_request()
    peer.pass_time(delay_ms)
    earlier = asked["EstablishConnectionHeader"].TimeStamp - earlier_ms & 0xFFFF_FFFF
    answer = session.respond(TimeStamp=earlier)
    sent = session.connection.sent[-1]
    took = peer.measure_duration(began_ms, answer)  # stalls included: the SUT cannot have measured more
    return (
        answer["ConnectionParametersHeader"].RecoverableAckTimeout,
        took.ms + CLOCK_TOLERANCE_MS,
        [asked, sent, answer],
    )


@malforms("MQQB-3.1.5.3.1-10")
@covers("MQQB-3.1.5.3.2-04", "MQQB-3.1.5.3.2-05", "MQQB-3.1.5.3.2-11")
@pytest.mark.parametrize(
    ("earlier_ms", "name"),
    [
        (700, "direct"),
        (5_000, "direct"),
        (14_900, "direct"),
        (66_000, "direct"),
        pytest.param(7_000, "private", marks=needs("send", "private_names")),
    ],
)
def test_recoverable_ack_timeout_is_eight_round_trips(peer, sut, judge, earlier_ms, name):
    """RecoverableAckTimeout of the SUT's request is eight times the time since the TimeStamp of the peer's response, in
    a first attempt and in a retry with another TimeStamp.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier) if name == "private" else None)
    for attempt_ms in (earlier_ms, abs(LONGEST_RECOVERABLE_ACK_TIMEOUT_MS // ROUND_TRIP_COUNT - earlier_ms)):
        value, took_ms, evidence = measure_recoverable_ack_timeout(peer, sut, attempt_ms, session=session)
        expected = between(
            *(
                _clamp_recoverable_ack_timeout(ROUND_TRIP_COUNT * trip_ms)
                for trip_ms in (attempt_ms, attempt_ms + took_ms)
            )
        )
        judge.all(expected=expected, observed=value, case="RecoverableAckTimeout of the request", evidence=evidence)
        session.connection.close()


def _clamp_recoverable_ack_timeout(timeout_ms: int) -> int:
    """Return the given value as a RecoverableAckTimeout: the value itself, or the nearest limit of the range."""
    return min(max(timeout_ms, SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS), LONGEST_RECOVERABLE_ACK_TIMEOUT_MS)


@covers("MQQB-3.1.5.3.2-03")
def test_delayed_response_lengthens_recoverable_ack_timeout(peer, sut, judge):
    """The peer answers the SUT's first request at once, closes the connection, and delays its response to the next
    request by 600 ms: RecoverableAckTimeout of the SUT's request includes eight times the delay.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    session.respond()
    session.connection.close()
    value, took_ms, evidence = measure_recoverable_ack_timeout(
        peer, sut, 0, DELAY_OF_ESTABLISH_RESPONSE_MS, session=session
    )
    expected = between(
        ROUND_TRIP_COUNT * (DELAY_OF_ESTABLISH_RESPONSE_MS - CLOCK_TOLERANCE_MS), ROUND_TRIP_COUNT * took_ms
    )
    judge(
        "MQQB-3.1.5.3.2-03",
        expected=expected,
        observed=value,
        case="RecoverableAckTimeout of the request",
        evidence=evidence,
    )


@malforms("MQQB-3.1.5.3.1-10")
@covers("MQQB-3.1.5.3.2-06")
@pytest.mark.parametrize("earlier_ms", [0, 100_000], ids=["shortest", "longest"])
def test_recoverable_ack_timeout_is_limited_to_its_range(peer, sut, judge, earlier_ms):
    """The peer sends a response whose TimeStamp is the current time, or the time 100 s ago: RecoverableAckTimeout of
    the SUT's request is between 500 and 120,000 ms, in a first attempt and in a retry.
    """
    session = OutgoingSession(peer, sut)
    for _ in range(2):
        value, _, evidence = measure_recoverable_ack_timeout(peer, sut, earlier_ms, session=session)
        judge(
            "MQQB-3.1.5.3.2-06",
            expected=LONGEST_RECOVERABLE_ACK_TIMEOUT_MS
            if earlier_ms
            else between(SHORTEST_RECOVERABLE_ACK_TIMEOUT_MS, LONGEST_RECOVERABLE_ACK_TIMEOUT_MS),
            observed=value,
            case="RecoverableAckTimeout of the request",
            evidence=evidence,
        )
        session.connection.close()


@needs("timers")
@covers("MQQB-3.1.5.3.2-12")
def test_ack_timeout_of_parameters_request_is_ack_wait_timeout(peer, sut, judge):
    """AckWaitTimeout is configured as 50 s: AckTimeout of the SUT's ConnectionParameters request is 50 s, in a first
    attempt and in a retry.
    """
    configured_ms = sut.get_timer_duration_ms("ack_wait_timeout_ms", 50_000)
    session = OutgoingSession(peer, sut)
    for _ in range(2):
        session.await_request()
        observed = session.respond()["ConnectionParametersHeader"].AckTimeout
        judge(
            "MQQB-3.1.5.3.2-12",
            expected=configured_ms,
            observed=observed,
            case="AckTimeout of the request",
            evidence=session.parameters,
        )
        session.connection.close()
