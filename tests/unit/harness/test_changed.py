"""The rules that `prove --changed` selects: those whose checks, faults or code changed since the recorded proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.faults.registry import load_faults
from harness.proof.changed import compute_folder_digests, list_errata_to_run, list_rules_to_prove
from harness.proof.inventory import RuleInventory, take_inventory
from harness.rules.proof_record import RecordedProof

RULE = "MQQB-3.1.5.8.1-01"
FOLDER = "mqqb/s3_1_5_08_01_duplicate_detection"
DIGESTS = compute_folder_digests()
"""As everything is."""


@pytest.fixture(scope="module")
def inventory() -> RuleInventory:
    return take_inventory()


def recorded(inventory: RuleInventory, **folders: str) -> RecordedProof:
    """Return a recorded proof of the present state of all folders, except the given folders, which have
    other digests.
    """
    every = inventory.checked_rules()
    return RecordedProof(frozenset(every), {rule: ["x"] for rule in every}, DIGESTS | folders)


def test_unchanged_sources_leave_no_rule_to_prove(inventory):
    proof = recorded(inventory)
    assert list_rules_to_prove(inventory, proof, DIGESTS) == []
    assert list_errata_to_run(inventory, proof, DIGESTS) == []


def test_erratum_of_a_changed_reading_variant_is_proved_again(inventory):
    fault = next(fault for fault in load_faults().values() if fault.reading is not None)
    folder = str(fault.file).removeprefix("suites/").rpartition("/")[0]
    found = list_errata_to_run(inventory, recorded(inventory, **{folder: "another"}), DIGESTS)
    assert str(fault.reading).partition(".")[0] in found
    assert len(found) < 20


def test_all_rules_of_a_changed_section_folder_are_proved_again(inventory):
    found = list_rules_to_prove(inventory, recorded(inventory, **{FOLDER: "another"}), DIGESTS)
    assert RULE in found
    assert len(found) < 20


def test_rules_of_a_changed_fault_in_a_different_section_are_proved_again(inventory):
    assert inventory.catalogue["MQDMPR-3.1.1.12-D48"].folder == "suites/mqdmpr/s3_1_1_12_message"
    found = list_rules_to_prove(inventory, recorded(inventory, **{"mqmq/s2_2_19_1_base_header": "another"}), DIGESTS)
    assert "MQDMPR-3.1.1.12-D48" in found


def test_rules_of_a_document_are_proved_again_after_its_steps_change(inventory):
    found = list_rules_to_prove(inventory, recorded(inventory, **{"mqqp/steps": "another"}), DIGESTS)
    assert {rule for rule in inventory.checked_rules() if rule.startswith("MQQP-")} <= set(found)
    assert RULE not in found


def test_rule_without_proof_is_to_be_proven(inventory):
    proof = recorded(inventory)
    del proof.proven[RULE]  # type: ignore[attr-defined]
    assert list_rules_to_prove(inventory, proof, DIGESTS) == [RULE]


def test_digest_of_a_section_folder_changes_with_its_files(tmp_path: Path):
    (tmp_path / "doc/section").mkdir(parents=True)
    (tmp_path / "doc/section/test_it.py").write_text("1")
    before = compute_folder_digests(tmp_path)
    (tmp_path / "doc/section/test_it.py").write_text("2")
    assert before.keys() == compute_folder_digests(tmp_path).keys() == {"doc/section"}
    assert before != compute_folder_digests(tmp_path)
