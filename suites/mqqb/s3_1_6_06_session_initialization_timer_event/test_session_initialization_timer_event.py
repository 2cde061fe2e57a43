"""MS-MQQB 3.1.6.6 Session Initialization Timer Event, with the start of its timer."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.handshake import establish_request
from harness.peer.inbox import establish_response
from harness.run.marks import covers, needs
from reference_qm.codec import NULL_GUID
from suites.mqqb.steps import opening
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("timers")
@covers("MQQB-3.1.5.10-03", "MQQB-3.1.6.6-01")
def test_connection_without_request_closes_when_timer_expires(peer, sut, judge):
    """The peer connects twice and sends nothing. The SUT closes each connection when its Session Initialization Timer,
    which started with the connection, expires. A session that is open stays open.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    used = peer.open_raw()
    since_ms = peer.recorder.elapsed_ms()
    connections = [peer.connect(), peer.connect()]
    ends = [opening.describe_initialization_end(sut, one, since_ms, lasts_ms) for one in connections]
    judge(
        "MQQB-3.1.6.6-01",
        expected=holds("open", otherwise="closed"),
        observed=not used.closed_by_sut,
        case="session that is open",
        evidence=used.last,
    )
    evidence = used.request_acknowledgment()
    if evidence is None:
        raise ConformanceFailure(
            "the SUT did not acknowledge a message on the open session, so it is uncertain why the SUT closed "
            "the connections"
        )
    for observed in ends:
        judge.all(expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, evidence=evidence)


@needs("timers")
@covers("MQQB-3.1.6.6-01")
def test_partial_request_does_not_delay_initialization_timer(peer, sut, judge):
    """The peer sends a request in pieces, one piece in each quarter of the timer's duration. The SUT still closes the
    connection when the Session Initialization Timer expires.
    """
    sut.limit_time_scale(20)
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    since_ms = peer.recorder.elapsed_ms()
    connection = peer.connect()
    data = bytes(establish_request(peer))
    for at in range(3):
        connection.send(data[4 * at : 4 * at + 4])
        peer.pass_time(sut.duration_ms(lasts_ms) // 4)
    observed = opening.describe_initialization_end(sut, connection, since_ms, lasts_ms)
    judge("MQQB-3.1.6.6-01", expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, evidence=connection.sent)


@needs("timers")
@covers("MQQB-3.1.6.6-01", "MQQB-3.1.2.1-01", "MQQB-3.1.2.1-D01")
@pytest.mark.parametrize("late", [0, 0.5], ids=["at_once", "half_the_time_later"])
def test_acceptor_without_parameters_closes_when_timer_expires(peer, sut, judge, late):
    """The peer makes two connections, requests a session on each connection (at once, or after half of the timer's
    duration), and sends no ConnectionParameters. The SUT closes each connection when its Session Initialization Timer
    expires. The SUT started this timer again when it sent its response. Meanwhile, a session of the peer is open.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    peer.try_to_open_session()
    connections = [peer.connect(), peer.connect()]
    peer.pass_time(int(late * sut.duration_ms(lasts_ms)))
    for connection in connections:
        connection.send(establish_request(peer, ServerGuid=sut.guid if late else NULL_GUID))
    answers = [connection.expect("EstablishConnection") for connection in connections]
    for case, connection, answer in zip(("first session", "second session"), connections, answers, strict=True):
        observed = opening.describe_initialization_end(sut, connection, answer.time_ms, lasts_ms)
        judge.all(expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, case=case, evidence=answer)


@needs("timers")
@covers("MQQB-3.1.5.2.3-01", "MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01", "MQQB-3.1.2.1-01")
@pytest.mark.parametrize(
    ("answered", "before"),
    [
        (False, "request"),
        (False, "refusal"),
        (False, "session"),
        pytest.param(True, "response", marks=covers("MQQB-3.1.5.4.2-06")),
    ],
)
def test_initiator_without_response_closes_when_timer_of_attempt_expires(peer, sut, judge, answered, before):
    """The peer closes the first connection of the SUT after the request, a refusal, a response or an open session. On
    the second connection, the peer does not answer the request, or answers the request but not the
    ConnectionParameters. The SUT closes this connection when its Session Initialization Timer expires, which has run
    since the SUT's request.
    """
    sut.limit_time_scale(20)
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    outgoing = OutgoingSession(peer, sut)
    first = outgoing.await_request()
    if before == "session":
        outgoing.respond()
        outgoing.answer_connection_parameters()
    peer.pass_time(sut.duration_ms(lasts_ms) // 2 - sut.duration_ms(opening.RETRY_INTERVAL_MS))
    if before == "refusal":
        outgoing.connection.send(establish_response(peer, first, internal={"CS": 1}))
        outgoing.connection.wait_closed()
    elif before == "response":
        outgoing.respond()
    outgoing.connection.close()
    asked = outgoing.await_request()
    if answered:
        outgoing.respond()
    observed = opening.describe_initialization_end(sut, outgoing.connection, asked.time_ms, lasts_ms)
    early = isinstance(observed, str) and observed.startswith(opening.CLOSED_EARLY_OUTCOME)
    judge(
        "MQQB-3.1.5.2.3-01",
        expected=holds("the SUT did not close the connection before the timer expired"),
        observed=not early or observed,
        evidence=asked,
    )
    if early:
        raise ConformanceFailure("the SUT closed the connection before the timer of this attempt could expire")
    rules = ["MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01", "MQQB-3.1.2.1-01", *(["MQQB-3.1.5.4.2-06"] if answered else [])]
    judge(*rules, expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, evidence=asked)


@needs("timers")
@covers("MQQB-3.1.6.6-01")
def test_initiator_without_parameters_closes_when_timer_expires(peer, sut, judge):
    """The peer answers the SUT's request, but not its ConnectionParameters. The SUT closes the connection when the
    Session Initialization Timer expires. The SUT starts this timer again when it sends its ConnectionParameters.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", opening.INITIALIZATION_TIMER_MS)
    outgoing = OutgoingSession(peer, sut)
    outgoing.await_request()
    parameters = outgoing.respond()
    observed = opening.describe_initialization_end(sut, outgoing.connection, parameters.time_ms, lasts_ms)
    judge("MQQB-3.1.6.6-01", expected=opening.CLOSED_ON_TIME_EXPECTATION, observed=observed, evidence=parameters)
