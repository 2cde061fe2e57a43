"""In captures of a system with one fault, which tshark recorded, `check` names the rule of the fault, and besides only
the rules listed in faults.toml.

In faults.toml, `also` lists the rules that the same wrong bytes break. The captures of test_check_recorded.py have the
same conversations of the reference without a fault; no rule is broken there.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness.faults.registry import find_fault, load_faults
from harness.foreign.check import check_capture
from harness.foreign.systems import RequestedSystem
from harness.judging.passive import load_predicates
from harness.judging.verdicts import Verdict
from harness.rules.catalogue import load_catalogue

RECORDED = Path(__file__).parent / "recorded" / "faults"
FAULTS: dict[str, Any] = tomllib.loads((RECORDED / "faults.toml").read_text(encoding="utf-8"))["faults"]
CATALOGUE = load_catalogue()


def list_broken_rules(name: str) -> set[str]:
    """Return the rules that the system breaks in the capture with a fault."""
    systems = check_capture(
        RECORDED / f"{name}.pcapng.gz", CATALOGUE, RequestedSystem.parse("10.77.0.2")
    ).traffic.systems
    verdicts = [entry for system in systems.system_by_name.values() for entry in system.remove_and_return_verdicts()]
    return {entry.rule for entry in verdicts if entry.verdict is Verdict.FAIL}


@pytest.mark.parametrize("name", FAULTS)
def test_capture_of_a_faulty_system_breaks_exactly_the_rules_listed_for_its_fault(name: str) -> None:
    fault = FAULTS[name]
    assert list_broken_rules(name) == {fault["rule"], *fault.get("also", [])}


def test_recorded_captures_have_thirty_faults_of_different_rules() -> None:
    load_faults()
    rules = {fault["rule"] for fault in FAULTS.values()}
    assert len(rules) == len(FAULTS) >= 30
    assert rules <= load_predicates().keys()
    assert all(fault["rule"] in find_fault(name).breaks for name, fault in FAULTS.items())
    assert len({rule.partition("-")[0] for rule in rules}) >= 2
    assert {path.name for path in RECORDED.glob("*.gz")} == {f"{name}.pcapng.gz" for name in FAULTS}
