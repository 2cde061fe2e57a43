"""MS-MQDMPR 3.1.7.1.20 Read Directory: an outage of the directory that a timer of the SUT finds."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

OUTAGE_RULES = ("MQDMPR-3.1.7.1.20-25", "MQDMPR-3.1.7.1.20-26")
LONGEST_WAIT_MS = 120_000
"""The longest time in ms that the check waits when it cannot speed up the timers."""


@needs("directory", "environment", "inspect", "set_timers")
@covers(*OUTAGE_RULES)
def test_outage_is_noticed_by_read_of_gates(peer, sut, judge):
    """The directory becomes unavailable while no application uses it. When the timer of the site gates has expired, the
    SUT has set DirectoryOffline, and its Directory Online Timer runs.
    """
    enterprise = Enterprise(peer, sut)
    left_ms = int(sut.inspect_queue_manager()["timers"]["DirectorySiteGatesUpdate"] or 0)
    if not left_ms or (not sut.environment.virtual and left_ms > LONGEST_WAIT_MS):
        judge.mark_not_exercised(*OUTAGE_RULES, reason=f"the SUT reads its gates again after {left_ms // 1_000} s")
        return
    sut.change_environment(directory=False)
    peer.pass_time(left_ms + sut.slack_ms(left_ms) + sut.response_timeout_ms)
    judge(
        "MQDMPR-3.1.7.1.20-25",
        expected=holds("offline", otherwise="online"),
        observed=enterprise.is_offline(),
        case="state of the directory according to the SUT",
    )
    judge(
        "MQDMPR-3.1.7.1.20-26",
        expected=holds("the timer runs", otherwise="the timer does not run"),
        observed=enterprise.get_remaining_online_timer_ms() > 0,
        case="Directory Online Timer",
    )
    sut.change_environment(directory=True)
    enterprise.await_online()
