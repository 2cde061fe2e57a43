"""MS-MQDMPR 3.1.2 Timers: the timers of sites and site gates after the directory was unavailable, and after they have
expired.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import between
from harness.judging.judge import Judge
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqdmpr.steps.directory import Enterprise

HOUR_MS = 3_600_000
DIRECTORY_TIMER_BY_RULE = {
    "MQDMPR-3.1.2.1-01": ("DirectorySitesUpdate", 12 * HOUR_MS),
    "MQDMPR-3.1.2.2-01": ("DirectorySiteGatesUpdate", HOUR_MS),
}
LONGEST_WAIT_MS = 120_000


def _read_remaining_timer_times(sut: Sut) -> dict[str, int]:
    timers = sut.inspect_queue_manager()["timers"]
    return {name: int(timers[name] or 0) for name, _ in DIRECTORY_TIMER_BY_RULE.values()}


def _judge_timer_duration(judge: Judge, sut: Sut, rule: str, since_ms: int, left_ms: int, case: str) -> None:
    """Judge the remaining time of a timer that was started at most ``since_ms`` ago."""
    name, default_ms = DIRECTORY_TIMER_BY_RULE[rule]
    due_ms = sut.duration_ms(default_ms)
    least_ms = due_ms - since_ms - sut.slack_ms(0) - sut.response_timeout_ms
    expected = between(max(0, least_ms), due_ms)
    judge(rule, expected=expected, observed=left_ms, case=f"remaining time of {name} in ms {case}")


@needs("inspect", "environment", "directory", "queue_control", "restart")
@covers(*DIRECTORY_TIMER_BY_RULE)
def test_site_and_gate_timers_have_their_durations_after_outage(peer, sut, judge):
    """The SUT restarts, loses its directory, and uses it again. Whether the SUT then restarts its timers or not, each
    timer has at most its default duration left, and not less than if it had run since the restart.
    """
    enterprise = Enterprise(peer, sut)
    sut.restart()
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT has no directory at the start of the check")
    begun_ms = peer.recorder.elapsed_ms()
    enterprise.go_offline()
    sut.change_environment(directory=True)
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT does not use its directory, which is available again")
    left = _read_remaining_timer_times(sut)
    since_ms = peer.measure_duration(begun_ms).ms
    for rule, (name, _) in DIRECTORY_TIMER_BY_RULE.items():
        _judge_timer_duration(judge, sut, rule, since_ms, left[name], "after an outage")


@needs("inspect", "environment", "directory", "restart")
@covers(*DIRECTORY_TIMER_BY_RULE)
def test_site_and_gate_timers_have_their_durations_after_expiry(peer, sut, judge):
    """When each timer has expired, the timer that the SUT starts next has the same duration as the first."""
    sut.restart()
    for rule, (name, _) in reversed(DIRECTORY_TIMER_BY_RULE.items()):
        left_ms = _read_remaining_timer_times(sut)[name]
        if not sut.environment.is_time_virtual and left_ms > LONGEST_WAIT_MS:
            judge.mark_not_exercised(rule, reason=f"{name} expires only after {left_ms // 1_000} s")
            continue
        wait_ms = sut.slack_ms(left_ms) + sut.response_timeout_ms
        peer.pass_time(left_ms + wait_ms)
        later_ms = _read_remaining_timer_times(sut)[name]
        if later_ms:
            _judge_timer_duration(judge, sut, rule, wait_ms, later_ms, "after its expiry")
        else:
            judge.mark_not_exercised(rule, reason=f"{name} does not run again")
