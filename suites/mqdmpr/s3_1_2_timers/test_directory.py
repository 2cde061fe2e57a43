"""MS-MQDMPR 3.1.2 Timers: the timers of sites, site gates and the directory."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, each, holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome

MINUTE_MS, HOUR_MS = 60_000, 3_600_000


SITES_UPDATE_TIMER_MS, SITE_GATES_UPDATE_TIMER_MS = 12 * HOUR_MS, HOUR_MS


@needs("inspect", "restart", "directory")
@covers("MQDMPR-3.1.3-D11", "MQDMPR-3.1.2.1-01", "MQDMPR-3.1.2.2-01")
def test_site_and_gate_timers_run_after_start(sut, judge):
    """After a restart the Directory Sites Update Timer runs for 12 hours and the Directory Site Gates Update Timer for
    one hour.
    """
    sut.restart()
    timers = sut.inspect_queue_manager()["timers"]
    observed = {name: timers[name] for name in ("DirectorySitesUpdate", "DirectorySiteGatesUpdate")}
    running = {name: value is not None for name, value in observed.items()}
    judge("MQDMPR-3.1.3-D11", expected=each(holds("running"), "timer"), observed=running)
    for rule, name, default_ms in (
        ("MQDMPR-3.1.2.1-01", "DirectorySitesUpdate", SITES_UPDATE_TIMER_MS),
        ("MQDMPR-3.1.2.2-01", "DirectorySiteGatesUpdate", SITE_GATES_UPDATE_TIMER_MS),
    ):
        due_ms = sut.duration_ms(default_ms)
        expected = between(due_ms - sut.slack_ms(0) - sut.response_timeout_ms, due_ms)
        judge(
            rule,
            expected=expected,
            observed=-1 if observed[name] is None else int(observed[name]),
            case=f"remaining time of {name} in ms",
        )


@needs("environment", "queue_control", "directory")
@covers("MQDMPR-3.1.2.5-01", "MQDMPR-3.1.2.5-D01")
@pytest.mark.parametrize("failed", [0, 1, 3], ids=["first contact", "second contact", "fourth contact"])
def test_unavailable_directory_is_contacted_after_a_minute(peer, sut, judge, failed):
    """The label of a queue is changed in the directory while the SUT cannot reach the directory. Then the directory
    becomes available again, before or after a failed attempt of the SUT to reach it. The SUT shows the new label only
    when the Directory Online Timer has expired, after a minute. The check repeats these steps in a second outage.
    """
    name = f"mqc-{sut.own}-away"
    sut.create_queue(name, label="old label")
    for outage in ("first", "second") if not failed else ("first",):
        _judge_directory_update_after_outage(peer, sut, judge, name, failed, outage)


def _judge_directory_update_after_outage(peer, sut, judge, name, failed, outage):
    """Change the label of a queue while the directory is unavailable, and judge when the SUT shows the change."""
    sut.control.call("set_queue", name=name, label="old label")
    sut.change_environment(directory=False)
    if sut.attempt("set_queue", name=name, label="meanwhile") == Outcome.DONE:
        raise ConformanceFailure("the SUT changed a public queue while its directory is unavailable")
    minute_ms = sut.duration_ms(MINUTE_MS)
    if failed:
        peer.pass_time(failed * minute_ms + sut.slack_ms(MINUTE_MS))
    sut.control.call("environment", directory=True)
    sut.change_directory_object(queue=name, label="new label")
    observed = {}
    waits_ms = {
        "before_the_minute_has_passed": minute_ms * 3 // 4,
        "after_the_minute": minute_ms // 4 + sut.slack_ms(MINUTE_MS),
    }
    for moment, wait_ms in waits_ms.items():
        peer.pass_time(wait_ms)
        observed[moment] = sut.control.call("get_queue", name=name)["label"]
    judge(
        "MQDMPR-3.1.2.5-D01",
        expected="new label",
        observed=observed["after_the_minute"],
        case=f"label of the queue after a minute of the {outage} outage",
    )
    if sut.has("inspect"):
        judge(
            "MQDMPR-3.1.2.5-D01",
            expected=holds("the SUT uses its directory"),
            observed=not sut.inspect_queue_manager()["DirectoryOffline"],
            case=f"DirectoryOffline after a minute of the {outage} outage",
        )
    judge(
        "MQDMPR-3.1.2.5-01",
        expected={"before_the_minute_has_passed": "old label", "after_the_minute": "new label"},
        observed=observed,
        case=f"label of the queue in the {outage} outage",
    )
