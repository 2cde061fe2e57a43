"""Measure how many mutants of the reference the checks find (``mqconform mutants``).

A mutant is killed if a check that passes on the clean reference fails a rule on the mutant. A mutant is ``noticed``
if it only ends checks early, by an exception or an endless computation. A run then shows that the system is wrong,
but not which rule it breaks, so the mutant does not count as killed. A mutant is ``unreached`` if no check runs its
lines. All other mutants survive.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from harness.errors import UsageError
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES, Verdict
from harness.mutation.mutants import Mutant
from harness.paths import SUITES
from harness.proof.reach import list_reaching_checks, measure_reach
from harness.proof.trials import VERDICTS_OF_ABORTED_CHECK, RepeatableTrialRunner, Trial, TrialResult, TrialVerdict
from harness.rules.errata import check_table_keys, read_toml

RESULTS_FILE = "results.jsonl"
SURVIVING_MUTANTS_FILE = "survivors.txt"
EFFECTLESS_MUTANTS_FILE = "mutants.toml"
MAX_NOTICED_BROKEN_OFF_RUNS = 12
"""The maximum number of checks that may end early on a mutant because of an exception or an endless computation. After
this number, no further check runs on the mutant.
"""
MAX_SHOWN_LINE_CHARACTERS = 180
"""The maximum number of characters of a changed line that a report shows."""


class MutantResult(StrEnum):
    """The result of running the checks on a mutant."""

    KILLED = "killed"
    NOTICED = "noticed"
    SURVIVED = "survived"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class MutantRunOutcome:
    """One line of the file with the results of mutants."""

    name: str
    source: str
    """The digest of the function's source for which the outcome is valid."""
    fate: MutantResult
    check: str = ""
    rule: str = ""
    why: str = ""
    tried: int = 0
    seconds: float = 0
    left: int = 0
    """The number of checks that run the mutant's lines but were not tried because of the limit."""


@dataclass(slots=True)
class MutantTally:
    """The selected mutants, and the outcomes of the mutants that were run."""

    mutants: list[Mutant]
    outcomes: dict[str, MutantRunOutcome]
    reason_by_effectless_mutant: Mapping[str, str]
    messages_about_effectless_list: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[MutantResult]:
        """The number of mutants with each result, such as killed or noticed."""
        return Counter(self.outcomes[mutant.name].fate for mutant in self.mutants if mutant.name in self.outcomes)

    def compute_score(self, *, effectless: bool, unreached: bool) -> float:
        """Return the share of killed mutants in percent, or 0 if no mutant was run. ``effectless``: whether to
        include mutants that are listed as without effect. ``unreached``: whether to include mutants whose lines no
        check runs.
        """
        run = [self.outcomes[mutant.name] for mutant in self.mutants if mutant.name in self.outcomes]
        killed = sum(one.fate is MutantResult.KILLED for one in run)
        alive = sum(
            one.fate is not MutantResult.KILLED
            and (effectless or one.name not in self.reason_by_effectless_mutant)
            and (unreached or one.fate is not MutantResult.UNREACHED)
            for one in run
        )
        return 100 * killed / (killed + alive) if killed + alive else 0

    def list_survivors(self) -> Iterator[tuple[Mutant, MutantRunOutcome]]:
        """Yield the outcomes of mutants that are neither killed nor listed as without effect."""
        for mutant in sorted(self.mutants, key=lambda one: (one.file, one.line, one.name)):
            outcome = self.outcomes.get(mutant.name)
            if (
                outcome
                and outcome.fate is not MutantResult.KILLED
                and mutant.name not in self.reason_by_effectless_mutant
            ):
                yield mutant, outcome


