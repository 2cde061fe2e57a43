"""Provide the installed suites for the comparison with a certificate."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from harness.judging.compared import load_compared_rules
from harness.judging.passive import load_predicates
from harness.judging.robustness import RULE_BY_CONDITION
from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue
from harness.run.checks_of_rules import map_driving_checks
from harness.run.run import build_rules_json, read_frozen_test_count

ROBUSTNESS_RULES = frozenset(row.id for row in RULE_BY_CONDITION.values())
"""The rules about crashes and hangs. Any check may have a verdict for these rules."""


@dataclass(frozen=True, slots=True)
class InstalledSuites:
    """A rule set with its checks. ``checks``: the number of checks in a complete run. ``digest``: the SHA-256 of the
    rule set's rules.json. ``rules``: all rule ids. ``checks_naming_rule``: for each rule, the checks (without
    parameters) that name it. ``passive``: the rules that the packets of any check may decide.
    ``rules_of_compared_properties``: the rules that any check may decide by comparing the messages on the control
    channel with their packets.
    """

    checks: int
    digest: str
    rules: Set[str]
    checks_naming_rule: Mapping[str, Set[str]]
    passive: Set[str]
    rules_of_compared_properties: Set[str]

    def may_judge(self, rule: str, check: str) -> bool:
        """Return whether a check, given without parameters, can have a verdict for a rule."""
        of_any_check = (self.passive, self.rules_of_compared_properties, ROBUSTNESS_RULES)
        return any(rule in rules for rules in of_any_check) or check in self.checks_naming_rule.get(rule, ())


def get_installed_suites() -> InstalledSuites:
    """Return the suites that are installed with this harness."""
    catalogue = load_catalogue()
    _, digest = build_rules_json(catalogue)
    rules = frozenset(catalogue) | ROBUSTNESS_RULES
    return InstalledSuites(
        read_frozen_test_count(SUITES),
        digest,
        rules,
        map_driving_checks(),
        frozenset(load_predicates()),
        frozenset(load_compared_rules()),
    )
