"""What `prove --changed` takes: what is not as it was when all was proven, and a tenth of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.proof import changed
from harness.proof.changed import folder_digests, in_the_tenth, to_prove
from harness.proof.inventory import Inventory, take_inventory
from harness.rules.proof_record import RecordedProof

RULE = "MQQB-3.1.5.8.1-01"
FOLDER = "mqqb/s3_1_5_08_01_duplicate_detection"
DIGESTS = folder_digests()
"""As everything is."""


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return take_inventory()


def recorded(inventory: Inventory, **folders: str) -> RecordedProof:
    """Return a record of everything as it is, but for some folders."""
    every = inventory.checked()
    return RecordedProof(frozenset(every), {rule: ["x"] for rule in every}, DIGESTS | folders)


def test_nothing_changed_leaves_a_tenth(inventory, monkeypatch):
    taken = []
    for digit in range(10):
        monkeypatch.setattr(changed, "code_digest", lambda digit=digit: f"{digit:08x}")
        taken += to_prove(inventory, recorded(inventory), DIGESTS)
    assert sorted(taken) == sorted(inventory.checked())


def test_a_changed_folder_brings_all_of_its_rules(inventory, monkeypatch):
    monkeypatch.setattr(changed, "in_the_tenth", lambda name: False)
    found = to_prove(inventory, recorded(inventory, **{FOLDER: "another"}), DIGESTS)
    assert RULE in found
    assert len(found) < 20


def test_a_changed_file_of_second_faults_brings_the_rules_that_it_names(inventory, monkeypatch):
    monkeypatch.setattr(changed, "in_the_tenth", lambda name: False)
    found = to_prove(inventory, recorded(inventory, **{"mqqp/second_faults.py": "another"}), DIGESTS)
    assert "MQQP-3.1.4.11-43" in found
    assert len(found) < 60


def test_changed_steps_bring_the_rules_of_their_document(inventory, monkeypatch):
    monkeypatch.setattr(changed, "in_the_tenth", lambda name: False)
    found = to_prove(inventory, recorded(inventory, **{"mqqp/steps": "another"}), DIGESTS)
    assert {rule for rule in inventory.checked() if rule.startswith("MQQP-")} <= set(found)
    assert RULE not in found


def test_what_was_never_proven_is_proven(inventory, monkeypatch):
    monkeypatch.setattr(changed, "in_the_tenth", lambda name: False)
    proof = recorded(inventory)
    del proof.proven[RULE]  # type: ignore[attr-defined]
    assert to_prove(inventory, proof, DIGESTS) == [RULE]


def test_a_digest_changes_with_the_files(tmp_path: Path):
    (tmp_path / "doc/section").mkdir(parents=True)
    (tmp_path / "doc/section/test_it.py").write_text("1")
    before = folder_digests(tmp_path)
    (tmp_path / "doc/section/test_it.py").write_text("2")
    assert before.keys() == folder_digests(tmp_path).keys() == {"doc/section"}
    assert before != folder_digests(tmp_path)


def test_the_tenth_is_another_when_the_code_is(monkeypatch):
    every = [f"{RULE}-{number}" for number in range(100)]
    drawn = []
    for digest in ("00000000", "00000001", "0000000a"):
        monkeypatch.setattr(changed, "code_digest", lambda digest=digest: digest)
        drawn.append([name for name in every if in_the_tenth(name)])
    assert drawn[0] == drawn[2] != drawn[1]
    assert set(drawn[0]).isdisjoint(drawn[1])
