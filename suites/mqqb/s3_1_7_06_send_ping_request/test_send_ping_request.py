"""MS-MQQB 3.1.7.6 Send Ping Request, with 3.1.5.2.2 and 3.1.6.8."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, one_of, packet
from harness.judging.verdicts import Verdict
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.pinging import (
    PING_SIGNATURE,
    STALLED_SUT_REASON,
    PingingSut,
    describe_ping_fields,
    get_ping_cookie,
    read_data_model_element,
)
from suites.mqqb.steps.provoking import make_sut_send_message

UNREACHABLE_QUEUE_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A queue at an address that is reserved for documentation (RFC 5737)."""


@needs("ping_initiator")
@covers(
    "MQQB-2.2.7-05",
    "MQQB-2.2.7-20",
    "MQQB-3.1.5.2.2-02",
    "MQQB-3.1.7.6-04",
    "MQQB-3.1.7.6-05",
    "MQQB-3.1.7.6-07",
    "MQQB-3.1.7.6-08",
)
def test_ping_request_precedes_connection_with_correct_fields(peer, sut, judge):
    """The SUT has a message for an unreachable address, and then a message for the peer: before the SUT connects to the
    peer, it sends a Ping Request of 24 bytes with correct fields to the peer's ping port.
    """
    if sut.has("send"):
        sut.send(UNREACHABLE_QUEUE_NAME, time_to_reach_queue_s=60)
    caller = PingingSut(peer, sut)
    asked = caller.poll_ping()
    arrived = holds(
        f"the SUT sends a datagram to {peer.address}, port {caller.end.endpoint.port}",
        otherwise="the peer received no datagram there",
    )
    judge("MQQB-3.1.7.6-08", expected=arrived, observed=asked is not None, evidence=asked)
    early = caller.listener.accept(0) is not None
    pinged = holds("the SUT sent a ping before the connection", otherwise="the SUT sent no ping before the connection")
    observed = "a connection without a ping before it" if early else asked is not None
    judge("MQQB-3.1.5.2.2-02", expected=pinged, observed=observed, evidence=asked)
    size = len(asked.data) if asked else "no datagram"
    judge("MQQB-3.1.7.6-04", expected=24, observed=size, case="bytes of the Ping Request", evidence=asked)
    for rule, name, value in (
        ("MQQB-2.2.7-05", "RF", 0),
        ("MQQB-2.2.7-20", "Signature", PING_SIGNATURE),
        ("MQQB-3.1.7.6-05", "QMGuid", sut.guid),
        ("MQQB-3.1.7.6-07", "RF", 0),
        ("MQQB-3.1.7.6-07", "Signature", PING_SIGNATURE),
    ):
        judge(rule, expected=fields({name: value}), observed=describe_ping_fields(asked, name), evidence=asked)


