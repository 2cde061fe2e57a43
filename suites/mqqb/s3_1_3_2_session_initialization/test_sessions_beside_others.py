"""MS-MQQB 3.1.3.2 Session Initialization: sessions that begin while another session is open, and retried sessions."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, connection_closed_by_sut, facts, fields, holds
from harness.judging.verdicts import Verdict
from harness.peer.handshake import build_parameters_request
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, find_initiated_session, list_accepted_sessions
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import read_data_model_element

ORDER_ACK_TIMEOUT_MS = 500
UNLIMITED_SESSION_CLEANUP_TIMER_MS = 0xFFFFFFFF
CONFIGURED_SESSION_CLEANUP_TIMER_MS = 50_000
"""An AckWaitTimeout that differs from the default (20 s) and from the AckTimeout of the peer."""
CLOCK_STEP_MS = 2_000
"""A time in ms after which a time in whole seconds is later."""
GREATEST_TIME_SCALE = 20
"""The highest factor by which the timers may be accelerated. With this factor, the Session Initialization Timer (60 s)
lasts longer than this step.
"""
STOPPED_TIMER_BY_RULE = {
    "MQQB-3.1.3.2-09": "SessionAckWait",
    "MQQB-3.1.3.2-10": "SessionAckSend",
    "MQQB-3.1.3.2-11": "TransactionalAckWait",
    "MQQB-3.1.3.2-12": "OrderAckSend",
}
ELEMENT_INITIALLY_FALSE_BY_RULE = {"MQQB-3.1.3.2-25": "SessionActive", "MQQB-3.1.3.2-26": "ReceivedAck"}
"""Elements that are FALSE when a session begins, by rule."""


@needs("send", "inspect")
@covers(
    *STOPPED_TIMER_BY_RULE,
    *ELEMENT_INITIALLY_FALSE_BY_RULE,
    "MQQB-3.1.3.2-13",
    "MQQB-3.1.3.2-14",
    "MQQB-3.1.3.2-15",
    "MQQB-3.1.3.2-16",
    "MQQB-3.1.3.2-17",
    "MQQB-3.1.3.2-21",
    "MQQB-3.1.3.2-28",
    "MQQB-3.1.3.2-31",
    "MQQB-3.1.3.2-32",
    "MQQB-3.1.3.2-33",
)
@pytest.mark.parametrize("delivery", ["express", "transactional"])
def test_initiated_and_retried_session_begin_with_initial_elements(peer, sut, judge, delivery):
    """While a session of the peer is open, the SUT requests a session for a waiting message, and requests it again
    after the peer has closed the connection. At each request, the session has its initial elements.
    """
    sut.limit_time_scale(GREATEST_TIME_SCALE)
    peer.try_to_open_session()
    to = peer.direct_name("mqc-initial")
    listener = peer.listen_without_core()
    sut.send(to, body="waiting", delivery=delivery)
    outgoing = OutgoingSession(peer, sut, listener=listener)
    times_of_last_ack = []
    for attempt in ("first attempt", "retry"):
        request = outgoing.await_request()
        session = find_initiated_session(sut, to)
        timers = read_data_model_element(session, "timers")
        for rule, name in STOPPED_TIMER_BY_RULE.items():
            judge(
                rule,
                expected=fields({name: None}),
                observed={name: read_data_model_element(timers, name)},
                case=f"remaining time of a stopped timer, {attempt}",
                evidence=request,
            )
        judge(
            "MQQB-3.1.3.2-14",
            expected=holds("SessionRetryConnect runs", otherwise="SessionRetryConnect is stopped"),
            observed=read_data_model_element(timers, "SessionRetryConnect") is not None,
            case=attempt,
            evidence=request,
        )
        _judge_initial_session_elements(judge, session, attempt, request)
        sequence = read_data_model_element(session, "TxOutgoingSequence")
        if sequence is None:
            raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
        values = {
            "MQQB-3.1.3.2-16": (read_data_model_element(sequence, "LastAck"), "SeqNo", 0),
            "MQQB-3.1.3.2-17": (sequence, "TimeOfLastAck", _expect_current_time(peer)),
            "MQQB-3.1.3.2-21": (sequence, "ResendTime", 0),
            "MQQB-3.1.3.2-28": (session, "OrderAckTimeout", ORDER_ACK_TIMEOUT_MS),
            "MQQB-3.1.3.2-31": (session, "LastOrderAckSendTime", _expect_current_time(peer)),
            "MQQB-3.1.3.2-32": (session, "RecoverableAckSendTimeout", UNLIMITED_SESSION_CLEANUP_TIMER_MS),
        }
        if delivery == "express":
            values["MQQB-3.1.3.2-15"] = (sequence, "UnackedSequence", [])
        else:
            judge.mark_not_exercised(
                "MQQB-3.1.3.2-15", reason="UnackedSequence may contain the waiting transactional message"
            )
        for rule, (holder, name, expected) in values.items():
            judge(
                rule,
                expected=expected,
                observed=read_data_model_element(holder, name),
                case=f"{name}, {attempt}",
                evidence=request,
            )
        _judge_public_key(judge, session, attempt)
        times_of_last_ack.append(read_data_model_element(sequence, "TimeOfLastAck"))
        if attempt == "retry":
            judge(
                "MQQB-3.1.3.2-17",
                expected=holds("TimeOfLastAck of the retry is later than that of the first attempt"),
                observed=times_of_last_ack[0] < times_of_last_ack[1] or times_of_last_ack,
                evidence=request,
            )
        judge.conclude()
        peer.pass_time(CLOCK_STEP_MS)
        outgoing.connection.close()


def _judge_initial_session_elements(judge, session, case, frame):
    """Judge that the session has FALSE in the elements that are FALSE at its beginning, and that the Session Cleanup
    Timer runs.
    """
    for rule, name in ELEMENT_INITIALLY_FALSE_BY_RULE.items():
        judge(
            rule,
            expected=False,
            observed=read_data_model_element(session, name),
            case=f"{name}, {case}",
            evidence=frame,
        )
    judge(
        "MQQB-3.1.3.2-13",
        expected=holds("SessionCleanup runs", otherwise="SessionCleanup is stopped"),
        observed=read_data_model_element(session["timers"], "SessionCleanup") is not None,
        case=case,
        evidence=frame,
    )


def _judge_public_key(judge, session, case):
    """Judge that RemoteQMPublicKey of a session consists of zeros."""
    key = bytes.fromhex(read_data_model_element(session, "RemoteQMPublicKey"))
    judge(
        "MQQB-3.1.3.2-33",
        expected=holds("RemoteQMPublicKey consists of zeros"),
        observed=bool(key and not any(key)) or key.hex(),
        case=case,
    )


def _expect_current_time(peer):
    now_s = peer.environment.now().utc_s
    return between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)


@needs("inspect")
@covers(
    *STOPPED_TIMER_BY_RULE,
    *ELEMENT_INITIALLY_FALSE_BY_RULE,
    "MQQB-3.1.3.2-13",
    "MQQB-3.1.3.2-15",
    "MQQB-3.1.3.2-16",
    "MQQB-3.1.3.2-17",
    "MQQB-3.1.3.2-21",
    "MQQB-3.1.3.2-28",
    "MQQB-3.1.3.2-31",
    "MQQB-3.1.3.2-32",
    "MQQB-3.1.3.2-33",
)
def test_accepted_session_beside_open_session_begins_with_initial_elements(peer, sut, judge):
    """While a session of the peer is open, a second connection of the peer has its own initial elements before its
    first packet.
    """
    first, _ = peer.try_to_open_session()
    if first is None:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT opened no session of the peer")
        return
    known = list_accepted_sessions(sut)
    peer.pass_time(CLOCK_STEP_MS)
    peer.connect()
    if not peer.eventually(lambda: len(list_accepted_sessions(sut)) > len(known)):
        raise ConformanceFailure("the SUT shows no session for a new connection")
    session = list_accepted_sessions(sut)[-1]
    for rule, name in STOPPED_TIMER_BY_RULE.items():
        judge(
            rule,
            expected=fields({name: None}),
            observed={name: read_data_model_element(session["timers"], name)},
            case="remaining time of a stopped timer",
            evidence=first.received[-1],
        )
    _judge_initial_session_elements(judge, session, "second session", first.received[-1])
    sequence = read_data_model_element(session, "TxOutgoingSequence")
    judge(
        "MQQB-3.1.3.2-15",
        expected=[],
        observed="no sequence" if sequence is None else read_data_model_element(sequence, "UnackedSequence"),
        case="UnackedSequence",
    )
    if sequence is None:
        raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
    for rule, holder, name, expected in (
        ("MQQB-3.1.3.2-16", read_data_model_element(sequence, "LastAck"), "SeqNo", 0),
        ("MQQB-3.1.3.2-17", sequence, "TimeOfLastAck", _expect_current_time(peer)),
        ("MQQB-3.1.3.2-21", sequence, "ResendTime", 0),
        ("MQQB-3.1.3.2-28", session, "OrderAckTimeout", ORDER_ACK_TIMEOUT_MS),
        ("MQQB-3.1.3.2-31", session, "LastOrderAckSendTime", _expect_current_time(peer)),
        ("MQQB-3.1.3.2-32", session, "RecoverableAckSendTimeout", UNLIMITED_SESSION_CLEANUP_TIMER_MS),
    ):
        judge(
            rule, expected=expected, observed=read_data_model_element(holder, name), case=name, evidence=first.received
        )
    _judge_public_key(judge, session, "second session")
    for other in known:
        judge(
            "MQQB-3.1.3.2-31",
            expected=holds("LastOrderAckSendTime is later than that of the older session"),
            observed=read_data_model_element(session, "LastOrderAckSendTime")
            > read_data_model_element(other, "LastOrderAckSendTime"),
            evidence=first.received,
        )


@needs("set_timers")
@covers("MQQB-3.1.3.2-27")
def test_ack_timeout_of_retried_request_beside_session_is_configured_one(peer, sut, judge):
    """While the SUT has an open session with a different AckTimeout, it requests a session, and requests it again after
    the peer has closed the connection. AckTimeout in both ConnectionParameters requests is the configured
    AckWaitTimeout.
    """
    sut.set_timers(ack_wait_timeout_ms=CONFIGURED_SESSION_CLEANUP_TIMER_MS)
    peer.try_to_open_session()
    session = OutgoingSession(peer, sut)
    for attempt in ("first attempt", "retry"):
        session.await_request()
        frame = session.respond()
        judge(
            "MQQB-3.1.3.2-27",
            expected=CONFIGURED_SESSION_CLEANUP_TIMER_MS,
            observed=frame["ConnectionParametersHeader"].AckTimeout,
            case=f"AckTimeout of the request, {attempt}",
            evidence=frame,
        )
        judge.conclude()
        session.connection.close()


@covers("MQQB-3.1.3.2-36")
def test_first_packet_beside_open_session_must_be_establish_connection(peer, judge):
    """The SUT does not answer a ConnectionParameters packet that is the first packet of a connection, and ends a
    connection whose first packet is a UserMessage. The check sends these packets while the peer has an open session,
    and again after the peer has closed that session.
    """
    first = peer.open_session()
    for case in ("beside an open session", "after a closed session"):
        with_parameters, with_message = peer.connect(), peer.connect()
        sent = [with_parameters.send(build_parameters_request()), with_message.send(peer.message())]
        ended = with_message.await_close()
        judge(
            "MQQB-3.1.3.2-36",
            expected=connection_closed_by_sut(),
            observed=ended,
            case=f"UserMessage {case}",
            evidence=sent,
        )
        judge(
            "MQQB-3.1.3.2-36",
            expected=facts(answer=None),
            observed={"answer": with_parameters.poll_packet(0)},
            case=f"ConnectionParameters {case}",
            evidence=sent,
        )
        first.end()
        peer.settle()
