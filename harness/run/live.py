"""Show the progress of ``mqconform run``: the number of finished checks, the remaining time, and each failing rule.

On a terminal, one line is updated. In a file, a line is added every half minute, so that a CI job shows activity.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from harness.judging.verdicts import DECIDED_VERDICTS, RUN_FAILING_VERDICTS, Verdict

if TYPE_CHECKING:
    from harness.run.run import ConformanceRun

PIPED_UPDATE_INTERVAL_S = 30.0
TERMINAL_UPDATE_INTERVAL_S = 0.5
MAX_SHOWN_FINDINGS = 50
"""The maximum number of rules that are printed during the run. The final summary lists all rules."""


class LiveProgress:
    """The progress display, which replaces pytest's dots. ``write`` is a function that prints a permanent line.
    ``rewrite`` is a function that prints a line which the next line replaces.
    """

    def __init__(self, run: ConformanceRun, reporter: Any, clock: Any = time.monotonic) -> None:
        self.run = run
        self._reporter = reporter
        self._terminal = bool(reporter.isatty)
        self._clock = clock
        self._start_time = self._last_progress_time = clock()
        self._checks = self._done = 0
        self._printed_finding_count = self._roots = self._seen_bad_verdict_count = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Count a report as pytest does, but print no letter for it."""
        if report.when != "call" and report.passed:
            return "", "", ""
        return ("error" if report.failed and report.when != "call" else report.outcome), "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Make pytest report an interruption by the user without the line of code that was interrupted."""
        if excinfo.type is KeyboardInterrupt:  # pytest's own interruptions state their reason
            self._reporter._keyboardinterrupt_memo = SimpleNamespace(reprcrash=SimpleNamespace(message="interrupted"))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Store the number of collected checks."""
        self._checks = len(session.items)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Print the new verdicts of a finished check, and the progress."""
        self._done += 1
        for root in [*self.run.root_causes.root_cause_by_subject.values()][self._roots :]:
            self._roots += 1
            self._print_line(root.line_when_found, for_good=True)
        rests = self.run.root_causes.find_root_cause_of_check(nodeid) is not None
        for rule, verdict in dict(self.run.verdict_log.turned_bad[self._seen_bad_verdict_count :]).items():
            if verdict is Verdict.INCONCLUSIVE and rests:
                continue
            if not self.run.is_known_deviation(rule, verdict):
                self._print_finding(rule, verdict, nodeid)
        self._seen_bad_verdict_count = len(self.run.verdict_log.turned_bad)
        now = self._clock()
        if now - self._last_progress_time >= (
            TERMINAL_UPDATE_INTERVAL_S if self._terminal else PIPED_UPDATE_INTERVAL_S
        ):
            self._last_progress_time = now
            self._print_line(self.progress(), for_good=not self._terminal)

    def progress(self) -> str:
        """Return one line with the progress of the run."""
        rules = self.run.verdict_log.rules.values()
        counts = "".join(
            f", {number} {one}" for one in RUN_FAILING_VERDICTS if (number := sum(rule is one for rule in rules))
        )
        judged = sum(rule in DECIDED_VERDICTS for rule in rules)
        spent = self._clock() - self._start_time
        left = spent * (self._checks - self._done) / self._done if self._done else 0.0
        return (
            f"{self._done:,} of {self._checks:,} checks, {judged:,} rules judged{counts}; "
            f"{_format_duration(spent)} spent, about {_format_duration(left)} left"
        )

    def _print_finding(self, rule: str, verdict: Verdict, check: str) -> None:
        self._printed_finding_count += 1
        if self._printed_finding_count <= MAX_SHOWN_FINDINGS:
            row = self.run.catalogue.get(rule)
            says = f"  {row.says}" if row is not None else ""
            self._print_line(f"{verdict} {rule} ({check.rpartition('/')[2]}){says}", for_good=True)
        elif self._printed_finding_count == MAX_SHOWN_FINDINGS + 1:
            self._print_line(
                f"more than {MAX_SHOWN_FINDINGS} bad verdicts: the summary at the end lists all of them", for_good=True
            )

    def _print_line(self, line: str, *, for_good: bool) -> None:
        if self._terminal:
            self._reporter.rewrite(line[: self._terminal_width] if not for_good else line, erase=True)
            if for_good:
                self._reporter.write_line("")
        else:
            self._reporter.write_line(line)
            self._reporter.flush()

    @property
    def _terminal_width(self) -> int:
        return max(20, int(self._reporter._tw.fullwidth) - 1)


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes >= 10 else f"{minutes} min {rest} s"