def load_effectless_mutants(mutants: Iterable[Mutant], root: Path = SUITES) -> tuple[dict[str, str], list[str]]:
    """Read suites/mutants.toml, which lists the mutants without effect. Return the reason for each mutant by its name,
    and a message about each entry whose function no longer contains the change.
    """
    file = root / EFFECTLESS_MUTANTS_FILE
    known = {mutant.name: mutant for mutant in mutants}
    reasons, complaints = {}, []
    for name, row in read_toml(file).items():
        entry = check_table_keys(file, name, row, {"change": str, "why": str}, {})
        if name not in known or describe_change(known[name]) != entry["change"]:
            complaints.append(f"{file.name}: the mutant of the entry {name} no longer exists; remove the entry")
        else:
            reasons[name] = entry["why"]
    return reasons, complaints


def run_mutants(
    trials: RepeatableTrialRunner,
    mutants: Sequence[Mutant],
    folder: Path,
    *,
    again: bool,
    effectless: Collection[str] = (),
    limit: int | None = None,
    most: int | None = None,
    progress: Callable[[Mutant, MutantRunOutcome], None],
) -> dict[str, MutantRunOutcome]:
    """Run the mutants that have no outcome; return the outcomes of all mutants by name. ``again``: whether to repeat
    the mutants that were not killed and are not listed as without effect. ``most``: the maximum number of checks to try
    on each mutant. If there is no maximum, mutants that were tried with fewer checks are run again.
    """
    outcomes = read_outcomes(folder)
    by_name = {mutant.name: mutant for mutant in mutants}
    left = {name for name, one in outcomes.items() if one.left and most is None and one.fate is not MutantResult.KILLED}
    todo = [
        one
        for one in mutants
        if one.name in left or _must_run_mutant(one, outcomes, again=again and one.name not in effectless)
    ][:limit]
    reach = measure_reach(trials, folder)
    untried: dict[str, int] = {}
    killers: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes.values():
        killers[_get_function_name(outcome.name)][outcome.check] += outcome.fate is MutantResult.KILLED

    def record_outcome(mutant: Mutant, outcome: MutantRunOutcome) -> None:
        outcomes[mutant.name] = outcome
        with (folder / RESULTS_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")
        killers[_get_function_name(mutant.name)][outcome.check] += outcome.fate is MutantResult.KILLED
        progress(mutant, outcome)

    def list_tasks() -> Iterator[Trial]:
        for mutant in todo:
            checks = list_reaching_checks(mutant, reach)
            if not checks:
                record_outcome(mutant, MutantRunOutcome(mutant.name, mutant.source, MutantResult.UNREACHED))
                continue
            known, near = killers[_get_function_name(mutant.name)], _build_section_pattern(mutant)
            checks.sort(key=lambda check: (-known[check], not near.search(check)))
            untried[mutant.name] = len(checks[most:]) if most else 0
            yield Trial(mutant.name, (mutant.name,), tuple(checks[:most]), _is_undecided)

    for trial, found in trials.run(list_tasks()):
        record_outcome(
            by_name[trial.name], replace(_build_outcome(by_name[trial.name], found), left=untried.pop(trial.name))
        )
    return outcomes


def read_outcomes(folder: Path) -> dict[str, MutantRunOutcome]:
    """Read the results file; return the last outcome of each mutant. A truncated line is ignored."""
    outcomes: dict[str, MutantRunOutcome] = {}
    path = folder / RESULTS_FILE
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            outcomes[row["name"]] = MutantRunOutcome(**{**row, "fate": MutantResult(row["fate"])})
    return outcomes


def report_mutants(tally: MutantTally) -> Iterator[str]:
    """Yield the lines of the report, which contains the survivors by file, messages about invalid entries, and the
    scores.
    """
    file = ""
    for mutant, outcome in tally.list_survivors():
        if mutant.file != file:
            file = mutant.file
            yield f"reference_qm/{file}"
        yield f"  {mutant.line} {outcome.fate}: {mutant.name}" + (
            f" ({outcome.why[:MAX_SHOWN_LINE_CHARACTERS]})" if outcome.why else ""
        )
        yield from (f"      {line}" for line in describe_change(mutant).split(" => "))
    yield from tally.messages_about_effectless_list
    counts = tally.counts
    run = sum(counts.values())
    yield ", ".join(
        [f"{run} of {len(tally.mutants)} mutants run", *(f"{counts[fate]} {fate}" for fate in MutantResult)]
    )
    named = sum(mutant.name in tally.reason_by_effectless_mutant for mutant in tally.mutants)
    yield (
        f"score: {tally.compute_score(effectless=True, unreached=True):.1f} % of all mutants; "
        f"{tally.compute_score(effectless=False, unreached=True):.1f} % without the {named} listed as without effect; "
        f"{tally.compute_score(effectless=False, unreached=False):.1f} % also without the "
        "mutants whose lines no check executes"
    )


def describe_change(mutant: Mutant) -> str:
    """Return the changed line before and after the change. Long lines are shortened around the change."""
    before, after = mutant.before, mutant.changed_line
    if max(len(before), len(after)) > MAX_SHOWN_LINE_CHARACTERS:
        same = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        start = max(0, same - MAX_SHOWN_LINE_CHARACTERS // 2)
        dots = "..." * bool(start)
        before, after = (dots + text[start : start + MAX_SHOWN_LINE_CHARACTERS] for text in (before, after))
    return f"{before} => {after}"


def _must_run_mutant(mutant: Mutant, outcomes: Mapping[str, MutantRunOutcome], *, again: bool) -> bool:
    outcome = outcomes.get(mutant.name)
    return outcome is None or outcome.source != mutant.source or (again and outcome.fate is not MutantResult.KILLED)


def _is_undecided(check: str, lines: Sequence[TrialVerdict]) -> bool:
    if any(line.verdict in VERDICTS_OF_BROKEN_RULES for line in lines):
        return False
    broken_off = {line.test for line in lines if line.verdict in VERDICTS_OF_ABORTED_CHECK}
    return len(broken_off) < MAX_NOTICED_BROKEN_OFF_RUNS


def _build_outcome(mutant: Mutant, found: TrialResult) -> MutantRunOutcome:
    telling = next((line for line in found.lines if line.verdict in VERDICTS_OF_BROKEN_RULES), None)
    fate = MutantResult.KILLED
    if telling is None:
        fate = MutantResult.NOTICED
        telling = next((line for line in found.lines if line.verdict in VERDICTS_OF_ABORTED_CHECK), None)
    if telling is None and found.process_end is not None:
        telling = TrialVerdict(
            "", "", Verdict.HARNESS_ERROR, f"the process of the trial ended with {found.process_end}"
        )
    if telling is None:
        fate, telling = MutantResult.SURVIVED, TrialVerdict("", "", Verdict.PASS, "")
    tried = len({line.test for line in found.lines})
    return MutantRunOutcome(
        mutant.name,
        mutant.source,
        fate,
        telling.test,
        telling.rule,
        telling.why[:MAX_SHOWN_LINE_CHARACTERS],
        tried,
        round(found.seconds, 2),
    )


def _get_function_name(name: str) -> str:
    return name.rpartition(":")[0]


def _build_section_pattern(mutant: Mutant) -> re.Pattern[str]:
    """Return a pattern for the folders with the checks of those sections that a function's docstring cites."""
    folders = [
        f"suites/{document.lower()}/s" + "_".join(f"0?{number}" for number in section.split("."))
        for document, section in re.findall(r"MS-(MQ\w\w) (\d+(?:\.\d+)+)", mutant.says)
    ]
    return re.compile("|".join(folders) or r"(?!)")


def select_mutants(mutants: Sequence[Mutant], only: Sequence[str]) -> list[Mutant]:
    """Return the mutants of all files and functions whose names contain one of the texts; raise UsageError if no
    name contains any of the texts.
    """
    found = [mutant for mutant in mutants if not only or any(text in mutant.name for text in only)]
    if not found:
        raise UsageError(
            f"--only {' '.join(only)}: no mutant has this name; `mqconform mutants --list` lists all mutants"
        )
    return found
