"""Run the checks on a variant of the reference for each reading (interpretation) of an erratum. A system that follows
an allowed reading must fail no rule.

The reference has a variant for each reading of an erratum that packets captured from Windows do not settle. Every check
that executes a changed step runs on the variant; all other checks have the verdicts of the clean run. Several variants
are first installed together (``harness.proof.grouping``). A reading with the verdict ``fail`` needs no variant, but a
variant of such a reading must fail. If checks have exactly the same verdicts on a fault as on an allowed reading, then
the check, the variant or the fault is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.faults.registry import Fault, load_faults
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES
from harness.proof.grouping import ReadingGroup, ReadingWithChecks, find_differing_checks, group_readings
from harness.proof.steps import can_check_notice_variant, find_changed_steps
from harness.proof.trials import RepeatableTrialRunner, ResultOnCleanReference, Trial, TrialResult, TrialVerdict
from harness.rules.catalogue import Catalogue
from harness.rules.errata import ReadingOfErratum

VERDICT_OF_ALLOWED_READING = "pass"
"""The verdict, in suites/errata.toml, of an allowed reading: no check may fail on a system that follows this reading.
"""


@dataclass(slots=True)
class VariantRunResults:
    """The results of running the checks on the variants of the reference for the readings of errata."""

    run_readings: list[str] = field(default_factory=list)
    failing_verdicts_by_allowed_reading: dict[str, list[TrialVerdict]] = field(default_factory=dict)
    """The allowed readings on whose variants checks failed, each with the failing verdicts."""
    forbidden_readings_without_failure: list[str] = field(default_factory=list)
    """The readings whose verdict in suites/errata.toml is ``fail``, although no check failed on their variants."""
    allowed_readings_without_variant: list[str] = field(default_factory=list)
    """The allowed readings without a variant."""
    readings_with_superfluous_variant: list[str] = field(default_factory=list)
    """The readings whose variant is superfluous, because suites/errata.toml contains no such reading that needs a
    variant.
    """
    process_end_by_reading: dict[str, str] = field(default_factory=dict)
    """The readings whose process ended before its checks ended, each with a description of how the process ended.
    """

    @property
    def complete(self) -> bool:
        """Return whether every reading was run and caused the verdict that suites/errata.toml gives for it."""
        return not (
            self.failing_verdicts_by_allowed_reading
            or self.forbidden_readings_without_failure
            or self.allowed_readings_without_variant
            or self.readings_with_superfluous_variant
            or self.process_end_by_reading
        )


def run_readings(
    trials: RepeatableTrialRunner,
    catalogue: Catalogue,
    *,
    errata: Collection[str] | None = None,
    checks: Sequence[str] = (),
    apart: bool = False,
) -> VariantRunResults:
    """Run all checks on the variants for the given errata (for all errata if None). Run the given checks on the allowed
    variants for all other errata. ``apart``: whether to run each reading alone with all checks that can notice it,
    without first trying groups.
    """
    readings = {name: reading for one in catalogue.errata.values() for name, reading in one.list_readings_to_run()}
    variants = {fault.reading: fault for fault in load_faults().values() if fault.reading is not None}
    before: dict[str, Sequence[str]] = {}
    for name, reading in readings.items():
        if errata is None or name.partition(".")[0] in errata:
            before[name] = trials.checks
        elif checks and reading.verdict == VERDICT_OF_ALLOWED_READING:
            before[name] = checks
    found = VariantRunResults()
    found.allowed_readings_without_variant = [
        name for name in before if name not in variants and readings[name].verdict == VERDICT_OF_ALLOWED_READING
    ]
    if errata is None:
        found.readings_with_superfluous_variant = sorted(name for name in variants if name not in readings)
    clean = trials.run_checks_on_clean_reference(dict.fromkeys(chain.from_iterable(before.values())))

    carried = [
        ReadingWithChecks(
            name,
            changed,
            tuple(check for check in before[name] if can_check_notice_variant(clean[check].steps, changed)),
        )
        for name in before
        if name in variants
        for changed in (find_changed_steps(variants[name].install),)
    ]
    allowed = [one for one in carried if readings[one.name].verdict == VERDICT_OF_ALLOWED_READING]
    found.run_readings = [one.name for one in carried]
    if not apart:
        groups = group_readings(allowed, {check: one.seconds for check, one in clean.items()})
        allowed = _find_readings_to_run_apart(trials, groups, variants, clean)
    failing = [one for one in carried if readings[one.name].verdict != VERDICT_OF_ALLOWED_READING]

    def run_apart() -> Iterator[Trial]:
        for needed, chosen in ((_accept_every_check, allowed), (_has_no_failure, failing)):
            for one in chosen:
                yield Trial(one.name, (variants[one.name].name,), one.checks, needed)

    for trial, outcome in trials.run(run_apart()):
        _judge_reading(found, trial.name, readings[trial.name], outcome)
    return found


def _find_readings_to_run_apart(
    trials: RepeatableTrialRunner,
    groups: Iterable[ReadingGroup],
    variants: Mapping[str, Fault],
    clean: Mapping[str, ResultOnCleanReference],
) -> list[ReadingWithChecks]:
    """Run the groups of readings; return each reading with those of its checks whose verdicts differ from the
    verdicts on the clean reference.
    """
    by_name = {group.name: group for group in groups}
    together = (
        Trial(group.name, tuple(variants[one.name].name for one in group.readings), tuple(group.checks))
        for group in by_name.values()
    )
    apart: list[ReadingWithChecks] = []
    for trial, outcome in trials.run(together):
        checks = trial.checks if outcome.process_end else find_differing_checks(outcome.lines, clean, trial.checks)
        apart += by_name[trial.name].list_single_readings(checks)
    return apart


def find_faults_with_verdicts_of_allowed_reading(
    convictions: Mapping[str, Collection[TrialVerdict]], found: VariantRunResults
) -> Iterator[tuple[str, str]]:
    """Yield each fault together with an allowed reading that causes exactly the same verdict for each rule of the
    fault.

    ``convictions``: the failing verdicts by fault.
    """
    faults = load_faults()
    for reading, convicting in sorted(found.failing_verdicts_by_allowed_reading.items()):
        same = set(convicting)
        for name, lines in sorted(convictions.items()):
            if {line.rule for line in lines if line in same} >= set(faults[name].breaks):
                yield name, reading


def list_wrong_reading_verdicts(
    found: VariantRunResults, convictions: Mapping[str, Collection[TrialVerdict]]
) -> Iterator[str]:
    """Yield a line for each reading whose verdict differs from the verdict in errata.toml, and for each fault that
    causes the same verdicts as an allowed reading.
    """
    variants = {fault.reading: fault for fault in load_faults().values()}
    for name, lines in sorted(found.failing_verdicts_by_allowed_reading.items()):
        for rule, line in {line.rule: line for line in reversed(lines)}.items():
            yield f"convicted: {_describe_reading(name, variants)}: {rule} in {line.test}: {line.why}"
    for fault, reading in find_faults_with_verdicts_of_allowed_reading(convictions, found):
        yield (
            f"explained: {fault}: the allowed reading {reading} causes the same verdicts, so either the fault or the "
            "reading is wrong"
        )
    yield from (
        f"acquitted: {_describe_reading(name, variants)}: no check fails on it, but its verdict in errata.toml is fail"
        for name in sorted(found.forbidden_readings_without_failure)
    )
    for name, how in sorted(found.process_end_by_reading.items()):
        yield f"died: {_describe_reading(name, variants)}: the process of its trial ended with {how}"
    for name in found.allowed_readings_without_variant:
        yield f"not run: {name}: give it a variant (harness.faults.parts.follows), or give the reason in not_run"
    yield from (
        f"no reading: {name}: suites/errata.toml contains no reading that needs this variant"
        for name in found.readings_with_superfluous_variant
    )


def summarize_readings(found: VariantRunResults) -> str:
    """Return one line that summarizes the results."""
    good = (
        len(found.run_readings)
        - len(found.failing_verdicts_by_allowed_reading)
        - len(found.forbidden_readings_without_failure)
        - len(found.process_end_by_reading)
    )
    return f"{good} of {len(found.run_readings)} readings of errata that were run caused the verdicts in errata.toml"


def _describe_reading(name: str, variants: Mapping[str | None, Fault]) -> str:
    return f"{name} ({variants[name].says})"


def _accept_every_check(check: str, lines: Sequence[TrialVerdict]) -> bool:
    return True


def _has_no_failure(check: str, lines: Sequence[TrialVerdict]) -> bool:
    return not any(line.verdict in VERDICTS_OF_BROKEN_RULES for line in lines)


def _judge_reading(found: VariantRunResults, name: str, reading: ReadingOfErratum, outcome: TrialResult) -> None:
    broken = [line for line in outcome.lines if line.verdict in VERDICTS_OF_BROKEN_RULES]
    if outcome.process_end:
        found.process_end_by_reading[name] = outcome.process_end
    elif reading.verdict == "fail":
        if not broken:
            found.forbidden_readings_without_failure.append(name)
    elif broken:
        found.failing_verdicts_by_allowed_reading[name] = broken