@needs("ping_initiator")
@covers(
    "MQQB-3.1.5.2.2-04",
    "MQQB-3.1.7.6-06",
    "MQQB-3.1.7.6-10",
    "MQQB-3.1.7.6-12",
    "MQQB-3.1.7.6-13",
    "MQQB-3.1.7.8-01",
    "MQQB-3.1.7.8-05",
    "MQQB-3.1.7.9-01",
)
def test_ping_response_with_rf_clear_opens_session(peer, sut, judge):
    """The peer delays its Ping Response, and then sends it with the request's Cookie and with RF clear. The SUT
    connects and requests a session only after this response.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    early = caller.await_connection(caller.half_ping_response_timer_ms)[0]
    answer = caller.answer_ping(asked)
    judge(
        "MQQB-3.1.5.2.2-04",
        "MQQB-3.1.7.6-10",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=early,
        case="before the Ping Response",
        evidence=[asked, answer],
    )
    outcome, connection = (
        (early, None)
        if early != PingingSut.NO_SESSION_OUTCOME
        else caller.await_connection(caller.time_shorter_than_retry_timer_ms)
    )
    if outcome == PingingSut.NO_SESSION_OUTCOME and caller.was_too_slow_after_ping(asked):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    request = connection.received[:1] if connection else []
    judge(
        "MQQB-3.1.5.2.2-04",
        "MQQB-3.1.7.6-06",
        "MQQB-3.1.7.6-12",
        "MQQB-3.1.7.6-13",
        "MQQB-3.1.7.8-01",
        "MQQB-3.1.7.8-05",
        "MQQB-3.1.7.9-01",
        expected=PingingSut.SESSION_OPENED_OUTCOME,
        observed=outcome,
        case="after the Ping Response",
        evidence=[asked, answer, *request],
    )


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.5.2.2-08", "MQQB-3.1.7.6-05", "MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_ping_response_with_rf_set_delays_session_until_retry_time(peer, sut, judge, name):
    """The SUT has a message for a direct or private name, and the peer answers the Ping Request with RF set. The SUT
    opens no session before the retry time, even for a second message, and opens a session afterwards.
    """
    caller = PingingSut(peer, sut, peer.build_private_format_name_of_peer() if name == "private" else None)
    asked = caller.await_ping()
    judge(
        "MQQB-3.1.7.6-05",
        expected=fields({"QMGuid": sut.guid}),
        observed=describe_ping_fields(asked, "QMGuid"),
        evidence=asked,
    )
    answer = caller.answer_ping(asked, RF=1)
    at_once = caller.await_session(caller.time_shorter_than_retry_timer_ms // 2)
    if at_once == PingingSut.NO_SESSION_OUTCOME:
        known = len(caller.end.received)
        make_sut_send_message(peer, sut, caller.name, tag=2)
        at_once = caller.await_session(caller.time_shorter_than_retry_timer_ms // 4)
        if len(caller.end.received) > known:
            at_once = "the SUT pinged again for a second message"
    judge(
        "MQQB-3.1.5.2.2-08",
        "MQQB-3.1.7.6-12",
        "MQQB-3.1.7.6-13",
        "MQQB-3.1.7.9-01",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=at_once,
        case="after the Ping Response",
        evidence=[asked, answer],
    )
    later = caller.start_initialization_retry_timer() if at_once == PingingSut.NO_SESSION_OUTCOME else at_once
    judge(
        "MQQB-3.1.5.2.2-08",
        expected=PingingSut.SESSION_OPENED_BY_RETRY_OUTCOME,
        observed=later,
        case="session for the message",
        evidence=[asked, answer],
    )


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.5.2.2-08", "MQQB-3.1.6.8-01", "MQQB-3.1.7.6-09", "MQQB-3.1.7.6-11")
@pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("send", "private_names"))])
def test_missing_ping_response_delays_session_until_retry_time(peer, sut, judge, name):
    """The peer does not answer the Ping Request for a direct or private name. The SUT opens no session before the retry
    time, and opens a session afterwards. A recoverable message waits as well.
    """
    caller = PingingSut(peer, sut, peer.build_private_format_name_of_peer() if name == "private" else None)
    asked = caller.await_ping()
    make_sut_send_message(peer, sut, caller.name, tag=2, delivery="recoverable")
    in_time = caller.await_session(sut.duration_ms(1_000) + caller.time_shorter_than_retry_timer_ms)
    judge(
        "MQQB-3.1.6.8-01",
        "MQQB-3.1.7.6-11",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=in_time,
        case="before the retry time",
        evidence=asked,
    )
    later = caller.start_initialization_retry_timer() if in_time == PingingSut.NO_SESSION_OUTCOME else in_time
    judge(
        "MQQB-3.1.5.2.2-08",
        "MQQB-3.1.6.8-01",
        "MQQB-3.1.7.6-09",
        expected=PingingSut.SESSION_OPENED_BY_RETRY_OUTCOME,
        observed=later,
        case="session for the message",
        evidence=asked,
    )


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-09", "MQQB-3.1.7.6-11")
def test_each_of_two_missing_ping_responses_ends_its_attempt(peer, sut, judge):
    """While the SUT waits for a Ping Response, it sends a second Ping Request for a different queue, and the peer
    answers neither request. The SUT opens no session before the retry time, and opens both sessions afterwards.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    make_sut_send_message(peer, sut, peer.direct_name("mqc-other"), tag=2)
    second = caller.end.poll(caller.half_ping_response_timer_ms)
    if second is None:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT sent one Ping Request for both queues")
        return
    in_time = caller.await_session(
        sut.duration_ms(1_000) + caller.time_shorter_than_retry_timer_ms - caller.half_ping_response_timer_ms
    )
    judge(
        "MQQB-3.1.6.8-01",
        "MQQB-3.1.7.6-11",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=in_time,
        case="before the retry time",
        evidence=[asked, second],
    )
    later = (
        [caller.start_initialization_retry_timer(), caller.start_initialization_retry_timer()]
        if in_time == PingingSut.NO_SESSION_OUTCOME
        else in_time
    )
    judge(
        "MQQB-3.1.6.8-01",
        "MQQB-3.1.7.6-09",
        expected=[PingingSut.SESSION_OPENED_BY_RETRY_OUTCOME] * 2,
        observed=later,
        case="sessions for the two queues",
        evidence=[asked, second],
    )


