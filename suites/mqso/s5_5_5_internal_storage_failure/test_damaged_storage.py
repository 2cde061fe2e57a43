"""MS-MQSO 5.5.5, 5.1.1.1, 6.4.4.1, 6.6.2: a start with a damaged store, and the repair of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.expectations import each, facts, holds
from harness.judging.judge import Judge
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.mqqb.steps.pinging import ping_sut
from suites.mqso.steps.serving import SessionAttempt
from suites.mqso.steps.shown_states import STOPPED_STATE, BindAttempt, read_shown_state

FIRST_RETRY_INTERVAL_MS, LATER_RETRY_INTERVAL_MS = 120_000, 900_000
"""InitializationRetryTimerDuration, in ms, before the first retry, and before later retries."""
LONGEST_WAIT_MS = 5 * 60_000
"""The longest time, in ms, that a check waits for a timer. If the SUT's timers cannot be sped up, they have the
specified durations.
"""
SHARE_OF_RETRY_INTERVAL_BEFORE_REPAIR, SHARE_OF_RETRY_INTERVAL_BEFORE_EARLY_ATTEMPT = 0.5, 0.8
"""Two instants before the retry, as fractions of the retry duration. The check repairs the store at the first instant,
long before the retry; at the second instant the SUT must not have retried yet.
"""
UNACCELERATED_RETRY_WAIT_TOO_LONG_REASON = (
    f"the timers of the SUT cannot be accelerated; the check would take {LATER_RETRY_INTERVAL_MS // 60_000} minutes"
)
START_ATTEMPT_COUNT = 6
HIGHEST_TIMER_ACCELERATION = 20
"""The highest time scale at which the timer can be observed."""
DAMAGED_STORE_RULES = (
    "MQSO-5.1.1.1-01",
    "MQSO-5.1.1.1-02",
    "MQSO-5.5.5-03",
    "MQSO-6.6.2-04",
    "MQSO-6.6.2-05",
    "MQDMPR-3.1.1.1-23",
    "MQDMPR-3.1.3-30",
)
RETRY_RULES = ("MQSO-5.1.1.1-03", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01")
FIRST_RETRY_RULES = ("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08")
LATER_RETRY_RULES = ("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09")
REPEATED_RETRY_RULES = ("MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-04", "MQSO-6.6.2-05")


@dataclass(frozen=True, slots=True)
class StartOnDamagedStore:
    """A start of the SUT with a damaged store: the interval in which the SUT started, the attempts to open a session,
    and the outcomes of other requests.
    """

    queue: str
    start_requested_at_ms: int
    began_ms: int
    session_attempts: list[SessionAttempt]
    answers: dict[str, str]
    pinged: tuple[bool, bool]
    """Whether the SUT answered a ping before the failed start, and after it."""
    are_binds_accepted_before_and_after_start: tuple[bool, bool]
    """Whether the SUT accepted a bind of a remote reader before the failed start, and after it."""
    state: str | None
    """The state that the SUT shows after the failed start, or None if it shows no state."""


def _start_on_damaged_store(peer: Peer, sut: Sut, judge: Judge, rules: tuple[str, ...]) -> StartOnDamagedStore | None:
    """Restart the SUT with a damaged store, try to use it, and return what was observed; return None if the SUT
    repaired the store itself.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    queue = sut.new_queue("damaged")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    answered = ping_sut(peer).is_answered
    is_bound = sut.has("qm2qm") and BindAttempt(peer, sut).is_method_supported
    sut.change_environment(store=False)
    start_requested_at_ms = peer.recorder.elapsed_ms()
    sut.control.call("restart")
    began_ms = peer.recorder.elapsed_ms()
    within_ms = sut.duration_ms(FIRST_RETRY_INTERVAL_MS) // 8  # both attempts are to be over before the first retry
    attempts = [SessionAttempt(peer, within_ms) for _ in range(2)]
    served = (
        attempts[0].outcome == SessionAttempt.SERVED_OUTCOME and sut.attempt("get_queue", name=queue) == Outcome.DONE
    )
    if served and sut.labels(queue) == ["kept"]:
        judge.mark_not_exercised(*rules, reason="the SUT repairs the damage itself")
        return None
    pinged = (answered, answered and ping_sut(peer).is_answered)
    answers = {
        "peek at the queue": sut.attempt("peek", queue=queue),
        "peek at a system queue": sut.attempt("peek", queue="system$;deadletter"),
        "creation of a queue": sut.attempt(sut.new_queue, "made-while-damaged"),
    }
    if sut.has("transactions"):
        answers["begin of a transaction"] = sut.attempt("begin")
    state = read_shown_state(sut)
    are_binds_accepted_before_and_after_start = (is_bound, is_bound and BindAttempt(peer, sut).is_method_supported)
    return StartOnDamagedStore(
        queue,
        start_requested_at_ms,
        began_ms,
        attempts,
        answers,
        pinged,
        are_binds_accepted_before_and_after_start,
        state,
    )


