"""The errata carried out: a system that follows any reading that verdicts allow is convicted of nothing.

Each reading of an entry that bytes of Windows do not settle is a variant of the reference, and the checks run on it:
all that judge the rules that the entry bears on, and of the others a share, another for each reading, or all
(``prove --readings``). A check that takes none of the steps that a variant changes has the verdicts of the clean run
there, and is left out. A reading with the verdict ``fail`` needs no variant; one that has a variant is convicted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.faults.registry import Fault, load_faults
from harness.judging.verdicts import BROKEN
from harness.proof.steps import may_notice, steps_of
from harness.proof.trials import Line, Trial, Trials
from harness.rules.catalogue import Catalogue
from harness.rules.errata import Erratum, Reading

ONE_OF = 10
"""The share of the other checks that is tried on each variant."""


@dataclass(slots=True)
class ReadingsRun:
    """The findings of the variants."""

    run: list[str] = field(default_factory=list)
    convicted: dict[str, Line] = field(default_factory=dict)
    """Readings that are allowed, with the verdict that convicts."""
    acquitted: list[str] = field(default_factory=list)
    """Readings whose verdict is ``fail``, and that no check finds."""
    missing: list[str] = field(default_factory=list)
    """Readings that are allowed, without a variant."""
    unknown: list[str] = field(default_factory=list)
    """Variants of no reading that is to be run."""

    @property
    def complete(self) -> bool:
        """Return whether every reading was run and judged as its entry says."""
        return not (self.convicted or self.acquitted or self.missing or self.unknown)


def run_readings(
    trials: Trials,
    catalogue: Catalogue,
    tests: Mapping[str, Sequence[str]],
    errata: Collection[str] | None = None,
    *,
    every_check: bool = False,
) -> ReadingsRun:
    """Run the variants of some entries (None: of all) before their checks and a share of the others, or all others."""
    chosen = {name: one for name, one in catalogue.errata.items() if errata is None or name in errata}
    readings = {name: reading for one in chosen.values() for name, reading in one.to_be_run()}
    variants = {fault.reading: fault for fault in load_faults().values() if fault.reading is not None}
    found = ReadingsRun()
    found.missing = [name for name, one in readings.items() if name not in variants and one.verdict == "pass"]
    if errata is None:
        found.unknown = sorted(name for name in variants if name not in readings)

    checks: dict[str, list[str]] = {}
    for name in readings.keys() & variants.keys():
        checks[name] = list(_checks(name, chosen[name.partition(".")[0]], catalogue, tests, trials.checks))
        if every_check:
            checks[name] += [check for check in trials.checks if check not in checks[name]]
    clean = trials.clean(dict.fromkeys(chain.from_iterable(checks.values())))

    def tasks() -> Iterator[Trial]:
        for name in readings:
            if name in variants:
                changed = steps_of(variants[name].install)
                noticing = (one for one in checks[name] if may_notice(clean[one].steps, changed))
                yield Trial(name, (variants[name].name,), tuple(noticing), _unconvicted)

    for trial, outcome in trials.run(tasks()):
        found.run.append(trial.name)
        _judge(found, trial.name, readings[trial.name], outcome.lines)
    return found


def report(found: ReadingsRun) -> Iterator[str]:
    """Yield a line for each reading that is not judged as its entry says, and last how many were run."""
    variants = {fault.reading: fault for fault in load_faults().values()}
    for name, line in sorted(found.convicted.items()):
        yield f"convicted: {_described(name, variants)}: {line.rule} in {line.test}: {line.why}"
    yield from (f"acquitted: {_described(name, variants)}: its entry says fail" for name in sorted(found.acquitted))
    for name in found.missing:
        yield f"not run: {name}: give it a variant (harness.faults.parts.follows), or say in not_run why there is none"
    yield from (f"no reading: {name}: suites/errata.toml has none that needs this variant" for name in found.unknown)
    good = len(found.run) - len(found.convicted) - len(found.acquitted)
    yield f"{good} of {len(found.run)} readings of errata that were run are judged as their entries say"


def _described(name: str, variants: Mapping[str | None, Fault]) -> str:
    return f"{name} ({variants[name].says})"


def _checks(
    reading: str,
    erratum: Erratum,
    catalogue: Catalogue,
    tests: Mapping[str, Sequence[str]],
    every: Sequence[str],
) -> Iterator[str]:
    """Yield the checks of the rules that an entry bears on, then the share of the others."""
    rules = {name for name, row in catalogue.items() if erratum.id in row.errata}
    own = {check for rule in rules for check in tests.get(rule, ())}
    yield from (check for check in every if check in own)
    yield from (check for check in every if check not in own and _is_drawn(reading, check))


def _is_drawn(reading: str, check: str) -> bool:
    drawn = hashlib.sha256(f"{reading} {check}".encode()).digest()
    return int.from_bytes(drawn[:4]) % ONE_OF == 0


def _unconvicted(check: str, lines: Sequence[Line]) -> bool:
    return not any(line.verdict in BROKEN for line in lines)


def _judge(found: ReadingsRun, name: str, reading: Reading, lines: Sequence[Line]) -> None:
    broken = next((line for line in lines if line.verdict in BROKEN), None)
    if reading.verdict == "fail":
        if broken is None:
            found.acquitted.append(name)
    elif broken is not None:
        found.convicted[name] = broken
