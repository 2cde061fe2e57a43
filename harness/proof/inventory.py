"""Collect the rules of the suites with their checks, predicates and faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from harness.errors import HarnessError
from harness.proof.records import FaultRecord, load_checks_of_suites, load_faults_of_suites, load_predicates_of_suites
from harness.rules.catalogue import Catalogue, load_catalogue, load_index
from harness.rules.coverage import SectionCoverage, count_coverage_by_section
from harness.rules.proof_record import load_proof
from harness.sut.stand_ins import add_needs_met_by_facilities


@dataclass(frozen=True, slots=True)
class RuleInventory:
    """The rules of the suites and, by rule id, their checks, predicates, faults and recorded proofs."""

    catalogue: Catalogue
    checks_by_rule: dict[str, list[str]]
    faults: dict[str, list[str]]
    predicate_by_rule: Mapping[str, str]
    """The predicate of each passive rule, as ``predicates.py::function``."""
    proven_rules: frozenset[str]
    fault_records_by_name: Mapping[str, FaultRecord] = field(default_factory=dict)
    """The record of each fault, by the name of the fault."""
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The capabilities and facilities that each check requires."""
    varied_parameters_by_check: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """The parameters that each check varies, with their values."""

    @property
    def passive(self) -> Set[str]:
        """The passive rules, which packets in any check may break."""
        return self.predicate_by_rule.keys()

    def list_judgeable_rules(self, have: Collection[str]) -> frozenset[str]:
        """Return the rules that can be judged on a system with the given capabilities and facilities."""
        available = add_needs_met_by_facilities(have)
        met = {check for check, needs in self.needs.items() if needs <= available}
        return frozenset(self.passive) | {
            rule for rule, checks in self.checks_by_rule.items() if not met.isdisjoint(checks)
        }

    def count_coverage_by_section(self) -> list[SectionCoverage]:
        """Return the number of checked rules and the number of rules with a recorded proof, section by section."""
        proof = load_proof()
        return count_coverage_by_section(self.catalogue, load_index(), proof.checked, proof.proven)

    def checked_rules(self) -> list[str]:
        """Return the rules that at least one check or predicate judges."""
        return [rule for rule in self.catalogue if self.checks_by_rule.get(rule) or rule in self.passive]

    def checks(self, rule: str) -> list[str]:
        """Return the checks that judge a rule, and the predicate of the rule (if any), as
        ``predicates.py::function`` below the folder of the rule's section.
        """
        tests = list(self.checks_by_rule.get(rule, []))
        if rule in self.passive:
            tests.append(f"{self.catalogue[rule].folder}/{self.predicate_by_rule[rule]}")
        return tests

    def describe_rule_as_json(self, rule: str) -> dict[str, Any]:
        """Return the row for a rule in the output of ``mqconform rules --format json``."""
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
            "proven": rule in self.proven_rules,
            "says": row.says,
        }


@cache
def take_inventory(rule: str | None = None) -> RuleInventory:
    """Return the inventory, which is the catalogue with the checks, the faults and the proof of all rules. If
    ``rule`` is given, only the files whose text names this rule are read; these files contain everything about the
    rule.
    """
    catalogue = load_catalogue()
    tests: dict[str, list[str]] = defaultdict(list)
    needs: dict[str, frozenset[str]] = {}
    varied: dict[str, Mapping[str, Sequence[str]]] = {}
    for check in load_checks_of_suites(rule):
        needs[check.id] = frozenset(check.needs)
        if check.varied_parameters:
            varied[check.id] = check.varied_parameters
        for each in check.covered_rules:
            tests[each].append(check.id)
    faults: dict[str, list[str]] = defaultdict(list)
    records: dict[str, FaultRecord] = {}
    for fault in load_faults_of_suites(rule):
        records[fault.name] = fault
        for each in fault.breaks:
            faults[each].append(fault.name)
    predicates = load_predicates_of_suites()
    for where, rules in (("a check", tests), ("a fault", faults), ("a predicate", predicates)):
        for each in rules:
            if each not in catalogue:
                raise HarnessError(f"{where} names {each}, which has no row in the catalogue")
    proven = frozenset(load_proof().proven)
    return RuleInventory(catalogue, dict(tests), dict(faults), predicates, proven, records, needs, varied)
