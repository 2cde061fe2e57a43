"""MS-MQQB 3.1.7.6 Send Ping Request, with 3.1.7.8: the Ping Request for a message beside an open session."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, one_of
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
)


@needs("ping_initiator", "timers", "send", "private_names")
@covers(
    "MQQB-2.1.2-01",
    "MQQB-2.1.2-D01",
    "MQQB-3.1.7.6-03",
    "MQQB-3.1.7.6-05",
    "MQQB-3.1.7.6-07",
    "MQQB-3.1.7.6-08",
    "MQQB-3.1.7.6-10",
    "MQQB-3.1.7.6-14",
    "MQQB-3.1.7.8-01",
    "MQQB-3.1.7.8-05",
)
def test_ping_for_transactional_message_beside_open_session(peer, sut, judge):
    """The SUT has an open session, and then a transactional message for a private name of the peer. A second Ping
    Request arrives, with correct fields and the next Cookie. The SUT does not connect before the response. When the
    response arrives, the SUT at once opens a session and sends the message. That session is still open when the Ping
    Response Timer would have expired.
    """
    caller = PingingSut(peer, sut)
    first = caller.await_ping()
    caller.answer_ping(first)
    beside = _open_session(peer, caller.await_connection()[1])
    known = len(beside.messages)
    sut.send(
        peer.build_private_format_name_of_peer(),
        body="in a transaction",
        label="in a transaction",
        delivery="transactional",
    )
    second = caller.poll_ping()
    if second is None and len(beside.messages) > known:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT sent the second message on the open session (E16)")
        return
    judge(
        "MQQB-2.1.2-D01",
        "MQQB-3.1.7.6-08",
        expected=holds("a Ping Request"),
        observed=second is not None or "no datagram",
        case="packet for the second session",
        evidence=[first, second],
    )
    if second is None:
        return
    judge(
        "MQQB-3.1.7.6-07",
        expected=fields(RF=0, Signature=PING_SIGNATURE),
        observed=describe_ping_fields(second, "RF", "Signature"),
        evidence=second,
    )
    cookie = get_ping_cookie(first)
    judge(
        "MQQB-3.1.7.6-03",
        expected=one_of([cookie, cookie + 1 & 0xFFFFFFFF], [1, 1]),
        observed=[cookie, get_ping_cookie(second)],
        case="Cookies of the two Ping Requests",
        evidence=[first, second],
    )
    judge(
        "MQQB-3.1.7.6-05",
        expected=fields(QMGuid=UUID(str(beside.received[0]["EstablishConnectionHeader"].ClientGuid))),
        observed=describe_ping_fields(second, "QMGuid"),
        evidence=second,
    )
    judge.conclude("MQQB-2.1.2-D01", "MQQB-3.1.7.6-03", "MQQB-3.1.7.6-05", "MQQB-3.1.7.6-07", "MQQB-3.1.7.6-08")
    early = caller.await_session(caller.half_ping_response_timer_ms // 2)
    if not caller.was_too_slow_after_ping(second):
        judge(
            "MQQB-3.1.7.6-10",
            expected=PingingSut.NO_SESSION_OUTCOME,
            observed=early,
            case="before the Ping Response",
            evidence=[first, second],
        )
        judge.conclude("MQQB-3.1.7.6-10")
    if early != PingingSut.NO_SESSION_OUTCOME:
        raise ConformanceFailure("the SUT connected before the Ping Response")
    answer = caller.answer_ping(second)
    outcome, connection = caller.await_connection(caller.half_ping_response_timer_ms)
    if caller.was_too_slow_after_ping(second):
        judge.give_up(Verdict.NOT_EXERCISED, STALLED_SUT_REASON)
        return
    judge(
        "MQQB-2.1.2-01",
        "MQQB-3.1.7.8-01",
        "MQQB-3.1.7.8-05",
        expected=PingingSut.SESSION_OPENED_OUTCOME,
        observed=outcome,
        case="before the Ping Response Timer would expire",
        evidence=[second, answer],
    )
    judge.conclude("MQQB-2.1.2-01", "MQQB-3.1.7.8-01", "MQQB-3.1.7.8-05")
    session = _open_session(peer, connection)
    caller.await_response_timer_expiry()
    judge(
        "MQQB-3.1.7.6-14",
        expected=holds("open", otherwise="closed by the SUT"),
        observed=not session.closed_by_sut,
        case="session when the Ping Response Timer would have expired",
        evidence=[second, answer, session.last],
    )


def _open_session(peer, connection):
    """Answer the requests of the SUT on its connection, and acknowledge its first message."""
    if connection is None or not connection.received:
        raise ConformanceFailure("the SUT requested no session after its ping")
    connection.send(establish_response(peer, connection.received[0]))
    connection.send(parameters_response(connection.expect("ConnectionParameters")))
    connection.expect("UserMessage")
    connection.send(session_ack(AckSequenceNumber=1, WindowSize=64))
    peer.settle()
    return connection
