"""MS-MQQB 3.1.5.2.3, 3.1.5.3.2: the packets with which an initiator opens a second session."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, closed_without_answer, holds, one_of, packet
from harness.judging.verdicts import Verdict
from harness.peer.handshake import NULL_GUID
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, malforms, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import (
    CLOSED_ON_TIME_EXPECTATION,
    INITIALIZATION_TIMER_MS,
    OTHER_GUID,
    describe_initialization_end,
    find_outgoing_queue,
    format_guid,
    list_connection_history,
    list_outgoing_queues,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession

ROUND_TRIP_MS, ROUND_TRIP_OF_FIRST_SESSION_MS = 5_000, 9_000
ROUND_TRIPS_PER_TIMEOUT = 8
LONGEST_EXCHANGE_MS = 3_000
HISTORY_ENTRIES_PER_SESSION = 3
FIRST_PACKET_POSITION_AFTER_HANDSHAKE = 2
"""The position of the packet that follows the EstablishConnection request and the ConnectionParameters."""
FIRST_QUEUE_NAME, SECOND_QUEUE_NAME = "mqc-first", "mqc-second"
NO_SECOND_SESSION_OUTCOME = "the SUT opened no second session (E16)"


@malforms("MQQB-3.1.5.3.1-10")
@needs("send")
@covers(
    "MQQB-3.1.5.2.2-02",
    "MQQB-3.1.5.2.3-07",
    "MQQB-3.1.5.2.3-08",
    "MQQB-3.1.5.2.3-09",
    "MQQB-3.1.5.2.3-14",
    "MQQB-3.1.5.2.3-16",
    "MQQB-3.1.5.3.2-01",
    "MQQB-3.1.5.3.2-11",
    "MQQB-3.1.5.3.2-12",
    "MQQB-3.1.5.3.2-13",
    "MQQB-3.1.5.3.2-15",
    "MQQB-3.1.5.3.2-D02",
)
@pytest.mark.parametrize("kind", ["direct", pytest.param("private", marks=needs("private_names"))])
def test_second_session_has_values_of_its_own(peer, sut, judge, kind):
    """While the SUT has an open session for a direct name, with a queue manager whose GUID is not the peer's, the SUT
    opens a session for a second name. Its packets have the GUIDs, the round trip and the connection history of the
    second session, and the same AckTimeout and WindowSize as on the first session. For a private name, a response with
    the GUID of the first session closes the second session.
    """
    beside = OutgoingSession(peer, sut, peer.direct_name(FIRST_QUEUE_NAME))
    asked = beside.await_request()["EstablishConnectionHeader"]
    earlier = beside.respond(
        ServerGuid=OTHER_GUID, TimeStamp=asked.TimeStamp - ROUND_TRIP_OF_FIRST_SESSION_MS & 0xFFFF_FFFF
    )
    beside.answer_connection_parameters()
    beside.connection.send(session_ack(AckSequenceNumber=1))
    name = private_name(peer.identifier) if kind == "private" else peer.direct_name(SECOND_QUEUE_NAME)
    shows = sut.has("management") and list_outgoing_queues(sut, name)
    known = list_connection_history(sut, name) if shows else []
    sut.send(name, body="second")
    session = OutgoingSession(peer, sut, listener=beside.listener)
    request = session.poll_request(sut.connect_timeout_ms)
    if request is None:
        judge.give_up(Verdict.NOT_EXERCISED, NO_SECOND_SESSION_OUTCOME)
        return
    pings = [frame.number for frame in peer.recorder.list_pings(from_sut=True)]
    if any(number < beside.request.number for number in pings):
        judge(
            "MQQB-3.1.5.2.2-02",
            expected=holds("a Ping Request between the first session and the second request"),
            observed=any(beside.request.number < number < request.number for number in pings) or "no Ping Request",
            evidence=request,
        )
    else:
        judge.mark_not_exercised("MQQB-3.1.5.2.2-02", reason="the SUT sends no Ping Request before its first session")
    header = request["EstablishConnectionHeader"]
    judge(
        "MQQB-3.1.5.2.3-07",
        expected=format_guid(sut.guid),
        observed=format_guid(header.ClientGuid),
        case="ClientGuid of the second request",
        evidence=request,
    )
    if sut.has("management"):
        state = find_outgoing_queue(sut, name)["State"]
        judge("MQQB-3.1.5.2.3-16", expected="Waiting", observed=state, case="State after the request", evidence=request)
    else:
        judge.mark_not_exercised("MQQB-3.1.5.2.3-16", reason="the SUT does not show the State of its outgoing queue")
    of_server = format_guid(header.ServerGuid)
    if kind == "private":
        judge.mark_not_exercised("MQQB-3.1.5.2.3-09", reason="the SUT opened the queue by a private format name")
        expected: Any = format_guid(peer.identifier)
        judge("MQQB-3.1.5.2.3-08", expected=expected, observed=of_server, case="ServerGuid", evidence=request)
        sent = session.connection.send(establish_response(peer, request, ServerGuid=OTHER_GUID))
        answer = session.connection.poll_next_packet()
        judge(
            "MQQB-3.1.5.3.2-01",
            "MQQB-3.1.5.3.2-D02",
            expected=closed_without_answer(1),
            observed=session.connection,
            case="response with the GUID of the first session",
            evidence=[sent, answer],
        )
        request = session.await_request()
        header = request["EstablishConnectionHeader"]
    else:
        judge.mark_not_exercised("MQQB-3.1.5.2.3-08", reason="the SUT opened the queue by a direct format name")
        pinged = [format_guid(peer.identifier)] if peer.recorder.list_pings(from_sut=True) else []
        expected = one_of(format_guid(NULL_GUID), *pinged)
        judge("MQQB-3.1.5.2.3-09", expected=expected, observed=of_server, case="ServerGuid", evidence=request)
    began_ms = peer.recorder.elapsed_ms()
    parameters = session.respond(TimeStamp=header.TimeStamp - ROUND_TRIP_MS & 0xFFFF_FFFF)
    if kind == "direct":
        judge(
            "MQQB-3.1.5.3.2-01",
            "MQQB-3.1.5.3.2-D02",
            expected=packet("ConnectionParameters"),
            observed=parameters,
            case="valid response on the second session",
            evidence=[request, parameters],
        )
    evidence = [request, session.connection.sent[-1], parameters]
    took_ms = peer.measure_duration(began_ms, parameters).ms
    values, before = parameters["ConnectionParametersHeader"], earlier["ConnectionParametersHeader"]
    longest_ms = ROUND_TRIPS_PER_TIMEOUT * (ROUND_TRIP_MS + took_ms + LONGEST_EXCHANGE_MS)
    judge(
        "MQQB-3.1.5.3.2-11",
        expected=between(ROUND_TRIPS_PER_TIMEOUT * ROUND_TRIP_MS, longest_ms),
        observed=values.RecoverableAckTimeout,
        case="RecoverableAckTimeout of the second session",
        evidence=evidence,
    )
    for rule, field in (("MQQB-3.1.5.3.2-12", "AckTimeout"), ("MQQB-3.1.5.3.2-13", "WindowSize")):
        judge(
            rule,
            expected=getattr(before, field),
            observed=getattr(values, field),
            case=f"{field} of the second session, compared with the first session",
            evidence=[earlier, parameters],
        )
    session.answer_connection_parameters()
    session.connection.send(session_ack(AckSequenceNumber=1))
    _judge_connection_history(sut, judge, name, known, evidence)


def _judge_connection_history(sut, judge, name, known, evidence):
    """Judge that ConnectionHistory of a format name has the entries of a new session."""
    if not sut.has("management"):
        judge.mark_not_exercised("MQQB-3.1.5.2.3-14", "MQQB-3.1.5.3.2-15", reason="the SUT shows no ConnectionHistory")
        return
    history = list_connection_history(sut, name)
    shown = [entry["Status"] for entry in history[len(known) :] or history[-HISTORY_ENTRIES_PER_SESSION:]]
    for rule, status in (("MQQB-3.1.5.2.3-14", "InProcess"), ("MQQB-3.1.5.3.2-15", "EstablishPacketReceived")):
        judge(
            rule,
            expected=holds(f"an entry with Status {status}"),
            observed=status in shown or ", ".join(map(str, shown)) or "no entry",
            case="ConnectionHistory of the second outgoing queue",
            evidence=evidence,
        )


@needs("send")
@covers("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-14", "MQQB-3.1.5.3.2-D01")
@pytest.mark.parametrize("kind", ["direct", pytest.param("private", marks=needs("private_names"))])
def test_responses_of_two_opening_sessions_are_answered(peer, sut, judge, kind):
    """The SUT sends requests for two names, and then the peer answers them in the same order. The SUT sends one
    ConnectionParameters packet on each connection, and sends its message after the peer's ConnectionParameters. The
    first session is open when the peer answers the second request.
    """
    first = OutgoingSession(peer, sut, peer.direct_name(FIRST_QUEUE_NAME))
    first.await_request()
    sut.send(private_name(peer.identifier) if kind == "private" else peer.direct_name(SECOND_QUEUE_NAME), body="second")
    second = OutgoingSession(peer, sut, listener=first.listener)
    if second.poll_request(sut.connect_timeout_ms) is None:
        judge.give_up(Verdict.NOT_EXERCISED, NO_SECOND_SESSION_OUTCOME)
        return
    for number, session in enumerate((first, second), 1):
        connection = session.connection
        sent = connection.send(establish_response(peer, session.request))
        answer = connection.poll_next_packet()
        judge(
            "MQQB-3.1.5.2.3-13",
            "MQQB-3.1.5.3.2-07",
            "MQQB-3.1.5.3.2-D01",
            expected=packet("ConnectionParameters"),
            observed=answer or connection,
            case=f"answer to the response on connection {number}",
            evidence=[session.request, sent, answer],
        )
        if answer is None or answer.kind != "ConnectionParameters":
            judge.conclude("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-D01")
            raise ConformanceFailure("the SUT sent no ConnectionParameters packet, which the next steps require")
        agreed = connection.send(parameters_response(answer))
        message = connection.poll_packet(FIRST_PACKET_POSITION_AFTER_HANDSHAKE)
        judge(
            "MQQB-3.1.5.3.2-14",
            expected=packet("UserMessage"),
            observed=message or connection,
            case=f"first packet on the open session {number}",
            evidence=[agreed, message],
        )
        judge(
            "MQQB-3.1.5.3.2-07",
            expected=holds("one ConnectionParameters packet"),
            observed=message is None or message.kind != answer.kind or "two ConnectionParameters packets",
            case=f"packets on connection {number}",
            evidence=[answer, message],
        )
        connection.send(session_ack(AckSequenceNumber=1))


@needs("send", "timers")
@covers("MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01")
def test_each_opening_session_has_its_own_initialization_timer(peer, sut, judge):
    """The SUT sends requests for two direct names, and the peer answers neither. The SUT closes each connection when
    the Session Initialization Timer expires.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    first = OutgoingSession(peer, sut, peer.direct_name(FIRST_QUEUE_NAME))
    first.await_request()
    sut.send(peer.direct_name(SECOND_QUEUE_NAME), body="second")
    second = OutgoingSession(peer, sut, listener=first.listener)
    if second.poll_request(sut.connect_timeout_ms) is None:
        judge.give_up(Verdict.NOT_EXERCISED, NO_SECOND_SESSION_OUTCOME)
        return
    for number, session in enumerate((first, second), 1):
        judge.all(
            expected=CLOSED_ON_TIME_EXPECTATION,
            observed=describe_initialization_end(sut, session.connection, session.request.time_ms, lasts_ms),
            case=f"end of connection {number}",
            evidence=session.request,
        )