@needs("ping_initiator")
@covers("MQQB-3.1.7.6-14", "MQQB-3.1.7.8-06")
def test_session_survives_expiry_of_ping_time_and_second_response(peer, sut, judge):
    """The peer answers the Ping Request with RF clear, then with RF set, and waits until the Ping Response Timer has
    expired. The SUT still uses the session.
    """
    caller = PingingSut(peer, sut)
    asked = caller.await_ping()
    caller.answer_ping(asked)
    outcome, connection = caller.await_connection()
    if outcome != PingingSut.SESSION_OPENED_OUTCOME or connection is None:
        raise ConformanceFailure("the SUT requested no session after its ping")
    second = caller.answer_ping(asked, RF=1)
    caller.await_response_timer_expiry()
    connection.send(establish_response(peer, connection.received[0]))
    observed = connection.poll("ConnectionParameters") or connection
    judge.all(
        expected=packet("ConnectionParameters"),
        observed=observed,
        case="answer to the EstablishConnection response",
        evidence=[asked, second, connection.last],
    )


@needs("ping_initiator")
@covers("MQQB-3.1.7.6-03", "MQQB-3.1.1.3-26")
def test_ping_before_second_session_has_next_cookie(peer, sut, judge):
    """The SUT opens two sessions one after the other: the Cookie of the second Ping Request is the Cookie of the first
    Ping Request plus one, or both Cookies are 1. The Cookie of a third Ping Request, for another queue, differs from
    both, or all Cookies are 1.
    """
    caller = PingingSut(peer, sut)
    first = caller.await_ping()
    caller.answer_ping(first)
    _, connection = caller.await_connection()
    if connection is None or not connection.received:
        raise ConformanceFailure("the SUT requested no session after its ping")
    connection.send(establish_response(peer, connection.received[0]))
    connection.send(parameters_response(connection.expect("ConnectionParameters")))
    connection.expect("UserMessage")
    connection.send(session_ack(AckSequenceNumber=1, WindowSize=64))
    peer.settle()
    connection.close()
    peer.settle()
    make_sut_send_message(peer, sut, caller.name, tag=2)
    second = caller.await_ping()
    cookie, next_cookie = get_ping_cookie(first), get_ping_cookie(second)
    judge(
        "MQQB-3.1.7.6-03",
        expected=one_of([cookie, cookie + 1 & 0xFFFFFFFF], [1, 1]),
        observed=[cookie, next_cookie],
        case="Cookies of the two Ping Requests",
        evidence=[first, second],
    )
    if sut.has("inspect"):
        kept = read_data_model_element(sut.inspect()["QueueManager"], "PingCookie")
        judge("MQQB-3.1.7.6-03", expected=next_cookie, observed=kept, case="PingCookie", evidence=second)
    judge.conclude("MQQB-3.1.7.6-03")
    distinct = holds("two different Cookies, or 1 in both pings")
    observed = cookie != next_cookie or cookie == 1 or f"{cookie} twice"
    judge("MQQB-3.1.1.3-26", expected=distinct, observed=observed, evidence=[first, second])
    make_sut_send_message(peer, sut, peer.direct_name("mqc-third"), tag=3)
    third = caller.end.poll(caller.half_ping_response_timer_ms)
    if third is not None:
        cookies = [cookie, next_cookie, get_ping_cookie(third)]
        judge(
            "MQQB-3.1.1.3-26",
            expected=holds("three different Cookies, or 1 in all pings"),
            observed=len(set(cookies)) == 3 or set(cookies) == {1} or str(cookies),
            evidence=[first, second, third],
        )
