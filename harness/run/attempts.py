"""Repeat a check that failed or broke off while the system or this machine stalled, or while a clock jumped.

During a stall, timers expire earlier than the check expects, and the peer answers late. When a clock jumps, messages
expire, and measured times are wrong. A failure that the system causes occurs in every attempt; a failure that the
environment causes does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from harness.judging.robustness import ROBUSTNESS_DOCUMENT
from harness.judging.verdicts import (
    RUN_FAILING_VERDICTS,
    VERDICTS_OF_BROKEN_RULES,
    VERDICTS_TO_EXAMINE,
    Verdict,
    VerdictEntry,
)
from harness.run.check_prerequisites import CheckPrerequisites
from harness.run.checks import find_covered_rules, get_check_id
from harness.run.stash import (
    ATTEMPT_KEY,
    CHECK_PREREQUISITES_KEY,
    DRIVER_KEY,
    IS_CHECK_REPEATED_ALONE_KEY,
    ROOT_CAUSES_KEY,
    RUN_KEY,
    VERDICT_LOG_KEY,
    release_packets,
)
from harness.run.system_prerequisites import mark_verdicts_doubtful_after_missing_prerequisite
from harness.sut.external_driver import ExternalDriver

MAX_ATTEMPTS = 4
ATTEMPTS_ON_SLOW_SYSTEM = 2
"""The maximum number of attempts at a check if the system did not stall but answers slowly."""

VerdictsAndReportsOfAttempt = tuple[list[VerdictEntry], list[Any]]
"""One attempt at a check: the verdicts of the attempt, and pytest's reports."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a check of a real system. Repeat the check if it failed or broke off during a stall. At the end, write
    the verdicts.
    """
    driver = item.config.stash.get(DRIVER_KEY, None)
    if get_check_id(item) is None or not isinstance(driver, ExternalDriver):
        return None
    log, hook, tried, doubts = (
        item.config.stash[VERDICT_LOG_KEY],
        item.ihook,
        list[VerdictsAndReportsOfAttempt](),
        AttemptDisturbances(),
    )
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for number in range(MAX_ATTEMPTS):
        entries: list[VerdictEntry] = []
        item.config.stash[VERDICT_LOG_KEY], item.stash[ATTEMPT_KEY] = entries, number
        driver.vital_signs.slow_timers_for_slow_system(number > 0)
        tried.append((entries, run_check_once(item, nextitem, again=number > 0)))
        now = AttemptDisturbances(driver.vital_signs.stall_ms, driver.vital_signs.clock_jump_ms)
        doubts = doubts.combine_with_other_attempt(now)
        excused = now != AttemptDisturbances() or (
            driver.timeouts.are_answers_slow and number + 1 < ATTEMPTS_ON_SLOW_SYSTEM
        )
        dead = any(entry.document == ROBUSTNESS_DOCUMENT for entry in entries)
        own = [entry for entry in entries if entry.rule in find_covered_rules(item)]  # a stall makes no packet wrong
        if (
            not excused
            or dead
            or driver.describe_end() is not None
            or item.stash.get(IS_CHECK_REPEATED_ALONE_KEY, False)
            or not has_bad_verdict(own)
        ):
            break
    driver.vital_signs.slow_timers_for_slow_system(False)
    item.config.stash[VERDICT_LOG_KEY] = log
    entries, reports = choose_result_of_attempts(tried, doubts, steady=now == AttemptDisturbances())
    release_packets(item)
    if not item.stash.get(IS_CHECK_REPEATED_ALONE_KEY, False):
        run, rests = item.config.stash[RUN_KEY], item.stash.get(CHECK_PREREQUISITES_KEY, CheckPrerequisites())
        entries = change_reports(
            entries,
            mark_verdicts_doubtful_after_missing_prerequisite(
                entries, rests, run.system_prerequisites, driver, item.config.stash[ROOT_CAUSES_KEY]
            ),
            reports,
        )
    log.extend(entries)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@dataclass(frozen=True, slots=True)
class AttemptDisturbances:
    """The longest stall and the largest clock jump during an attempt. Either of them may have invalidated the
    verdicts of the attempt.
    """

    stall_ms: int = 0
    clock_jump_ms: int = 0

    def combine_with_other_attempt(self, other: AttemptDisturbances) -> AttemptDisturbances:
        """Combine the disturbances of two attempts: return the longer stall and the larger clock jump."""
        return AttemptDisturbances(max(self.stall_ms, other.stall_ms), max(self.clock_jump_ms, other.clock_jump_ms))

    def __str__(self) -> str:
        if self.clock_jump_ms:
            return f"the clock of this machine jumped by {self.clock_jump_ms // 1_000:,} s"
        return f"the system was slow or stalled, for up to {self.stall_ms:,} ms"


def run_check_once(item: pytest.Item, nextitem: pytest.Item | None, again: bool) -> list[Any]:
    """Run a check once with new fixtures. Return pytest's reports without publishing them."""
    if again:
        item._initrequest()  # type: ignore[attr-defined] # as pytest itself does for the first attempt
    return list(runtestprotocol(item, log=False, nextitem=nextitem))


def has_bad_verdict(entries: list[VerdictEntry]) -> bool:
    """Return whether an attempt has a verdict that a person should examine."""
    return any(entry.verdict in VERDICTS_TO_EXAMINE for entry in entries)


def choose_result_of_attempts(
    attempts: list[VerdictsAndReportsOfAttempt], doubts: AttemptDisturbances, *, steady: bool = False
) -> VerdictsAndReportsOfAttempt:
    """Return the verdicts and reports of the last attempt. A failure in the last attempt becomes inconclusive
    unless the same rule failed in every attempt.

    ``steady`` states whether the last attempt had no stall. If it had none, a rule that was inconclusive in an
    earlier attempt also counts as failed in that attempt, because a check that measures a duration breaks off
    during a stall (harness/peer/durations.py).
    """
    entries, reports = attempts[-1]
    if len(attempts) == 1 or not has_bad_verdict(entries):
        return entries, reports
    against = (*VERDICTS_OF_BROKEN_RULES, Verdict.INCONCLUSIVE) if steady else VERDICTS_OF_BROKEN_RULES
    missed = [{entry.rule for entry in tried if entry.verdict in against} for tried, _ in attempts]
    always = set.intersection(*missed)
    reason = f"{doubts}, in {len(attempts)} attempts"
    return [_make_inconclusive(entry, reason) if entry.rule not in always else entry for entry in entries], reports


def change_reports(entries: list[VerdictEntry], doubtful: list[VerdictEntry], reports: list[Any]) -> list[VerdictEntry]:
    """Return the verdicts of a check after some of them became inconclusive (``doubtful``), and change pytest's
    report of the check accordingly.
    """
    if doubtful is not entries:
        bad = [entry for entry in doubtful if entry.verdict in RUN_FAILING_VERDICTS]
        said = [f"{entry.rule} {entry.verdict}" for entry in bad]
        reasons = dict.fromkeys(entry.reason for entry in bad if entry.reason)
        for report in reports:
            if report.when == "call" and report.failed and isinstance(report.longrepr, str):
                _, *sentences = report.longrepr.splitlines()
                report.longrepr = "\n".join(["; ".join([", ".join(sorted(said)), *reasons]), *sentences])
    return doubtful


def _make_inconclusive(entry: VerdictEntry, reason: str) -> VerdictEntry:
    if entry.verdict not in VERDICTS_OF_BROKEN_RULES:
        return entry
    return replace(entry, verdict=Verdict.INCONCLUSIVE, reason=f"{reason}, and not every attempt failed this rule")
