"""Run trials. In a trial, checks run on a variant of the reference. The process of a trial is forked from a session
with all checks collected.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from harness.errors import EndlessComputation, HarnessError
from harness.faults.registry import add, load_faults
from harness.interrupts import unwind_on_signals
from harness.judging.judge import MAX_SHOWN_PASSES_PER_RULE
from harness.judging.mirrored import PeerPacketJudge
from harness.judging.verdicts import Advice, Verdict, VerdictEntry
from harness.proof.forks import ProcessDeathBeforeResult, run_tasks_in_processes
from harness.proof.sessions import run_function_in_pytest_session
from harness.proof.steps import ReferenceSteps, StepRecorder, find_changed_steps
from harness.run.checks import find_malformed_rules, get_check_id
from harness.run.options import build_pytest_arguments
from harness.run.stash import DRIVER_KEY, PEER_PACKET_JUDGE_KEY, RUN_KEY, VERDICT_LOG_KEY
from harness.run_folder import CAPTURES_FOLDER
from harness.sut.virtual_driver import VirtualDriver

VERDICTS_OF_ABORTED_CHECK = (Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR)
"""The verdicts that the rules of a check can get if the check ends early."""
TRIAL_CPU_S = 300

DISABLED_PLUGINS = ("terminal", "junitxml", "allure_pytest", "hypothesispytest", "faulthandler")
"""The pytest plugins that trials do not need, in addition to the plugins that no run needs."""

VIRTUAL_SUT_FILE_TEXT = """\
[sut]
name = "reference"
vendor = "mqconform"
version = "prove"
[driver]
kind = "virtual"
[capabilities]
ping = true
ping_initiator = true
private_names = true
public_names = true
qm2qm = true
subqueues = true
several_queues = true
security = true
two_addresses = true
directory = true
topology = true
"""

TrialAnswer = TypeVar("TrialAnswer")


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """A verdict, reduced to the values that a trial needs."""

    test: str
    rule: str
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial: the checks to run, and the faults that are installed in the reference while they run."""

    name: str
    faults: tuple[str, ...]
    checks: tuple[str, ...]
    is_check_needed: Callable[[str, Sequence[TrialVerdict]], bool] = lambda check, lines: True
    """A function that is called before each check, with the verdicts of all earlier checks, and returns whether to
    run the check.
    """
    exception_only_ends_check: bool = False
    """Whether an exception of the core only ends the check. If not, the exception counts as a crash of the system.
    """


@dataclass(frozen=True, slots=True)
class ResultOnCleanReference:
    """The result of a check on the clean reference. It contains the verdicts of the check, the steps that the SUT
    executes, and the duration of the check. ``broken``: the MUST rules that packets from the peer broke, each with
    the difference. ``rules_broken_by_peer``: the rules that the check breaks on purpose.
    """

    lines: list[TrialVerdict]
    steps: ReferenceSteps
    seconds: float
    broken: Mapping[str, str] = field(default_factory=dict)
    rules_broken_by_peer: frozenset[str] = frozenset()


@dataclass(slots=True)
class TrialResult:
    """The result of a trial, which contains the verdicts of its checks."""

    lines: list[TrialVerdict] = field(default_factory=list)
    seconds: float = 0
    process_end: str | None = None
    """A description of how the process of the trial ended, if it ended before all checks of the trial had run."""