def _judge_that_shown_state_is_stopped(judge: Judge, state: str | None, event: str) -> None:
    """Judge that the state is Stopped, if the SUT shows its state."""
    if state is not None:
        case = f"QueueManagerState after the {event}"
        judge("MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02", expected=STOPPED_STATE, observed=state, case=case)


def _is_retry_wait_too_long(sut: Sut, retries: int = 1) -> bool:
    """Return whether the intervals before a number of later retries are longer than a check may wait."""
    return not sut.environment.is_time_virtual and retries * sut.duration_ms(LATER_RETRY_INTERVAL_MS) > LONGEST_WAIT_MS


def _repair_store_before_retry(peer: Peer, sut: Sut, judge: Judge, due_ms: int, rules: tuple[str, ...]) -> bool:
    """Repair the store; return whether the repair preceded the retry that is expected to succeed. If it did not, mark
    the rules as not exercised.
    """
    sut.change_environment(store=True)
    if peer.measure_duration(due_ms).ms < 0:
        return True
    judge.mark_not_exercised(*rules, reason="the store was repaired too late for this retry")
    return False


@dataclass(frozen=True, slots=True)
class RetryObservation:
    """The outcomes of a session request before a retry and of one after it. ``is_in_time``: whether the first request
    preceded the retry.
    """

    before: str
    after: str
    is_in_time: bool
    evidence: list[Any]


