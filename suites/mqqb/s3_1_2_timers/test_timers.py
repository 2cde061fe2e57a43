"""MS-MQQB 3.1.2 Timers: 3.1.2.6 Transactional Ack Wait Timer, 3.1.2.9 Ping Response Timer."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, each
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import PING_RESPONSE_TIMEOUT_MS, STALLED_SUT_REASON, PingingSut, read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut

CLOCK_STEP_S = 2
"""The allowance for rounding to whole seconds, and for a slow SUT."""
CONFIGURED_SESSION_CLEANUP_TIMER_MS = 20_000
RESEND_TIME_TOLERANCE_S = 20
"""The allowance for sending the messages and the OrderAck, and for rounding to whole seconds."""


@needs("send", "management")
@covers("MQQB-3.1.2.6-D01")
def test_resend_time_is_one_resend_interval_after_the_last_order_ack(peer, sut, judge):
    """The peer acknowledges the first of two messages to the second of two queues. EodResendTime is the time of the
    acknowledgment plus EodResendInterval, according to the SUT's clock. As erratum E46 allows, it may instead be the
    time at which the second message was sent, plus EodResendInterval.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-resend-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-resend-time")
    sent = outgoing.send(2)
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(1)
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    info = outgoing.read_transfer_info()
    interval = read_data_model_element(info, "EodResendInterval")
    remaining = read_data_model_element(info, "EodResendTime") - read_data_model_element(info, "EodLastAckTime")
    expected = between(max(1, interval - RESEND_TIME_TOLERANCE_S), interval + 1)
    judge(
        "MQQB-3.1.2.6-D01",
        expected=expected,
        observed=remaining,
        case="seconds until EodResendTime",
        evidence=[*sent, frame],
    )
    outgoing.acknowledge_all()


@needs("send", "inspect")
@covers("MQQB-3.1.2.6-D01")
def test_resend_time_grows_with_each_start_of_the_timer(peer, sut, judge):
    """A message to the second of two queues has no OrderAck, and the SUT resends it. ResendTime of that queue has grown
    by the time between the two copies of the message.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-resend-time-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-resend-time-again")
    outgoing.send()
    outgoing.send_session_ack()
    first = read_data_model_element(outgoing.read_sequence(), "ResendTime")
    if outgoing.await_resend(1) != RESENT_OUTCOME:
        raise ConformanceFailure("the SUT did not resend its message")
    second = read_data_model_element(outgoing.read_sequence(), "ResendTime")
    copies = outgoing.copies(1)[:2]
    elapsed_s = peer.measure_duration(*copies).ms // 1_000
    judge(
        "MQQB-3.1.2.6-D01",
        expected=between(elapsed_s - CLOCK_STEP_S, elapsed_s + CLOCK_STEP_S),
        observed=second - first,
        case="seconds by which ResendTime has grown",
        evidence=copies,
    )
    outgoing.send_session_ack()
    outgoing.acknowledge_all()


@needs("set_timers", "inspect")
@covers("MQQB-3.1.2.2-01")
def test_session_cleanup_timer_has_configured_duration_at_each_start(peer, sut, judge):
    """The duration of the Session Cleanup Timer is configured. The timer has this duration on a session that the SUT
    initiates and on a session that it accepts. A message does not start the timer again, and the timer has the same
    duration when it starts again after its expiry on an active session.
    """
    sut.set_timers(session_cleanup_ms=CONFIGURED_SESSION_CLEANUP_TIMER_MS)
    due_ms, slack_ms = (
        sut.duration_ms(CONFIGURED_SESSION_CLEANUP_TIMER_MS),
        sut.slack_ms(CONFIGURED_SESSION_CLEANUP_TIMER_MS),
    )

    def judge_remaining_time(role, elapsed_ms, case, frame):
        """Judge the remaining time of each open session of a role, whose timer started before the given time."""
        shown = [one for one in sut.inspect()["Sessions"] if one["SessionState"] == "OPEN" and one["role"] == role]
        judge(
            "MQQB-3.1.2.2-01",
            expected=each(between(1, due_ms - elapsed_ms + slack_ms), "session"),
            observed=[read_data_model_element(one["timers"], "SessionCleanup") for one in shown],
            case=f"remaining ms of the Session Cleanup Timer, {case}",
            evidence=frame,
        )

    sender = Sender(peer, sut, peer.direct_name("mqc-cleanup-role"))
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    judge_remaining_time("initiator", 0, "session of an initiator", sent)
    accepted = peer.open_raw()
    accepted.require_session_ack_for_message()
    judge_remaining_time("acceptor", 0, "session of an acceptor", accepted.sent[-1])
    peer.pass_time(due_ms // 2)
    accepted.send(peer.message())
    peer.settle()
    judge_remaining_time("acceptor", due_ms // 2, "after a message", accepted.sent[-1])
    peer.pass_time(due_ms * 3 // 4)
    judge_remaining_time("acceptor", due_ms // 5, "after the first expiry", accepted.sent[-1])


@needs("ping_initiator", "timers")
@covers("MQQB-3.1.2.9-D01")
@pytest.mark.parametrize(
    ("after_ms", "expected"),
    [
        (PING_RESPONSE_TIMEOUT_MS // 2, PingingSut.SESSION_OPENED_OUTCOME),
        (2 * PING_RESPONSE_TIMEOUT_MS, PingingSut.NO_SESSION_OUTCOME),
    ],
)
def test_ping_response_after_one_second_opens_no_session(peer, sut, judge, after_ms, expected):
    """When a Ping Response arrives half a second after the Ping Request, the SUT opens a session. When it arrives two
    seconds after the request, the SUT opens no session.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    peer.pass_time(sut.duration_ms(after_ms))
    answer = pinging_sut.answer_ping(asked)
    observed = pinging_sut.await_session(pinging_sut.time_shorter_than_retry_timer_ms - sut.duration_ms(after_ms))
    if expected == PingingSut.SESSION_OPENED_OUTCOME != observed and pinging_sut.was_too_slow_after_ping(asked):
        judge.mark_not_exercised("MQQB-3.1.2.9-D01", reason=STALLED_SUT_REASON, evidence=[asked, answer])
        return
    judge(
        "MQQB-3.1.2.9-D01",
        expected=expected,
        observed=observed,
        case="after the Ping Response",
        evidence=[asked, answer],
    )
