"""Record which lines of the reference each check executes in the system under test. The record is valid until the
code changes.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from harness.faults.registry import FaultyCore, add
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES
from harness.mutation.mutants import MUTATED_FOLDER_OUTSIDE_CORE, MUTATED_FOLDERS, REFERENCE_FOLDER, Mutant
from harness.proof.code import compute_code_digest
from harness.proof.trials import VERDICTS_OF_ABORTED_CHECK, RepeatableTrialRunner, TrialVerdict

_RECORDER_NAME = "lines recorded"


@dataclass(frozen=True, slots=True)
class CheckReach:
    """The lines that a check executes in the SUT on the clean reference, and the duration of the check."""

    lines: Mapping[str, frozenset[int]]
    """The line numbers by file."""
    seconds: float
    passes_without_fault: bool

    @property
    def executed_line_count(self) -> int:
        """The number of lines of the reference that the check executes. A check that executes fewer lines is more
        specific.
        """
        return sum(map(len, self.lines.values()))


ReachByCheck = Mapping[str, CheckReach]
"""The lines of the reference that each check executes."""


def list_reaching_checks(mutant: Mutant, reach: ReachByCheck) -> list[str]:
    """Return the checks that pass on the unchanged reference and execute a line which a mutant changes. Checks that
    execute the fewest lines come first.
    """
    lines = set(mutant.lines)
    found = [
        check
        for check, one in reach.items()
        if one.passes_without_fault and lines & one.lines.get(mutant.file, frozenset())
    ]
    return sorted(found, key=lambda check: reach[check].executed_line_count)


def find_unreached_mutants(mutants: Iterable[Mutant], reach: ReachByCheck) -> list[Mutant]:
    """Return the mutants whose changed lines no check executes."""
    run: dict[str, set[int]] = defaultdict(set)
    for check in reach.values():
        for file, lines in check.lines.items():
            run[file] |= lines
    return [mutant for mutant in mutants if run[mutant.file].isdisjoint(mutant.lines)]


def measure_reach(trials: RepeatableTrialRunner, folder: Path) -> ReachByCheck:
    """Return the lines that each check executes. They are read from a record for the same code, or measured if
    there is no such record.
    """
    path, digest = folder / "reach.json", compute_code_digest()
    if path.is_file():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["digest"] == digest:
            return {check: _measure_reach_of_check(*row) for check, row in kept["checks"].items()}
    recorder = LineRecorder()
    add(_RECORDER_NAME, (), "A pseudo-fault that records the executed lines.", recorder.install, around=recorder)

    def record_reach(check: str, lines: list[TrialVerdict], seconds: float) -> tuple[str, tuple[Any, ...]]:
        clean = bool(lines) and not any(
            line.verdict in VERDICTS_OF_BROKEN_RULES + VERDICTS_OF_ABORTED_CHECK for line in lines
        )
        return check, (recorder.take(), seconds, clean)

    rows = dict(trials.run_checks_one_by_one(trials.checks, (_RECORDER_NAME,), record_reach))
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"digest": digest, "checks": rows}), encoding="utf-8")
    return {check: _measure_reach_of_check(*rows[check]) for check in trials.checks}


def _measure_reach_of_check(lines: Mapping[str, Sequence[int]], seconds: float, clean: bool) -> CheckReach:
    return CheckReach({file: frozenset(numbers) for file, numbers in lines.items()}, seconds, clean)


class LineRecorder:
    """A recorder of the lines of the reference that are executed. Inside its context, it records lines of all mutated
    folders; outside the context, it records only lines of the directory service.
    """

    def __init__(self) -> None:
        self._files = {
            str(path): path.relative_to(REFERENCE_FOLDER).as_posix()
            for room in MUTATED_FOLDERS
            for path in (REFERENCE_FOLDER / room).glob("*")
        }
        self._beside = str(REFERENCE_FOLDER / MUTATED_FOLDER_OUTSIDE_CORE)
        self._lines: dict[str, set[int]] = defaultdict(set)

    def install(self, faulty: FaultyCore) -> None:
        faulty.context_of_computation = self
        sys.settrace(self._on_call_outside_context)

    def take(self) -> dict[str, list[int]]:
        """Return the lines that were executed since the previous call."""
        taken = {self._files[name]: sorted(lines) for name, lines in sorted(self._lines.items())}
        self._lines.clear()
        sys.settrace(None)
        return taken

    def __enter__(self) -> None:
        sys.settrace(self._on_call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._on_call_outside_context)

    def _on_call_outside_context(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._on_call(frame, event, argument) if frame.f_code.co_filename.startswith(self._beside) else None

    def _on_call(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        add_line = self._lines[frame.f_code.co_filename].add

        def on_line(frame: FrameType, event: str, argument: object) -> Any:
            add_line(frame.f_lineno)
            return on_line

        add_line(frame.f_lineno)
        return on_line
