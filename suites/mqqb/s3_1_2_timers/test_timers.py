"""MS-MQQB 3.1.2 Timers: 3.1.2.6 Transactional Ack Wait Timer, 3.1.2.9 Ping Response Timer."""

from __future__ import annotations

import pytest

from harness.expectations import between, each
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import PING_RESPONSE_TIMEOUT_MS, STALLED_SUT_REASON, PingingSut, read_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import Outgoing

CONFIGURED_CLEANUP_MS = 150_000
EXCHANGE_TOLERANCE_S = 20
"""The allowance for sending the messages and the OrderAck, and for rounding to whole seconds."""


@needs("send", "management")
@covers("MQQB-3.1.2.6-D01")
def test_resend_time_is_one_resend_interval_after_the_last_order_ack(peer, sut, judge):
    """The peer acknowledges the first of two messages to the second of two queues. EodResendTime is the time of the
    acknowledgment plus EodResendInterval, according to the SUT's clock. As erratum E46 allows, it may instead be the
    time at which the second message was sent, plus EodResendInterval.
    """
    beside = Outgoing(peer, sut, "mqc-resend-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-resend-time")
    sent = outgoing.send(2)
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(1)
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    info = outgoing.read_transfer_info()
    interval = read_element(info, "EodResendInterval")
    remaining = read_element(info, "EodResendTime") - read_element(info, "EodLastAckTime")
    expected = between(max(1, interval - EXCHANGE_TOLERANCE_S), interval + 1)
    judge(
        "MQQB-3.1.2.6-D01",
        expected=expected,
        observed=remaining,
        case="seconds until EodResendTime",
        evidence=[*sent, frame],
    )
    outgoing.acknowledge_all()


@needs("set_timers", "inspect")
@covers("MQQB-3.1.2.2-01")
def test_session_cleanup_timer_has_configured_duration_in_both_roles(peer, sut, judge):
    """The duration of the Session Cleanup Timer is configured. On a session that the SUT initiates and on a session
    that it accepts, the timer expires after this duration.
    """
    sut.set_timers(session_cleanup_ms=CONFIGURED_CLEANUP_MS)
    sender = Sender(peer, sut, peer.direct_name("mqc-cleanup-role"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.open_raw().check_alive()
    due_ms, slack_ms = sut.duration_ms(CONFIGURED_CLEANUP_MS), sut.slack_ms(CONFIGURED_CLEANUP_MS)
    shown = [one for one in sut.inspect()["Sessions"] if one["SessionState"] == "OPEN"]
    for role in ("initiator", "acceptor"):
        remaining_ms = [read_element(one["timers"], "SessionCleanup") for one in shown if one["role"] == role]
        judge(
            "MQQB-3.1.2.2-01",
            expected=each(between(due_ms // 4, due_ms + slack_ms), "session"),
            observed=remaining_ms,
            case=f"remaining ms of the Session Cleanup Timer of a session of the {role}",
            evidence=sent,
        )


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.2.9-D01")
@pytest.mark.parametrize(
    ("after_ms", "expected"),
    [(PING_RESPONSE_TIMEOUT_MS // 2, PingingSut.SESSION_OPENED), (2 * PING_RESPONSE_TIMEOUT_MS, PingingSut.NO_SESSION)],
)
def test_ping_response_after_one_second_opens_no_session(peer, sut, judge, after_ms, expected):
    """When a Ping Response arrives half a second after the Ping Request, the SUT opens a session. When it arrives two
    seconds after the request, the SUT opens no session.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    peer.pass_time(sut.duration_ms(after_ms))
    answer = pinging_sut.answer_ping(asked)
    observed = pinging_sut.await_session(pinging_sut.time_without_retry_ms - sut.duration_ms(after_ms))
    if expected == PingingSut.SESSION_OPENED != observed and pinging_sut.has_stalled_after(asked):
        judge.mark_not_exercised("MQQB-3.1.2.9-D01", reason=STALLED_SUT_REASON, evidence=[asked, answer])
        return
    judge(
        "MQQB-3.1.2.9-D01",
        expected=expected,
        observed=observed,
        case="after the Ping Response",
        evidence=[asked, answer],
    )
