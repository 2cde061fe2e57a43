"""Replay a run. The checks run again on the captures of the run, and their verdicts are compared with the verdicts
of the run.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from harness.errors import UsageError
from harness.judging.verdicts import Verdict, read_verdicts
from harness.printable import one_line
from harness.run.checks import get_check_id
from harness.run.evidence import format_frame_numbers
from harness.run.options import build_pytest_arguments
from harness.run.stash import DRIVER_KEY, RUN_KEY
from harness.run_folder import VERDICTS_FILE
from harness.sut.replay_driver import ReplayDriver

REASON_CHECK_NOT_IN_SUITES = "the suites do not contain this check"
REASON_DEADLINE_PASSED_BEFORE_CHECK = "the deadline passed before the check was started"
_LONGEST_OBSERVED_CHARACTERS = 200
ReportReplayProgress = Callable[[int, int], None]
"""The type of functions that are called with the number of replayed checks and the number of all checks."""


class CheckVerdict(NamedTuple):
    """The verdict that a check gave for a rule. ``advice``: whether the SHOULD in the rule's sentence was followed."""

    rule: str
    verdict: str
    advice: str | None


class ReplayDifference(NamedTuple):
    """A difference between the verdicts that a check gave for a rule in the run and in the replay, as texts.
    ``fails_only_in_replay``: whether the rule fails only in the replay.
    """

    rule: str
    verdict_in_run: str
    verdict_in_replay: str
    fails_only_in_replay: bool


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay. ``checks_with_same_verdicts``: the checks whose verdicts are the same as in the run.
    ``differences_by_check``: by check, the differences. ``reason_by_unplayable_check``: by check, the reason why the
    check cannot be replayed.
    """

    checks_with_same_verdicts: frozenset[str]
    differences_by_check: dict[str, list[ReplayDifference]]
    reason_by_unplayable_check: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        differing = {
            test: [
                {"rule": one.rule, "run": one.verdict_in_run, "replay": one.verdict_in_replay} for one in differences
            ]
            for test, differences in self.differences_by_check.items()
        }
        return {
            "alike": sorted(self.checks_with_same_verdicts),
            "differing": differing,
            "unplayable": self.reason_by_unplayable_check,
        }


def replay_checks_of_run(
    folder: Path,
    rules: Sequence[str] = (),
    keyword: str | None = None,
    out: Path | None = None,
    progress: ReportReplayProgress = lambda done, of: None,
    deadline_s: int | None = None,
) -> ReplayResult:
    """Replay all checks of a run folder, or only the checks that have a verdict for a given rule. ``out``: the
    folder to which the replay is written. No check is started after ``deadline_s``. Raise UsageError if the run
    cannot be replayed.
    """
    watch = _CheckRecorder(progress)
    given = [word for rule in rules for word in ("--rule", rule)] + (["-k", keyword] if keyword else [])
    given += ["--deadline", str(deadline_s)] if deadline_s else []
    with TemporaryDirectory(prefix="mqconform-replay-") as temporary:
        made = out or Path(temporary) / "run"
        given += ["--replay", str(folder), "--out", str(made), "-p", "no:terminal", "-p", "no:junitxml"]
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            code = pytest.main([*build_pytest_arguments(), "--disable-plugin-autoload", *given], [watch])
        if code == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if not watch.begun:
            raise UsageError(
                said.getvalue().strip().rpartition("\n")[2].removeprefix("ERROR: ")
                or "the replay ended before the first check was started"
            )
        now = _read_verdicts_by_check(made)
    was = _read_verdicts_by_check(folder)
    missing = set[str]() if keyword else watch.wanted - watch.collected
    unplayable = dict.fromkeys(missing, REASON_CHECK_NOT_IN_SUITES) | dict.fromkeys(
        watch.collected - watch.begun, REASON_DEADLINE_PASSED_BEFORE_CHECK
    )
    unplayable |= watch.unplayable
    found = {test: _list_differences(was[test], now.get(test, {})) for test in watch.collected - unplayable.keys()}
    return ReplayResult(
        frozenset(test for test, differences in found.items() if not differences),
        {test: differences for test, differences in sorted(found.items()) if differences},
        dict(sorted(unplayable.items())),
    )


class _CheckRecorder:
    """A pytest plugin that records which checks a session collects, which of them begin, and why the others cannot be
    replayed.
    """

    def __init__(self, progress: ReportReplayProgress) -> None:
        self.collected = set[str]()
        self.wanted = set[str]()
        self.unplayable = dict[str, str]()
        self.begun = set[str]()
        self._progress = progress
        self._done = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = {path for item in session.items if (path := get_check_id(item)) is not None}

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        self._progress(self._done, len(self.collected))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        run, driver = session.config.stash.get(RUN_KEY, None), session.config.stash.get(DRIVER_KEY, None)
        if run is not None and isinstance(driver, ReplayDriver):  # a selection that matches no check has no run
            self.wanted, self.unplayable = set(driver.captures), dict(driver.differences)
            self.begun = run.ids_of_run_checks


_VerdictsByCheck = Mapping[str, Sequence[tuple[CheckVerdict, str]]]
"""The verdicts of one check, by rule. Each verdict is paired with the text that describes it in reports."""


def _read_verdicts_by_check(folder: Path) -> dict[str, dict[str, list[tuple[CheckVerdict, str]]]]:
    """Return the verdicts of a run folder by check and rule."""
    found: dict[str, dict[str, list[tuple[CheckVerdict, str]]]] = {}
    for line in read_verdicts(folder / VERDICTS_FILE):
        if isinstance(test := line["test"], str):
            judged = CheckVerdict(str(line["rule"]), str(line["verdict"]), line["advice"])
            found.setdefault(test, {}).setdefault(judged.rule, []).append((judged, _describe_verdict(line)))
    return found


def _describe_verdict(line: Mapping[str, Any]) -> str:
    frames = format_frame_numbers(line)
    why = line["reason"] or line["observed"]
    return one_line(f"{line['verdict']}{f', {frames}' if frames else ''}: {why}", _LONGEST_OBSERVED_CHARACTERS)


def _list_differences(was: _VerdictsByCheck, now: _VerdictsByCheck) -> list[ReplayDifference]:
    """Return, in the order of rule ids, the differences between the verdicts in the run and in the replay. Each
    difference contains the first verdict that only the run has, and the first verdict that only the replay has.
    """
    differences = []
    for rule in sorted(was.keys() | now.keys()):
        before, after = was.get(rule, ()), now.get(rule, ())
        lost, new = (Counter(one for one, _ in side) for side in (before, after))
        if lost != new:
            fails = [any(one.verdict == Verdict.FAIL for one in side) for side in (lost, new)]
            differences.append(
                ReplayDifference(
                    rule,
                    _show_first_verdict_in(before, lost - new),
                    _show_first_verdict_in(after, new - lost),
                    fails == [False, True],
                )
            )
    return differences


def _show_first_verdict_in(found: Sequence[tuple[CheckVerdict, str]], only: Counter[CheckVerdict]) -> str:
    return next((shown for one, shown in found if one in only), "no other verdict")
