"""The reference agrees with the models of the required behaviour on walks with fixed seeds, and a walk finds a fault in
each area.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.explore.areas import AREAS
from harness.explore.explored import ExplorationLimits, Explorer
from harness.judging.compared import load_compared_rules
from harness.sut.sut_file import CAPABILITIES, load_sut_file
from harness.sut.virtual_driver import VirtualDriver

STEPS = {"client": 400, "connecting": 1_000, "queues": 2_500, "remote": 1_500, "sessions": 2_000, "transfer": 1_500}
"""The number of steps in each area: at least three times the number after which every transition was taken once."""
FAULTS = {
    "client": ("client-cancel-receive-hqueue-in-16-bits", 3),
    "queues": ("abort-restores-message-at-end", 7),
    "connecting": ("initiator-no-entry-of-failed-retry", 6),
    "transfer": ("receiver-sequence-previous-number-not-last-accepted-rejected", 6),
}
"""A fault for each area, and the maximum number of steps of the shortest sequence that shows it."""


@pytest.fixture
def virtual(tmp_path: Path):
    path = tmp_path / "virtual.toml"
    declared = "".join(f"{name} = true\n" for name in CAPABILITIES)
    path.write_text(f'[sut]\nname = "reference"\n[driver]\nkind = "virtual"\n[capabilities]\n{declared}')
    return load_sut_file(path)


@pytest.mark.parametrize("area", AREAS)
def test_reference_agrees_with_model_in_every_transition(virtual, area: str) -> None:
    found = Explorer(VirtualDriver(virtual), AREAS[area]).explore(
        ExplorationLimits(STEPS[area], seed="fixed"), lambda done, of: None
    )
    assert found.diverged is None
    assert found.lacking == {}
    assert found.never_taken == []


@pytest.mark.parametrize("area", FAULTS)
def test_explorer_finds_a_fault_and_shows_a_short_sequence(virtual, area: str) -> None:
    name, longest = FAULTS[area]
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(name,)))
    found = Explorer(VirtualDriver(faulty), AREAS[area]).explore(ExplorationLimits(5_000), lambda done, of: None)
    assert found.diverged is not None
    assert len(found.diverged.steps) <= longest


def test_explorer_finds_a_packet_field_outside_the_model(virtual) -> None:
    fault = "any-establish-connection-reserved-not-zero"
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    found = Explorer(VirtualDriver(faulty), AREAS["transfer"]).explore(ExplorationLimits(2_000), lambda done, of: None)
    assert found.diverged is not None and found.diverged.divergence is not None
    assert found.diverged.divergence.rules in (("MQQB-3.1.5.3.1-12",), ("MQQB-3.1.5.2.3-12",))  # of either side
    assert len(found.diverged.steps) <= 2


def test_explorer_finds_a_property_of_a_packet_that_differs_from_the_request(virtual) -> None:
    fault = "sender-application-tag-cut-to-16-bits"
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    found = Explorer(VirtualDriver(faulty), AREAS["transfer"]).explore(ExplorationLimits(2_000), lambda done, of: None)
    assert found.diverged is not None and found.diverged.divergence is not None
    assert set(found.diverged.divergence.rules) <= load_compared_rules().keys()
    assert [step.name for step in found.diverged.steps] == ["ship_message"]
