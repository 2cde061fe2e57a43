"""Tests that the list of renamed faults (``suites/blind/renamed-faults.tsv``) leads to faults that exist."""

from __future__ import annotations

import csv
from pathlib import Path

from harness.faults.registry import load_faults

RENAMED_FAULTS_FILE = Path(__file__).parents[3] / "suites" / "blind" / "renamed-faults.tsv"


def test_present_names_of_renamed_faults_are_faults_and_recorded_names_are_not() -> None:
    with RENAMED_FAULTS_FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    names = load_faults().keys()
    assert rows
    assert [row["now"] for row in rows if row["now"] not in names] == []
    assert [row["recorded"] for row in rows if row["recorded"] in names] == []
    assert len({row["recorded"] for row in rows}) == len(rows)
