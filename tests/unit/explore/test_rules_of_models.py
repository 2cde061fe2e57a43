"""Each rule that a model names is in the catalogue."""

from __future__ import annotations

import re

import pytest

from harness.explore.areas import AREA_BY_NAME
from harness.explore.queues_driven import DrivenQueues
from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue

MODELS = sorted((SUITES.parent / "harness" / "model").rglob("*.py"))
NAMED = re.compile(r"\"((?:MQQB|MQQP|MQDMPR|MQSO|MQMQ)-[\d.]+-D?\d+)\"")


def test_every_rule_that_a_model_names_is_in_the_catalogue():
    named = {rule for path in MODELS for rule in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert named - set(load_catalogue()) == set()
    assert len(named) > 200


@pytest.mark.parametrize("area", AREA_BY_NAME)
def test_every_model_transition_names_rules_and_is_drawn(area):
    for transition in AREA_BY_NAME[area].model_class.transitions.values():
        assert transition.rules, transition.name
        assert hasattr(AREA_BY_NAME[area].model_class, f"draw_{transition.name}")


@pytest.mark.parametrize("area", AREA_BY_NAME)
def test_every_model_transition_has_a_step_on_the_system(area):
    driven = {"queues": DrivenQueues}.get(area, AREA_BY_NAME[area].driven_system_class)
    assert [
        name for name in AREA_BY_NAME[area].model_class.transitions if not hasattr(driven, f"_perform_{name}")
    ] == []


def test_models_import_no_module_of_the_reference():
    for path in MODELS:
        assert "reference_qm" not in path.read_text(encoding="utf-8"), path
