"""`mqconform explain ID` names the cells of a rule."""

from __future__ import annotations

from harness.cli.explain import explain, explain_as_json
from harness.proof.inventory import take_inventory

RULE = "MQDMPR-3.1.7.1.5-110"
CELL = "open modes of a queue: peek alone, open to receive"


def test_explanation_names_state_table_cells_of_a_rule_with_place_and_outcome():
    inventory = take_inventory(RULE)
    cell = next(one for one in explain_as_json(inventory, RULE)["cells"] if one["name"] == CELL)
    assert cell["says"] == "refused"
    assert cell["place"].startswith("suites/mqdmpr/s3_1_7_1_05_open_queue/states.toml:")
    assert f"  {cell['place']} {CELL}: refused" in list(explain(inventory, RULE))
