"""Read a run folder: the tested system, and the final verdict for every rule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.judging.verdicts import Verdict, read_verdicts
from harness.printable import one_line
from harness.run.results import RuleResult, find_final_results
from harness.run_folder import RUN_FILE, VERDICTS_FILE

MAX_SYSTEM_TEXT_CHARACTERS, MAX_REASON_CHARACTERS = 200, 500
"""The maximum lengths, in characters, of texts from a run folder that are displayed. Texts are truncated, because
their author is unknown.
"""


@dataclass(frozen=True, slots=True)
class RunResults:
    """The results of a run. ``run``: the content of run.json. ``rules``: the final verdict of each rule.
    ``failing_checks_by_rule``: for each failing rule, the checks (with parameters) in which it fails. ``checks``: all
    checks that ran.
    """

    folder: Path
    run: dict[str, Any]
    rules: dict[str, RuleResult]
    failing_checks_by_rule: dict[str, frozenset[str]]
    checks: frozenset[str]

    @property
    def system(self) -> str:
        """The name, version and profile of the tested system."""
        return get_tested_system(self.run)

    @property
    def reason_for_partial_run(self) -> str | None:
        """The reason why the run is partial, or None if the run is complete."""
        return get_partial_reason(self.run)

    @property
    def ended_early(self) -> bool:
        """Whether the run ended before all selected checks had run."""
        return bool(self.run.get("aborted")) or not self.run.get("finished")


def get_tested_system(run: Mapping[str, Any]) -> str:
    """Return the name, version and profile of the system, from run.json."""
    sut = run["sut"]
    named = (str(sut[key]) for key in ("name", "version", "profile") if sut.get(key) not in (None, "none"))
    return one_line(" ".join(named), MAX_SYSTEM_TEXT_CHARACTERS)


def get_partial_reason(run: Mapping[str, Any]) -> str | None:
    """Return the reason why the run that run.json describes is partial, or None if the run is complete."""
    if run.get("aborted"):
        return one_line(str(run["aborted"]), MAX_REASON_CHARACTERS)
    if not run.get("finished"):
        return "the run has not finished"
    selection = str(run.get("selection", "all"))
    return None if selection == "all" else one_line(f"only {selection}", MAX_REASON_CHARACTERS)


def read_run_json(folder: Path) -> dict[str, Any]:
    """Read run.json of a run folder; raise UsageError if the file is missing or invalid."""
    path = folder / RUN_FILE
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{folder} is not a run folder, because {RUN_FILE} cannot be read: {error.strerror}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is truncated or broken, and not JSON: {error}") from error
    sut = run.get("sut") if isinstance(run, dict) else None
    if not isinstance(sut, dict) or not isinstance(sut.get("name"), str):
        raise UsageError(f"{path} is not a {RUN_FILE} of this harness: sut.name is missing")
    return dict(run)


def read_run(folder: Path) -> RunResults:
    """Read a run folder; raise UsageError, which names the file, if a file is missing or invalid."""
    run = read_run_json(folder)
    verdicts, checks, failing = folder / VERDICTS_FILE, set[str](), dict[str, set[str]]()

    def note_lines(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for line in lines:
            checks.update(filter(None, [line["test"]]))
            if line["verdict"] == Verdict.FAIL:
                failing.setdefault(line["rule"], set()).add(line["test"] or "")
            yield line

    try:
        rules = {one.rule: one for one in find_final_results(note_lines(read_verdicts(verdicts)))}
    except OSError as error:
        raise UsageError(f"{verdicts} cannot be read: {error.strerror}") from error
    failing_checks = {rule: frozenset(tests) for rule, tests in failing.items()}
    return RunResults(folder, run, rules, failing_checks, frozenset(checks))
