"""MS-MQQB 3.1.7.6 Send Ping Request, with 3.1.5.2.2 and 3.1.6.8."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, one_of, packet
from harness.judging.verdicts import Verdict
from harness.peer.inbox import establish_response
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import agree, respond
from suites.mqqb.steps.pinging import (
    OPENED,
    OPENED_NONE,
    RETRIED,
    SIGNATURE,
    UNHEARD,
    Caller,
    cookie_of,
    element,
    seen,
)
from suites.mqqb.steps.provoking import let_send


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
def test_ping_request_comes_first_and_is_well_formed(peer, sut, judge):
    """Before it connects, the SUT sends a Ping Request to the address that it will connect to; all fields are right."""
    caller = Caller(peer, sut)
    asked = caller.ping()
    arrived = holds(f"a datagram at {peer.address}, port {caller.end.endpoint.port}", otherwise="no datagram there")
    judge("MQQB-3.1.7.6-08", expected=arrived, observed=asked is not None, evidence=asked)
    early = caller.listener.accept(0) is not None
    pinged = holds("a ping before the connection", otherwise="no ping")
    observed = "a connection without a ping before it" if early else asked is not None
    judge("MQQB-3.1.5.2.2-02", expected=pinged, observed=observed, evidence=asked)
    size = len(asked.data) if asked else "no datagram"
    judge("MQQB-3.1.7.6-04", expected=24, observed=size, case="bytes", evidence=asked)
    for rule, name, value in (
        ("MQQB-2.2.7-05", "RF", 0),
        ("MQQB-2.2.7-20", "Signature", SIGNATURE),
        ("MQQB-3.1.7.6-05", "QMGuid", sut.guid),
        ("MQQB-3.1.7.6-07", "RF", 0),
        ("MQQB-3.1.7.6-07", "Signature", SIGNATURE),
    ):
        judge(rule, expected=fields({name: value}), observed=seen(asked, name), evidence=asked)


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
def test_positive_response_opens_the_session(peer, sut, judge):
    """The SUT waits for the response; one with its Cookie and RF clear lets it connect and ask for a session."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    early = caller.session(caller.waiting_ms)[0]
    answer = caller.answer(asked)
    judge("MQQB-3.1.7.6-10", expected=OPENED_NONE, observed=early, evidence=[asked, answer])
    outcome, connection = (early, None) if early != OPENED_NONE else caller.session(caller.before_retry_ms)
    if outcome == OPENED_NONE and caller.unheard(asked):
        judge.give_up(Verdict.NOT_EXERCISED, UNHEARD)
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
        expected=OPENED,
        observed=outcome,
        evidence=[asked, answer, *request],
    )


@needs("ping_initiator", "set_timers")
@covers("MQQB-3.1.5.2.2-08", "MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01")
def test_negative_response_puts_the_session_off_until_the_retry_time(peer, sut, judge):
    """A response with RF set opens no session; the message that waits brings a new attempt after the retry time."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    answer = caller.answer(asked, RF=1)
    at_once = caller.outcome(caller.before_retry_ms)
    judge(
        "MQQB-3.1.7.6-12",
        "MQQB-3.1.7.6-13",
        "MQQB-3.1.7.9-01",
        expected=OPENED_NONE,
        observed=at_once,
        evidence=[asked, answer],
    )
    later = caller.retry() if at_once == OPENED_NONE else at_once
    judge("MQQB-3.1.5.2.2-08", expected=RETRIED, observed=later, evidence=[asked, answer])


@needs("ping_initiator", "set_timers")
@covers("MQQB-3.1.5.2.2-08", "MQQB-3.1.6.8-01", "MQQB-3.1.7.6-09", "MQQB-3.1.7.6-11")
def test_no_response_puts_the_session_off_until_the_retry_time(peer, sut, judge):
    """Without a response the wait ends with nothing opened, and a new attempt comes after the retry time."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    in_time = caller.outcome(sut.duration_ms(1_000) + caller.before_retry_ms)
    judge("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11", expected=OPENED_NONE, observed=in_time, evidence=asked)
    later = caller.retry() if in_time == OPENED_NONE else in_time
    judge("MQQB-3.1.5.2.2-08", "MQQB-3.1.6.8-01", "MQQB-3.1.7.6-09", expected=RETRIED, observed=later, evidence=asked)


@needs("ping_initiator")
@covers("MQQB-3.1.7.6-14", "MQQB-3.1.7.8-06")
def test_session_goes_on_when_the_time_of_its_ping_is_over(peer, sut, judge):
    """Once a response was taken, neither the end of its time nor a second one with RF set disturbs the session."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    caller.answer(asked)
    outcome, connection = caller.session()
    if outcome != OPENED or connection is None:
        raise ConformanceFailure("the SUT asked for no session after its ping")
    second = caller.answer(asked, RF=1)
    caller.run_out()
    connection.send(establish_response(peer, connection.received[0]))
    observed = connection.poll("ConnectionParameters") or connection
    judge.all(expected=packet("ConnectionParameters"), observed=observed, evidence=[asked, second, connection.last])


@needs("ping_initiator")
@covers("MQQB-3.1.7.6-03", "MQQB-3.1.1.3-26")
def test_each_ping_has_the_next_cookie(peer, sut, judge):
    """The ping before a second session has a Cookie one higher than that before the first, unless each begins anew."""
    caller = Caller(peer, sut)
    first = caller.asked()
    caller.answer(first)
    _, connection = caller.session()
    if connection is None or not connection.received:
        raise ConformanceFailure("the SUT asked for no session after its ping")
    agree(connection, respond(connection, connection.received[0]))
    connection.send(session_ack(AckSequenceNumber=1, WindowSize=64))
    peer.settle()
    connection.close()
    peer.settle()
    let_send(peer, sut, caller.name, tag=2)
    second = caller.asked()
    cookie, next_cookie = cookie_of(first), cookie_of(second)
    judge(
        "MQQB-3.1.7.6-03",
        expected=one_of([cookie, cookie + 1 & 0xFFFFFFFF], [1, 1]),
        observed=[cookie, next_cookie],
        case="Cookies",
        evidence=[first, second],
    )
    if sut.has("inspect"):
        kept = element(sut.inspect()["QueueManager"], "PingCookie")
        judge("MQQB-3.1.7.6-03", expected=next_cookie, observed=kept, case="PingCookie", evidence=second)
    judge.conclude("MQQB-3.1.7.6-03")
    distinct = holds("two Cookies, or 1 with each")
    observed = cookie != next_cookie or cookie == 1 or f"{cookie} twice"
    judge("MQQB-3.1.1.3-26", expected=distinct, observed=observed, evidence=[first, second])