class RepeatableTrialRunner:
    """The checks of a pytest session, which can be run repeatedly."""

    def __init__(self, session: pytest.Session, jobs: int) -> None:
        self.jobs = jobs
        self._config = session.config
        self._items = {path: item for item in session.items if (path := get_check_id(item)) is not None}
        self._folder = self._config.stash[RUN_KEY].folder
        self._clean: dict[str, ResultOnCleanReference] = {}
        run = self._config.stash[RUN_KEY]
        run.is_part_of_proof = True
        run.pass_count_by_rule.update(
            dict.fromkeys(run.catalogue, MAX_SHOWN_PASSES_PER_RULE)
        )  # a trial needs no evidence

    @property
    def checks(self) -> tuple[str, ...]:
        """All checks of the session, by the ids that verdicts contain."""
        return tuple(self._items)

    def run_checks_on_clean_reference(self, checks: Iterable[str]) -> dict[str, ResultOnCleanReference]:
        """Return the verdicts of checks on the clean reference. Each check runs only once; later calls return the
        result of the first run.
        """
        checks = list(checks)
        new = [check for check in checks if check not in self._clean]
        recorder, mirror = _make_step_recorder(), PeerPacketJudge()
        catalogue = self._config.stash[RUN_KEY].catalogue

        def record_clean_verdicts(
            check: str, lines: list[TrialVerdict], seconds: float
        ) -> tuple[str, ResultOnCleanReference]:
            broken = {rule: how for rule, how in mirror.take().items() if not catalogue[rule].is_advice}
            return check, ResultOnCleanReference(
                lines, recorder.take(), seconds, broken, find_malformed_rules(self._items[check])
            )

        if new:
            self.run_one_check_of_each_document(new)
            self._config.stash[PEER_PACKET_JUDGE_KEY] = mirror
            self._clean |= self.run_checks_one_by_one(new, (_RECORDER_NAME,), record_clean_verdicts)
            del self._config.stash[PEER_PACKET_JUDGE_KEY]
        return {check: self._clean[check] for check in checks}

    def run_one_check_of_each_document(self, checks: Iterable[str]) -> None:
        """Run one check of each document in this process. Forked processes then already have the keys and layers that
        these checks create.
        """
        with self._prepare_trials(()):
            for check in {check.split("/")[1]: check for check in checks}.values():
                self._run_check(check)

    def run(self, trials: Iterable[Trial], *, together: int = 1) -> Iterator[tuple[Trial, TrialResult]]:
        """Run trials; yield each trial with its result, in the order in which the trials end. ``together``: the
        number of trials that share a process.
        """
        for trial, found in run_tasks_in_processes(
            trials, self._run_trial, jobs=self.jobs, cpu_s=TRIAL_CPU_S, together=together
        ):
            yield (
                trial,
                TrialResult(process_end=found.description) if isinstance(found, ProcessDeathBeforeResult) else found,
            )

    def run_checks_one_by_one(
        self,
        checks: Sequence[str],
        faults: tuple[str, ...],
        look: Callable[[str, list[TrialVerdict], float], TrialAnswer],
    ) -> Iterator[TrialAnswer]:
        """Run each check separately, in ``jobs`` processes in parallel; yield the result of the function ``look`` for
        each check.
        """
        shares = [checks[number :: self.jobs] for number in range(self.jobs)]

        def run_share(share: Sequence[str]) -> list[TrialAnswer]:
            with self._prepare_trials(faults):
                return [look(check, *self._run_check(check)) for check in share]

        for _, answers in run_tasks_in_processes(shares, run_share, jobs=self.jobs, cpu_s=10 * TRIAL_CPU_S):
            if isinstance(answers, ProcessDeathBeforeResult):
                raise HarnessError(
                    f"the run of the checks on the reference without faults ended with {answers.description}"
                )
            yield from answers

    # -- in the process of a trial --------------------------------------------------------------------------------

    def _run_trial(self, trial: Trial) -> TrialResult:
        found = TrialResult()
        begun = time.process_time()
        with self._prepare_trials(trial.faults, raises=trial.exception_only_ends_check):
            for check in trial.checks:
                if trial.is_check_needed(check, found.lines):
                    found.lines += self._run_check(check)[0]
        found.seconds = time.process_time() - begun
        return found

    @contextmanager
    def _prepare_trials(self, faults: tuple[str, ...], *, raises: bool = False) -> Iterator[None]:
        """Provide a folder for the output of checks, and a driver whose reference has the faults of the trial."""
        run = self._config.stash[RUN_KEY]
        file = replace(run.file, reference=replace(run.file.reference, faults=faults))
        driver = self._config.stash[DRIVER_KEY] = VirtualDriver(file, raises=raises)
        driver.start()
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as folder:
            run.folder = Path(folder)
            (run.folder / CAPTURES_FOLDER).mkdir()
            try:
                yield
            finally:
                run.folder = self._folder

    def _run_check(self, check: str) -> tuple[list[TrialVerdict], float]:
        entries: list[VerdictEntry] = []
        self._config.stash[VERDICT_LOG_KEY] = entries
        begun = time.process_time()
        try:
            item = self._items[check]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except EndlessComputation:
            entries.append(_find_aborted_checks(check))
        return [_build_verdict_line(check, entry) for entry in entries], time.process_time() - begun


def run_with_trials(
    jobs: int, work: Callable[[RepeatableTrialRunner], TrialAnswer], files: Sequence[str] = ("suites",)
) -> TrialAnswer:
    """Collect all suites or only some files; call the function ``work``, which uses trials of the collected checks;
    return the result of the function.
    """
    with unwind_on_signals(), tempfile.TemporaryDirectory(prefix="mqconform-trials-") as folder:
        sut = Path(folder) / "sut.toml"
        sut.write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
        arguments = [
            *build_pytest_arguments(files),
            "--sut",
            str(sut),
            "--out",
            str(Path(folder) / "run"),
            "--capture=no",
        ]
        for plugin in DISABLED_PLUGINS:
            arguments += ["-p", f"no:{plugin}"]
        return run_function_in_pytest_session(
            arguments, lambda session: work(RepeatableTrialRunner(session, jobs)), "suites"
        )


_RECORDER_NAME = "steps recorded"


@cache
def _make_step_recorder() -> StepRecorder:
    """Return the recorder of all steps that any fault changes. The recorder is installed like a fault."""
    changed = [steps for fault in load_faults().values() if (steps := find_changed_steps(fault.install)) is not None]
    recorder = StepRecorder(frozenset().union(*changed))
    add(_RECORDER_NAME, (), "A pseudo-fault that records the executed steps.", recorder.install)
    return recorder


def _find_aborted_checks(check: str) -> VerdictEntry:
    return VerdictEntry("", "", "", "", Verdict.HARNESS_ERROR, "", "", reason="no end", test=check)


_VERDICT_BY_ADVICE = {Advice.FOLLOWED: Verdict.PASS, Advice.MISSED: Verdict.WARN}
"""The verdict on the recommendation (SHOULD) in the sentence of a MUST rule. ``prove`` treats the recommendation as a
separate rule.
"""


def _build_verdict_line(check: str, entry: VerdictEntry) -> TrialVerdict:
    why = entry.reason or f"expected {entry.expected}; observed {entry.observed}"
    verdict = entry.verdict if entry.advice is None else _VERDICT_BY_ADVICE[entry.advice]
    return TrialVerdict(check, entry.rule, verdict, why)
