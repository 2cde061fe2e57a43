"""MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, packet
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs
from harness.wire import ping_request
from suites.mqqb.steps.pinging import STALLED_SUT_REASON, PingingSut, describe_ping_fields
from suites.mqqb.steps.provoking import make_sut_send_message

RULES_OF_PING_REQUEST_OF_LATER_SESSION = ("MQQB-2.2.7-05", "MQQB-3.1.2.9-D01")
"""The rules that the check judges by the Ping Request that the SUT sends before a later session."""


@needs("ping_initiator")
@covers("MQQB-2.1.2-01", "MQQB-2.1.2-D01")
@pytest.mark.parametrize("delay_ms", [pytest.param(0, marks=covers(*RULES_OF_PING_REQUEST_OF_LATER_SESSION)), 600])
def test_ping_response_to_the_source_port_lets_the_initiator_connect(peer, sut, judge, delay_ms):
    """The SUT sends a Ping Request to the peer's ping port. The peer sends a response to the source port of the
    request, at once or after more than half of the Ping Response Timer. The SUT then requests a session. Before a later
    session, the SUT sends another Ping Request.
    """
    caller = PingingSut(peer, sut)
    ping = caller.poll_ping()
    judge("MQQB-2.1.2-D01", expected=packet("Ping"), observed=ping, case="datagram at the ping port", evidence=ping)
    judge.conclude("MQQB-2.1.2-D01")
    if ping is None:
        raise ConformanceFailure("the SUT sent no Ping Request before its session")
    peer.pass_time(sut.duration_ms(delay_ms))
    answer = caller.answer_ping(ping)
    outcome, connection = caller.await_connection(caller.half_ping_response_timer_ms + sut.slack_ms(1_000))
    if outcome == PingingSut.NO_SESSION_OUTCOME and caller.was_too_slow_after_ping(ping):
        judge.mark_not_exercised("MQQB-2.1.2-01", reason=STALLED_SUT_REASON, evidence=[ping, answer])
        return
    request = connection.received[:1] if connection is not None else []
    judge(
        "MQQB-2.1.2-01", expected=PingingSut.SESSION_OPENED_OUTCOME, observed=outcome, evidence=[ping, answer, *request]
    )
    if connection is None:
        if not delay_ms:
            judge.mark_not_exercised(
                *RULES_OF_PING_REQUEST_OF_LATER_SESSION, reason="the SUT opened no session", evidence=[ping, answer]
            )
        return
    connection.send(establish_response(peer, request[0]))
    connection.send(parameters_response(connection.expect("ConnectionParameters")))
    connection.expect("UserMessage")
    connection.acknowledge_all()
    peer.settle()
    connection.close()
    peer.settle()
    make_sut_send_message(peer, sut, caller.name, tag=2)
    later = caller.poll_ping()
    judge(
        "MQQB-2.1.2-D01",
        expected=packet("Ping"),
        observed=later,
        case="datagram before a later session",
        evidence=later,
    )
    if delay_ms:
        if later is not None:
            answer = caller.answer_ping(later)
            outcome, _ = caller.await_connection(caller.half_ping_response_timer_ms + sut.slack_ms(1_000))
            if outcome != PingingSut.NO_SESSION_OUTCOME or not caller.was_too_slow_after_ping(later):
                judge(
                    "MQQB-2.1.2-01",
                    expected=PingingSut.SESSION_OPENED_OUTCOME,
                    observed=outcome,
                    case="after the response to the later Ping Request",
                    evidence=[later, answer],
                )
        return
    judge(
        "MQQB-2.2.7-05",
        expected=fields(RF=0),
        observed=describe_ping_fields(later, "RF"),
        case="Ping Request before a later session",
        evidence=later,
    )
    if later is None:
        judge.mark_not_exercised("MQQB-3.1.2.9-D01", reason="the SUT sent no Ping Request before a later session")
        return
    caller.await_response_timer_expiry()
    late = caller.answer_ping(later)
    judge(
        "MQQB-3.1.2.9-D01",
        expected=PingingSut.NO_SESSION_OUTCOME,
        observed=caller.await_session(caller.time_shorter_than_retry_timer_ms // 2),
        case="after a late response to this Ping Request",
        evidence=[later, late],
    )


@needs("ping")
@covers("MQQB-2.1.2-02")
@pytest.mark.parametrize("cookie", [1, 0xFFFFFFFF])
def test_ping_response_goes_to_the_port_of_the_request(peer, judge, cookie):
    """The peer sends a Ping Request from one UDP port, and then from a second one. Each time, only the port that sent
    the request receives the response, which has the Cookie of the request.
    """
    first, second = peer.open_ping_port(), peer.open_ping_port()
    for case, asking, other in (("first request", first, second), ("request of another port", second, first)):
        sent = asking.send(ping_request(Cookie=cookie, QMGuid=peer.identifier))
        reply = asking.poll()
        is_ping = reply is not None and reply.kind == "Ping" and reply.data != sent.data
        observed = {
            "answer sent to the port of the request": is_ping and reply.packet.Cookie == cookie,
            "no packet sent to the other port": other.stays_quiet(),
        }
        expected = fields({"answer sent to the port of the request": True, "no packet sent to the other port": True})
        judge("MQQB-2.1.2-02", expected=expected, observed=observed, case=case, evidence=[sent, reply])
