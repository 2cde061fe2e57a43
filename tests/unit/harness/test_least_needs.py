"""`mqconform rules --needs`: the smallest sets of needs of each rule, and the number of rules that each set makes
judgeable.
"""

from __future__ import annotations

import json

from typer.testing import CliRunner

from harness.cli.main import app
from harness.proof.inventory import RuleInventory, take_inventory
from harness.proof.least_needs import (
    CAPABILITIES_WITHOUT_CONTROL,
    LeastNeedsOfRule,
    count_rules_by_least_needs,
    count_rules_judged_without_control,
    list_least_needs,
)
from harness.sut.sut_file import CAPABILITIES

TESTS = {"A-1": ["a", "b"], "A-2": ["b", "c"], "A-3": ["d"]}
NEEDS = {"a": {"qm2qm", "ping"}, "b": {"send"}, "c": {"send", "inspect"}, "d": {"receive", "security"}}


def inventory() -> RuleInventory:
    needs = {check: frozenset(names) for check, names in NEEDS.items()}
    return RuleInventory({}, TESTS, {}, {"A-4": ""}, frozenset(), needs=needs)  # type: ignore[arg-type]


def test_least_needs_of_a_rule_are_those_of_its_check_with_fewest_facilities() -> None:
    assert list(list_least_needs(inventory(), ["A-1", "A-2", "A-3", "A-4", "A-5"])) == [
        LeastNeedsOfRule("A-1", ("ping", "qm2qm"), "a"),
        LeastNeedsOfRule("A-2", ("send",), "b"),
        LeastNeedsOfRule("A-3", ("receive", "security"), "d"),
        LeastNeedsOfRule("A-4", (), ""),
    ]


def test_facility_sets_are_counted_with_their_added_rules() -> None:
    found = [
        LeastNeedsOfRule("A-1", ("send",), "a"),
        LeastNeedsOfRule("A-2", (), ""),
        LeastNeedsOfRule("A-3", ("send",), "c"),
    ]
    assert count_rules_by_least_needs(found) == [(("send",), 2), ((), 1)]
    rules = ["A-1", "A-2", "A-3", "A-4"]
    assert count_rules_judged_without_control(inventory(), rules, ()) == 3
    assert count_rules_judged_without_control(inventory(), rules, ("send",)) == 4


def test_each_parameter_of_a_check_has_needs_of_its_own() -> None:
    found = take_inventory()
    functions: dict[str, set[frozenset[str]]] = {}
    for check, needs in found.needs.items():
        functions.setdefault(check.partition("[")[0], set()).add(needs)
    assert any(len(several) > 1 for several in functions.values())


def test_rules_command_prints_least_needs_of_each_rule_with_the_check() -> None:
    done = CliRunner().invoke(app, ["rules", "--needs", "--format", "json", "--document", "mqqp"])
    rows = {one["rule"]: one for one in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert all(name.startswith("MQQP-") for name in rows)
    assert any(one["needs"] == ["qm2qm"] for one in rows.values())
    assert CAPABILITIES.keys() - CAPABILITIES_WITHOUT_CONTROL == {"directory", "topology", "two_addresses"}
