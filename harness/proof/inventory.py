"""The inventory of rules with their checks, predicates and faults, collected from the suites themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.faults.registry import load_faults
from harness.judging.passive import load_predicates
from harness.paths import SUITES
from harness.rules.catalogue import Catalogue, IndexRow, load_catalogue, load_index
from harness.rules.coverage import SectionCoverage, coverage
from harness.rules.proof_record import load_proof
from harness.run.checks import covered, needed, suite_path, why_not_collected


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that there is to a rule, by rule id."""

    catalogue: Catalogue
    tests: dict[str, list[str]]
    faults: dict[str, list[str]]
    passive: frozenset[str]
    proven: frozenset[str]
    index: Mapping[str, IndexRow]
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The capabilities and facilities that a check cannot do without, by check."""

    def judgeable(self, have: Collection[str]) -> frozenset[str]:
        """Return the rules that are judged where there are these capabilities and facilities, if nothing goes wrong."""
        met = {check for check, needs in self.needs.items() if needs <= set(have)}
        return self.passive | {rule for rule, checks in self.tests.items() if not met.isdisjoint(checks)}

    def coverage(self) -> list[SectionCoverage]:
        """Count what was checked and proven when that was recorded, section by section."""
        proof = load_proof()
        return coverage(self.catalogue, self.index, proof.checked, proof.proven)

    def checked(self) -> list[str]:
        """Return the rules that some check or predicate judges."""
        return [rule for rule in self.catalogue if self.tests.get(rule) or rule in self.passive]

    def checks(self, rule: str) -> list[str]:
        """Return the checks that judge a rule, and its predicate by the file of the rule's section."""
        tests = list(self.tests.get(rule, []))
        if rule in self.passive:
            function = load_predicates()[rule].predicate.__qualname__.partition(".")[0]
            tests.append(f"{self.catalogue[rule].folder}/predicates.py::{function}")
        return tests

    def row(self, rule: str) -> dict[str, Any]:
        """Return one line of ``mqconform rules --format json``."""
        row = self.catalogue[rule]
        return {
            "id": rule,
            "document": row.document,
            "section": row.section,
            "level": row.level,
            "form": row.form,
            "kind": row.kind,
            "observe": row.observe,
            "tests": self.checks(rule),
            "faults": self.faults.get(rule, []),
            "proven": rule in self.proven,
            "says": row.says,
        }


class _Collector:
    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = defaultdict(list)
        self.needs: dict[str, frozenset[str]] = {}
        self.broken: str | None = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = self.broken or why_not_collected(report)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            path = suite_path(item)
            if path is not None:
                self.needs[path] = frozenset(needed(item))
                for rule in covered(item):
                    self.tests[rule].append(path)


def pytest_arguments() -> list[str]:
    """Return the arguments that every run of the suites starts with, wherever it is called from."""
    return [str(SUITES), "-c", str(SUITES / "pytest.ini"), "--rootdir", str(SUITES)]


@cache
def take_inventory() -> Inventory:
    """Collect the suites (without running them) and join them with the catalogue, the faults and the proof."""
    collector = _Collector()
    code = pytest.main([*pytest_arguments(), "--collect-only", "-p", "no:terminal"], [collector])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HarnessError(
            collector.broken or "the suites cannot be collected; `pytest suites --collect-only` says why"
        )
    catalogue = load_catalogue()
    faults: dict[str, list[str]] = defaultdict(list)
    for fault in load_faults().values():
        for rule in fault.breaks:
            faults[rule].append(fault.name)
    predicates = load_predicates()
    for where, rules in (("a check", collector.tests), ("a fault", faults), ("a predicate", predicates)):
        for rule in rules:
            if rule not in catalogue:
                raise HarnessError(f"{where} names {rule}, which has no row in the catalogue")
    proven = load_proof().proven
    return Inventory(
        catalogue,
        dict(collector.tests),
        dict(faults),
        frozenset(predicates),
        frozenset(proven),
        load_index(),
        collector.needs,
    )
