"""The reference agrees with the models of the required behaviour on walks with fixed seeds, and a walk finds a fault in
each area.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.explore import explored
from harness.explore.areas import AREA_BY_NAME
from harness.explore.explored import AreaExplorer, ExplorationLimits
from harness.judging.compared import load_compared_rules
from harness.model.steps import Step
from harness.sut.sut_file import CAPABILITIES, load_sut_file
from harness.sut.virtual_driver import VirtualDriver

STEPS = {"client": 400, "connecting": 1_000, "queues": 2_500, "remote": 1_500, "sessions": 2_000, "transfer": 1_500}
"""The number of steps in each area: at least three times the number after which every transition was taken once."""
FAULTS = {
    "client": ("client-h-queue-of-cancel-receive-cut-to-16-bits", 4),
    "queues": ("abort-restores-message-at-end", 7),
    "connecting": ("initiator-history-lacks-entry-of-failed-retry", 6),
    "transfer": ("receiver-sequence-previous-number-not-last-accepted-rejected", 6),
}
"""A fault for each area, and the maximum number of steps of the shortest sequence that shows it."""
FAULTS_BY_ACTION = {
    "parametrize": ("connecting", "initiator-parameters-response-with-x3-refused"),
    "treat_pings": ("connecting", "initiator-second-ping-response-with-rf-ends-session"),
    "create_subqueue": ("queues", "queue-manager-long-subqueue-name-shortened"),
    "look_up": ("queues", "queue-manager-lookup-in-journal-searches-parent-queue"),
    "move": ("queues", "queue-manager-moved-message-not-in-total-bytes"),
    "misuse": ("remote", "server-multicast-name-opened-to-peek"),
    "send": ("sessions", "receiver-session-kept-after-repeated-sequence-number"),
    "deliver": ("transfer", "receiver-message-with-time-to-reach-queue-0-never-expires"),
    "deliver_by_private_names": ("transfer", "receiver-sends-order-ack-to-private-admin-queue-of-message"),
}
"""For each action that was added later, an area and a fault that a walk with this action finds."""


def _ship(message: str, delivery: str = "express", **properties: object) -> Step:
    fixed = {"to": "near", "priority": 3, "size": 0, "journal": []}
    return Step("ship_message", {"message": message, "delivery": delivery, "properties": properties, **fixed})


def _deliver_secured(message: str, *, altered: bool) -> Step:
    how = {"place": [], "kind": "MSMQ 2.0", "altered": altered, "level": 0, "acks": [], "journal": [], "size": 0}
    return Step("deliver_secured", {"session": "s", "message": message, **how})


_HOLD, _RELEASE = Step("hold", {"to": "near"}), Step("release", {"to": "near"})
_ENCRYPTED = {"sender": None, "how": "base", "size": 10}
SEQUENCES = {
    "sender-transactional-message-sent-although-queue-on-hold": (_ship("m1"), _HOLD, _ship("m2", "transactional")),
    "sender-sent-time-is-time-of-transmission": (
        *(_ship("m1"), _HOLD, _ship("m2"), _ship("m3"), _ship("m4"), _ship("m5")),
        _RELEASE,
    ),
    "sender-expired-message-takes-sequence-number": (
        *(_ship("m1"), _HOLD, _ship("m2", time_to_reach_queue_s=5), Step("rest_until_acknowledged"), _RELEASE),
        _ship("m3"),
        _ship("m4"),
    ),
    "sender-tx-numbers-begin-at-1-again-after-restart": (
        *(_ship("m1", "transactional"), _ship("m2", "transactional"), Step("offer_order_ack", {"message": "m1"})),
        Step("restart"),
    ),
    "receiver-integrity-of-known-sender-not-verified": (
        Step("connect", {"session": "s"}),
        _deliver_secured("m1", altered=False),
        _deliver_secured("m2", altered=True),
    ),
    "sender-simple-blob-of-cached-key-without-trailing-zeros": (
        Step("ship_secured", {"message": "m1", **_ENCRYPTED}),
        Step("ship_secured", {"message": "m2", **_ENCRYPTED}),
    ),
}
"""For each fault in the area `transfer`, steps that show the fault."""


@pytest.fixture
def virtual(tmp_path: Path):
    path = tmp_path / "virtual.toml"
    declared = "".join(f"{name} = true\n" for name in CAPABILITIES)
    path.write_text(f'[sut]\nname = "reference"\n[driver]\nkind = "virtual"\n[capabilities]\n{declared}')
    return load_sut_file(path)


@pytest.mark.parametrize("area", AREA_BY_NAME)
def test_reference_agrees_with_model_in_every_transition(virtual, area: str) -> None:
    found = AreaExplorer(VirtualDriver(virtual), AREA_BY_NAME[area]).explore(
        ExplorationLimits(STEPS[area], seed="fixed"), lambda done, of: None
    )
    assert found.diverging_walk is None
    assert found.missing_needs_by_transition == {}
    assert found.untaken_transitions == []


@pytest.mark.parametrize("area", FAULTS)
def test_explorer_finds_a_fault_and_shows_a_short_sequence(virtual, area: str) -> None:
    name, longest = FAULTS[area]
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(name,)))
    found = AreaExplorer(VirtualDriver(faulty), AREA_BY_NAME[area]).explore(
        ExplorationLimits(5_000), lambda done, of: None
    )
    assert found.diverging_walk is not None
    assert len(found.diverging_walk.steps) <= longest


@pytest.mark.parametrize("action", FAULTS_BY_ACTION)
def test_explorer_finds_a_fault_with_a_later_action(virtual, action: str, monkeypatch) -> None:
    # a short sequence is not needed here
    monkeypatch.setattr(explored, "shrink_walk", lambda kind, walk, attempt: walk)
    area, fault = FAULTS_BY_ACTION[action]
    assert action in AREA_BY_NAME[area].model_class.transitions
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    found = AreaExplorer(VirtualDriver(faulty), AREA_BY_NAME[area]).explore(
        ExplorationLimits(2_500), lambda done, of: None
    )
    assert found.diverging_walk is not None


@pytest.mark.parametrize("fault", SEQUENCES)
def test_steps_of_transfer_show_a_fault_and_agree_without_it(virtual, fault: str) -> None:
    steps = SEQUENCES[fault]
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    assert AreaExplorer(VirtualDriver(faulty), AREA_BY_NAME["transfer"]).replay_steps(steps).divergence is not None
    clean = AreaExplorer(VirtualDriver(virtual), AREA_BY_NAME["transfer"]).replay_steps(steps)
    assert clean.divergence is None
    assert clean.steps == list(steps)


def test_explorer_finds_a_packet_field_outside_the_model(virtual) -> None:
    fault = "any-establish-connection-reserved-not-zero"
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    found = AreaExplorer(VirtualDriver(faulty), AREA_BY_NAME["transfer"]).explore(
        ExplorationLimits(2_000), lambda done, of: None
    )
    assert found.diverging_walk is not None and found.diverging_walk.divergence is not None
    assert found.diverging_walk.divergence.rules in (("MQQB-3.1.5.3.1-12",), ("MQQB-3.1.5.2.3-12",))  # of either side
    assert len(found.diverging_walk.steps) <= 2


def test_explorer_finds_a_property_of_a_packet_that_differs_from_the_request(virtual) -> None:
    fault = "sender-application-tag-cut-to-16-bits"
    faulty = replace(virtual, reference=replace(virtual.reference, faults=(fault,)))
    found = AreaExplorer(VirtualDriver(faulty), AREA_BY_NAME["transfer"]).explore(
        ExplorationLimits(2_000), lambda done, of: None
    )
    assert found.diverging_walk is not None and found.diverging_walk.divergence is not None
    assert set(found.diverging_walk.divergence.rules) <= load_compared_rules().keys()
    assert [step.name for step in found.diverging_walk.steps] == ["ship_message"]
