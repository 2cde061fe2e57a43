"""A run folder as its readers need it: the tested system, and the final verdict of every rule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.judging.verdicts import Verdict, read_verdicts
from harness.printable import one_line
from harness.run.results import RuleResult, standing
from harness.run_folder import RUN_FILE, VERDICTS_FILE

LONGEST_SYSTEM, LONGEST_REASON = 200, 500
"""The number of shown characters of a run folder, whose author is unknown."""


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run. ``failing``: of each rule that fails, the checks (with parameters) in which it does; ``checks``: all."""

    folder: Path
    run: dict[str, Any]
    rules: dict[str, RuleResult]
    failing: dict[str, frozenset[str]]
    checks: frozenset[str]

    @property
    def system(self) -> str:
        """The system's name, version and profile."""
        return system_of(self.run)

    @property
    def partial(self) -> str | None:
        """Why this is a part of a run; None when it is a whole one."""
        return partial_of(self.run)

    @property
    def ended_early(self) -> bool:
        """Whether it made less than it was asked for."""
        return bool(self.run.get("aborted")) or not self.run.get("finished")


def system_of(run: Mapping[str, Any]) -> str:
    """Return the name, version and profile of the system that run.json is of."""
    sut = run["sut"]
    named = (str(sut[key]) for key in ("name", "version", "profile") if sut.get(key) not in (None, "none"))
    return one_line(" ".join(named), LONGEST_SYSTEM)


def partial_of(run: Mapping[str, Any]) -> str | None:
    """Return why run.json is of a part of a run; None when it is of a whole one."""
    if run.get("aborted"):
        return one_line(str(run["aborted"]), LONGEST_REASON)
    if not run.get("finished"):
        return "the run has not finished"
    selection = str(run.get("selection", "all"))
    return None if selection == "all" else one_line(f"only {selection}", LONGEST_REASON)


def read_run_json(folder: Path) -> dict[str, Any]:
    """Read run.json of a run folder; UsageError when it is missing or broken."""
    path = folder / RUN_FILE
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{folder}: holds no run: {RUN_FILE}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is cut or broken, it is not JSON: {error}") from error
    sut = run.get("sut") if isinstance(run, dict) else None
    if not isinstance(sut, dict) or not isinstance(sut.get("name"), str):
        raise UsageError(f"{path}: is no {RUN_FILE} of this harness: it does not name a system (sut.name)")
    return dict(run)


def read_run(folder: Path) -> RunResults:
    """Read a run folder; UsageError names a missing or broken file."""
    run = read_run_json(folder)
    verdicts, checks, failing = folder / VERDICTS_FILE, set[str](), dict[str, set[str]]()

    def note_lines(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for line in lines:
            checks.update(filter(None, [line["test"]]))
            if line["verdict"] == Verdict.FAIL:
                failing.setdefault(line["rule"], set()).add(line["test"] or "")
            yield line

    try:
        rules = {one.rule: one for one in standing(note_lines(read_verdicts(verdicts)))}
    except OSError as error:
        raise UsageError(f"{verdicts}: cannot be read: {error.strerror}") from error
    failing_checks = {rule: frozenset(tests) for rule, tests in failing.items()}
    return RunResults(folder, run, rules, failing_checks, frozenset(checks))
