"""Finds the mutants that only unit tests find: ``python -m benchmarks.worth_of_tests FOLDER PLACE ...``.

A test kills a mutant if it passes on the original code and fails on the mutant. The benchmark takes the mutants
that the checks do not find, one by one, and runs the tests that execute a changed line of the mutant. FOLDER keeps
the results; mutants that have a result are not tried again. A mutant that no check finds is the most expensive
mutant, because all checks run on it. Therefore a few checks run on each mutant first, then the tests; all checks
run only on mutants that a test kills. If no check executes a changed line of a mutant, all tests run on the mutant.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from harness.errors import EndlessComputation, HarnessError
from harness.mutation.exchange import FunctionCodeReplacement
from harness.mutation.mutants import Mutant, compile_mutant, is_code_changed, list_all_mutants, select_evenly
from harness.proof.code import compute_code_digest
from harness.proof.forks import ProcessDeathBeforeResult, run_tasks_in_processes
from harness.proof.mutants import MutantResult, MutantRunOutcome, describe_change, run_mutants
from harness.proof.reach import LineRecorder, find_unreached_mutants, measure_reach
from harness.proof.sessions import run_function_in_pytest_session
from harness.proof.trials import RepeatableTrialRunner, run_with_trials
from harness.run.computing import limit_computing_time

SAMPLE, SEED = 1200, "28"
CHECKS = 30
"""The number of checks to try on each mutant before the tests."""
JOBS = 2
KILLS_FILE = "kills-of-tests.jsonl"
REACH_FILE = "reach-of-tests.json"
TRIAL_CPU_S = 600
ENOUGH_KILLS, MAX_TRIED_TESTS = 20, 400
"""The number of killing tests, and the total number of tests, after which the benchmark tries no further test on a
mutant.
"""
UNNEEDED = ("terminal", "junitxml", "allure_pytest", "unraisableexception", "threadexception")


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class MutantKills:
    """The result of one mutant, which is one line of the kills file."""

    name: str
    """The name of the mutant."""
    source: str
    """The digest of the function that the mutant changes."""
    tests: tuple[str, ...]
    """The tests that killed the mutant."""
    tried: int
    ended: str = ""
    """The reason why the process of the tests ended early, or an empty text if it did not."""


@dataclass(frozen=True, slots=True)
class TestReach:
    """The lines that a test runs, by file."""

    lines: Mapping[str, frozenset[int]]

    @property
    def width(self) -> int:
        """Return the number of lines that the test runs."""
        return sum(map(len, self.lines.values()))


class UnitTests:
    """The tests of a pytest session, which can run repeatedly."""

    def __init__(self, session: pytest.Session, jobs: int) -> None:
        self._items = {item.nodeid: item for item in session.items}
        self._jobs = jobs
        self._failed = False
        session.config.pluginmanager.register(self, "unit tests on mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    def reach(self, folder: Path) -> dict[str, TestReach]:
        """Return the lines that each test runs. The lines are recorded again after a change of code or tests."""
        path, digest = folder / REACH_FILE, f"{compute_code_digest()} {len(self._items)}"
        if path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["digest"] == digest:
                return {test: _test_reach(lines) for test, lines in kept["tests"].items()}
        rows = dict(self._record_lines())
        path.write_text(json.dumps({"digest": digest, "tests": rows}), encoding="utf-8")
        return {test: _test_reach(lines) for test, lines in rows.items()}

    def kills(self, mutants: Iterable[Mutant], reach: Mapping[str, TestReach]) -> Iterator[tuple[Mutant, MutantKills]]:
        """Run on each mutant the tests that execute a changed line of it, and yield the killing tests."""
        tasks = ((mutant, _list_tests_of_mutant(mutant, reach)) for mutant in mutants)
        for (mutant, tests), found in run_tasks_in_processes(tasks, self._kills, jobs=self._jobs, cpu_s=TRIAL_CPU_S):
            if isinstance(found, ProcessDeathBeforeResult):
                found = MutantKills(mutant.name, mutant.source, (), len(tests), found.description)
            yield mutant, found

    def _record_lines(self) -> Iterator[tuple[str, dict[str, list[int]]]]:
        tests = list(self._items)
        shares = [tests[number :: self._jobs] for number in range(self._jobs)]
        recorder = LineRecorder()

        def work(share: Sequence[str]) -> list[tuple[str, dict[str, list[int]]]]:
            rows = []
            for test in share:
                with recorder:
                    passed = self._passes(test)
                lines = recorder.take()
                if passed:
                    rows.append((test, lines))
            return rows

        for _, rows in run_tasks_in_processes(shares, work, jobs=self._jobs, cpu_s=10 * TRIAL_CPU_S):
            if isinstance(rows, ProcessDeathBeforeResult):
                raise HarnessError(f"the tests on the unchanged code ended with {rows.description}")
            yield from rows

    def _kills(self, task: tuple[Mutant, Sequence[str]]) -> MutantKills:
        mutant, tests = task
        killers: list[str] = []
        tried = 0
        with FunctionCodeReplacement(*compile_mutant(mutant)):
            for test in tests:
                tried += 1
                if not self._passes(test):
                    killers.append(test)
                if len(killers) == ENOUGH_KILLS:
                    break
        return MutantKills(mutant.name, mutant.source, tuple(killers), tried)

    def _passes(self, test: str) -> bool:
        item = self._items[test]
        self._failed = False
        try:
            with limit_computing_time():
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except EndlessComputation:
            return False
        return not self._failed


def try_tests(tests: UnitTests, mutants: Sequence[Mutant], folder: Path) -> dict[str, MutantKills]:
    """Run the tests on the mutants that have no result. Return the killing tests of each mutant, by the mutant's
    name.
    """
    kills = read_kills(folder)
    todo = [one for one in mutants if one.name not in kills or kills[one.name].source != one.source]
    for mutant, found in tests.kills(todo, tests.reach(folder)):
        kills[mutant.name] = found
        with (folder / KILLS_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(found)) + "\n")
    return {mutant.name: kills[mutant.name] for mutant in mutants}


def main(arguments: Sequence[str]) -> None:
    """Select mutants, run the checks and the tests on them, and print the results."""
    folder, places = Path(arguments[0]), arguments[1:]
    folder.mkdir(parents=True, exist_ok=True)
    everything = [mutant for mutant in list_all_mutants() if not mutant.file.startswith("security/")]
    chosen = select_evenly(everything, SAMPLE, SEED)

    def begin(trials: RepeatableTrialRunner) -> tuple[list[Mutant], dict[str, MutantRunOutcome]]:
        more = filter(is_code_changed, find_unreached_mutants(everything, measure_reach(trials, folder)))
        mutants = list({mutant.name: mutant for mutant in [*chosen, *more]}.values())
        return mutants, run_mutants(trials, mutants, folder, again=False, most=CHECKS, progress=show)

    mutants, outcomes = run_with_trials(JOBS, begin)
    alive = [mutant for mutant in mutants if outcomes[mutant.name].fate is not MutantResult.KILLED]
    kills = run_with_unit_tests(places, JOBS, lambda tests: try_tests(tests, alive, folder))
    killed = [mutant for mutant in alive if kills[mutant.name].tests]
    outcomes = run_with_trials(JOBS, lambda trials: run_mutants(trials, killed, folder, again=False, progress=show))
    for line in format_report(mutants, outcomes, kills):
        print(line)


def show(mutant: Mutant, outcome: MutantRunOutcome) -> None:
    """Print the progress."""
    print(f"{outcome.fate} {mutant.name}", file=sys.stderr)


def format_report(
    mutants: Sequence[Mutant], outcomes: Mapping[str, MutantRunOutcome], kills: Mapping[str, MutantKills]
) -> Iterator[str]:
    """Yield the lines of the report: the mutants that only tests kill, by file; the test functions that suffice to
    kill them; and the figures.
    """
    alone = [
        mutant
        for mutant in sorted(mutants, key=lambda one: (one.file, one.line, one.name))
        if outcomes[mutant.name].fate is not MutantResult.KILLED and mutant.name in kills and kills[mutant.name].tests
    ]
    for mutant in alone:
        yield f"reference_qm/{mutant.file}:{mutant.line} {outcomes[mutant.name].fate}: {describe_change(mutant)}"
        yield f"    {mutant.name}, killed by {', '.join(kills[mutant.name].tests[:3])}"
    for function, names in choose_tests(kills[mutant.name] for mutant in alone).items():
        yield f"{function} kills {len(names)}: {' '.join(names)}"
    fates = Counter(outcomes[mutant.name].fate for mutant in mutants)
    yield f"{len(mutants)} mutants: {fates[MutantResult.KILLED]} killed by checks, {len(alone)} only by tests"


def read_kills(folder: Path) -> dict[str, MutantKills]:
    """Read the kills file, in which the last line about each mutant is valid."""
    path = folder / KILLS_FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [json.loads(line) for line in lines]
    return {row["name"]: MutantKills(**{**row, "tests": tuple(row["tests"])}) for row in rows}


def choose_tests(kills: Iterable[MutantKills]) -> dict[str, list[str]]:
    """Choose a few test functions that together kill the same mutants as all tests. Return the mutants that each
    function kills.
    """
    open_: dict[str, set[str]] = defaultdict(set)
    for one in kills:
        for test in one.tests:
            open_[get_test_function(test)].add(one.name)
    chosen: dict[str, list[str]] = {}
    while any(open_.values()):
        best = max(sorted(open_), key=lambda function: len(open_[function]))
        killed = open_.pop(best)
        chosen[best] = sorted(killed)
        for mutants in open_.values():
            mutants -= killed
    return chosen


def get_test_function(test: str) -> str:
    """Return the test function of a test, without its parameters."""
    return test.partition("[")[0]


def run_with_unit_tests(places: Sequence[str], jobs: int, work: Callable[[UnitTests], Answer]) -> Answer:
    """Collect the unit tests once, pass them to a function, and return the result of this function."""
    arguments = [*places, "-o", "addopts=", "--strict-markers", "--capture=no"]
    for plugin in UNNEEDED:
        arguments += ["-p", f"no:{plugin}"]
    return run_function_in_pytest_session(arguments, lambda session: work(UnitTests(session, jobs)), " ".join(places))


def _list_tests_of_mutant(mutant: Mutant, reach: Mapping[str, TestReach]) -> list[str]:
    """Return the tests that execute the changed lines of a mutant. The test that executes the fewest lines comes
    first.
    """
    lines = set(mutant.lines)
    found = [test for test, one in reach.items() if lines & one.lines.get(mutant.file, frozenset())]
    return sorted(found, key=lambda test: reach[test].width)[:MAX_TRIED_TESTS]


def _test_reach(lines: Mapping[str, Sequence[int]]) -> TestReach:
    return TestReach({file: frozenset(numbers) for file, numbers in lines.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