def _observe_retry(
    peer: Peer, sut: Sut, damaged: StartOnDamagedStore, earlier_ms: int, after_ms: int
) -> RetryObservation:
    """Return whether sessions are accepted before and after a retry that is due ``due_ms`` after the start."""
    lasts_ms = sut.duration_ms(after_ms)
    due_ms = damaged.start_requested_at_ms + earlier_ms + lasts_ms
    peer.pass_time_until(due_ms - int((1 - SHARE_OF_RETRY_INTERVAL_BEFORE_EARLY_ATTEMPT) * lasts_ms), 0)
    sut.attempt("peek_message", queue=damaged.queue, timeout_ms=0)  # a refused request must not delay the retry
    early_attempt = SessionAttempt(peer, int((1 - SHARE_OF_RETRY_INTERVAL_BEFORE_EARLY_ATTEMPT) / 2 * lasts_ms))
    is_in_time = early_attempt.outcome == SessionAttempt.NOT_SERVED_OUTCOME or peer.measure_duration(due_ms).ms < 0
    peer.pass_time_until(damaged.began_ms + earlier_ms + lasts_ms + sut.slack_ms(after_ms), 0)
    late_attempt = SessionAttempt(peer)
    for _ in range(START_ATTEMPT_COUNT):  # a start takes time, too
        if late_attempt.outcome == SessionAttempt.SERVED_OUTCOME:
            break
        peer.pass_time(sut.response_timeout_ms // START_ATTEMPT_COUNT)
        late_attempt = SessionAttempt(peer)
    return RetryObservation(
        early_attempt.outcome, late_attempt.outcome, is_in_time, [*early_attempt.evidence, *late_attempt.evidence]
    )


def _judge_retry_time(judge: Judge, rules: tuple[str, ...], retry: RetryObservation) -> None:
    """Judge each rule by whether the SUT refused sessions before the retry and accepted them after it. If the first
    request came too late, mark the rules as not exercised.
    """
    for rule in rules:
        if retry.is_in_time:
            observed = {
                "session_request_before_the_retry": retry.before,
                "session_request_after_the_retry": retry.after,
            }
            judge(
                rule,
                expected=facts(
                    session_request_before_the_retry=SessionAttempt.NOT_SERVED_OUTCOME,
                    session_request_after_the_retry=SessionAttempt.SERVED_OUTCOME,
                ),
                observed=observed,
                evidence=retry.evidence,
            )
        else:
            judge.mark_not_exercised(rule, reason="the session before the retry was requested too late")


@needs("environment", "restart", "set_timers", "send", "receive", "queue_control")
@covers(*DAMAGED_STORE_RULES, *RETRY_RULES, *FIRST_RETRY_RULES, "MQSO-6.6.2-D06")
def test_store_beyond_repair_stops_sut_until_repaired(peer, sut, judge):
    """A SUT that is started with a damaged store refuses sessions and requests. When the store has been repaired, the
    SUT starts by itself 120 seconds after the failure, and still has its message.
    """
    damaged = _start_on_damaged_store(
        peer, sut, judge, (*DAMAGED_STORE_RULES, *RETRY_RULES, *FIRST_RETRY_RULES, "MQSO-6.6.2-D06")
    )
    if damaged is None:
        return
    evidence = [frame for one in damaged.session_attempts for frame in one.evidence]
    outcomes = {f"session request {number}": one.outcome for number, one in enumerate(damaged.session_attempts, 1)}
    judge(
        *DAMAGED_STORE_RULES,
        expected=each(SessionAttempt.NOT_SERVED_OUTCOME, "session request"),
        observed=outcomes,
        evidence=evidence,
    )
    judge(
        *DAMAGED_STORE_RULES,
        expected=each(Outcome.REFUSED, "request of the application"),
        observed=damaged.answers,
        evidence=evidence,
    )
    judge(
        "MQSO-5.1.1.1-01",
        "MQSO-5.1.1.1-02",
        "MQSO-5.5.5-03",
        "MQSO-6.6.2-05",
        expected=False,
        observed=damaged.pinged[1],
        case="a ping is answered after the failed start",
        evidence=evidence,
    )
    judge(
        "MQSO-5.1.1.1-01",
        expected=False,
        observed=damaged.are_binds_accepted_before_and_after_start[1],
        case="a bind of a remote reader is accepted after the failed start",
        evidence=evidence,
    )
    _judge_that_shown_state_is_stopped(judge, damaged.state, "failed start")
    if not _repair_store_before_retry(
        peer,
        sut,
        judge,
        damaged.start_requested_at_ms + sut.duration_ms(FIRST_RETRY_INTERVAL_MS),
        (*RETRY_RULES, *FIRST_RETRY_RULES, "MQSO-6.6.2-D06"),
    ):
        return
    retry = _observe_retry(peer, sut, damaged, 0, FIRST_RETRY_INTERVAL_MS)
    _judge_retry_time(judge, FIRST_RETRY_RULES, retry)
    if retry.after != SessionAttempt.SERVED_OUTCOME:  # the 120 seconds are a SHOULD
        if _is_retry_wait_too_long(sut):
            judge.mark_not_exercised(
                *RETRY_RULES, "MQSO-5.5.5-03", "MQSO-6.6.2-D06", reason=UNACCELERATED_RETRY_WAIT_TOO_LONG_REASON
            )
            return
        retry = _observe_retry(peer, sut, damaged, sut.duration_ms(FIRST_RETRY_INTERVAL_MS), LATER_RETRY_INTERVAL_MS)
    judge(
        *RETRY_RULES,
        expected=SessionAttempt.SERVED_OUTCOME,
        observed=retry.after,
        evidence=retry.evidence,
        case="session request after the retry",
    )
    if damaged.pinged[0] and retry.after == SessionAttempt.SERVED_OUTCOME:
        ping = ping_sut(peer)
        judge(
            "MQSO-6.6.2-D06",
            expected=True,
            observed=ping.is_answered,
            case="a ping is answered after the retry",
            evidence=[ping.sent],
        )
    else:
        judge.mark_not_exercised("MQSO-6.6.2-D06", reason="the SUT answers no pings, or did not start again")
    stored_labels = sut.labels(damaged.queue) if sut.attempt("get_queue", name=damaged.queue) == Outcome.DONE else []
    judge(
        "MQSO-5.5.5-03", expected=["kept"], observed=stored_labels, evidence=retry.evidence, case="labels in the queue"
    )


@needs("environment", "restart", "set_timers", "send", "receive", "queues")
@covers("MQDMPR-3.1.3-30", "MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02", "MQSO-5.5.5-03")
@covers(*LATER_RETRY_RULES, *REPEATED_RETRY_RULES)
def test_second_start_retry_is_after_900_seconds(peer, sut, judge):
    """A SUT whose start and first retry fail serves no requests for a further 900 seconds. After that time, it serves
    requests if the store has been repaired.
    """
    retry_rules = (*LATER_RETRY_RULES, *REPEATED_RETRY_RULES)
    rules = ("MQDMPR-3.1.3-30", "MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02", "MQSO-5.5.5-03", *retry_rules)
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    if _is_retry_wait_too_long(sut):
        judge.mark_not_exercised(*rules, reason=UNACCELERATED_RETRY_WAIT_TOO_LONG_REASON)
        return
    damaged = _start_on_damaged_store(peer, sut, judge, rules)
    if damaged is None:
        return
    first_ms, later_ms = sut.duration_ms(FIRST_RETRY_INTERVAL_MS), sut.duration_ms(LATER_RETRY_INTERVAL_MS)
    peer.pass_time_until(damaged.began_ms + first_ms + sut.slack_ms(FIRST_RETRY_INTERVAL_MS), 0)
    attempt = SessionAttempt(peer)
    _judge_that_shown_state_is_stopped(judge, read_shown_state(sut), "failed retry")
    judge(
        "MQDMPR-3.1.3-30",
        "MQSO-5.1.1.1-01",
        "MQSO-5.1.1.1-02",
        "MQSO-5.5.5-03",
        expected=SessionAttempt.NOT_SERVED_OUTCOME,
        observed=attempt.outcome,
        evidence=attempt.evidence,
        case="session request before the second retry",
    )
    judge(
        "MQDMPR-3.1.3-30",
        expected=Outcome.REFUSED,
        observed=sut.attempt("peek", queue=damaged.queue),
        case="request of the application before the second retry",
    )
    peer.pass_time_until(damaged.began_ms + first_ms + int(SHARE_OF_RETRY_INTERVAL_BEFORE_REPAIR * later_ms), 0)
    if _repair_store_before_retry(peer, sut, judge, damaged.start_requested_at_ms + first_ms + later_ms, retry_rules):
        retry = _observe_retry(peer, sut, damaged, first_ms, LATER_RETRY_INTERVAL_MS)
        _judge_retry_time(judge, LATER_RETRY_RULES, retry)
        judge(
            *REPEATED_RETRY_RULES,
            expected=SessionAttempt.SERVED_OUTCOME,
            observed=retry.after,
            evidence=retry.evidence,
            case="session request after the retry",
        )


@needs("environment", "restart", "set_timers", "send", "receive", "queues")
@covers(*LATER_RETRY_RULES)
def test_third_start_retry_is_900_seconds_after_second(peer, sut, judge):
    """A SUT whose start and first two retries fail serves requests 900 seconds after its second retry if the store has
    been repaired.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    if _is_retry_wait_too_long(sut, retries=2):
        judge.mark_not_exercised(*LATER_RETRY_RULES, reason=UNACCELERATED_RETRY_WAIT_TOO_LONG_REASON)
        return
    damaged = _start_on_damaged_store(peer, sut, judge, LATER_RETRY_RULES)
    if damaged is None:
        return
    later_ms = sut.duration_ms(LATER_RETRY_INTERVAL_MS)
    earlier_ms = sut.duration_ms(FIRST_RETRY_INTERVAL_MS) + later_ms
    peer.pass_time_until(damaged.began_ms + earlier_ms + int(SHARE_OF_RETRY_INTERVAL_BEFORE_REPAIR * later_ms), 0)
    due_ms = damaged.start_requested_at_ms + earlier_ms + later_ms
    if _repair_store_before_retry(peer, sut, judge, due_ms, LATER_RETRY_RULES):
        _judge_retry_time(
            judge, LATER_RETRY_RULES, _observe_retry(peer, sut, damaged, earlier_ms, LATER_RETRY_INTERVAL_MS)
        )


@needs("environment", "restart", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-02")
def test_repairable_store_is_repaired_before_serving(peer, sut, judge):
    """The SUT is started with a stored counter of queue numbers that is too low. It still has its old queue with the
    message. It assigns a different number to a new queue, even after a further restart.
    """
    queue = sut.new_queue("had")
    sut.send_here(queue, ["kept"], delivery="recoverable")
    sut.change_environment(configuration=False)
    sut.control.call("restart")
    attempt = SessionAttempt(peer)
    if attempt.outcome != SessionAttempt.SERVED_OUTCOME:
        judge.mark_not_exercised("MQSO-5.5.5-02", reason="the SUT cannot repair this damage and stops (MS-MQSO 5.5.5)")
        return
    if sut.attempt("get_queue", name=queue) != Outcome.DONE:
        judge.all(expected=holds("the old queue is listed"), observed=False, evidence=attempt.evidence)
        return
    new = sut.new_queue("made")
    for name, label in ((new, "new"), (queue, "again")):
        sut.send(sut.private_format_name(name), label=label, body=label, delivery="recoverable")
    for _ in range(2):
        observed = {
            key: sut.labels(name) if sut.attempt("get_queue", name=name) == Outcome.DONE else []
            for key, name in (("labels_in_the_old_queue", queue), ("labels_in_the_new_queue", new))
        }
        judge.all(
            expected=facts(labels_in_the_old_queue=["kept", "again"], labels_in_the_new_queue=["new"]),
            observed=observed,
            evidence=attempt.evidence,
        )
        sut.restart()
    sut.change_environment(configuration=True)


@needs("environment", "restart", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-02")
def test_store_that_is_damaged_again_is_repaired_again(peer, sut, judge):
    """The stored configuration of the queues is damaged twice, in two ways if the agent knows several. Each time, the
    SUT is restarted, still has its queues with their messages, and creates a queue of each kind. The private format
    names of all queues differ, and each queue gets only its own message.
    """
    queues = [sut.new_queue("had"), sut.new_queue("had-too", transactional=True)]
    evidence = []
    for _ in range(2):
        sut.change_environment(configuration=False)
        sut.control.call("restart")
        attempt = SessionAttempt(peer)
        evidence += attempt.evidence
        if attempt.outcome != SessionAttempt.SERVED_OUTCOME:
            reason = "the SUT cannot repair this damage and stops (MS-MQSO 5.5.5)"
            judge.mark_not_exercised("MQSO-5.5.5-02", reason=reason)
            return
        queues += [sut.new_queue("made"), sut.new_queue("made-too", transactional=True)]
        sends = {
            queue: sut.attempt(
                sut.send,
                sut.private_format_name(queue),
                label=queue,
                body=queue,
                delivery="transactional" if "too" in queue else "recoverable",
            )
            for queue in queues[-4:]
        }
        judge(
            "MQSO-5.5.5-02",
            expected=facts(
                different_format_names=len(queues),
                sends=each(Outcome.DONE),
                labels={queue: each(queue) for queue in queues[-4:]},
            ),
            observed={
                "different_format_names": len({sut.private_format_name(queue).lower() for queue in queues}),
                "sends": sends,
                "labels": {queue: sut.labels(queue) for queue in queues[-4:]},
            },
            evidence=evidence,
        )
        sut.change_environment(configuration=True)
