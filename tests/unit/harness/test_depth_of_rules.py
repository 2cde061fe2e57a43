"""The depth of each rule in rules.json: varied parameters, cells of states, explored areas."""

from __future__ import annotations

from harness.model.sessions.area import SessionsModel
from harness.proof.inventory import take_inventory
from harness.run.depth_of_rules import depth_of_rules
from harness.states.table import read_state_tables


def test_varied_parameters_are_those_of_the_collected_checks() -> None:
    inventory = take_inventory()
    for rule, depth in depth_of_rules().items():
        checks = inventory.checks_by_rule.get(rule, [])
        collected = {name for check in checks for name in inventory.varied_parameters_by_check.get(check, ())}
        assert set(depth.get("varied", ())) == collected, rule


def test_cells_of_rules_sum_up_to_the_state_tables() -> None:
    expected = sum(len(cell.all_rules) for table in read_state_tables() for cell in table.list_demanded_cells())
    assert sum(depth.get("cells", 0) for depth in depth_of_rules().values()) == expected > 0


def test_rules_of_model_transitions_name_their_area() -> None:
    rules = {rule for one in SessionsModel.transitions.values() for rule in one.rules}
    assert rules
    assert all("sessions" in depth_of_rules()[rule]["explored"] for rule in rules)
