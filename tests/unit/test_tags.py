"""The tags by which an editor looks up the id of a rule."""

from __future__ import annotations

from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue
from scripts.tags import build_tag_lines


def test_each_tag_of_a_rule_leads_to_its_row_and_sentence() -> None:
    catalogue = load_catalogue()
    lines = build_tag_lines(catalogue.values())
    assert lines == sorted(lines)
    found = {line.split("\t")[0]: line.split("\t") for line in lines}
    assert found.keys() == catalogue.keys()
    for rule, (_, path, pattern, kind, says) in found.items():
        row = pattern.removeprefix("/^").removesuffix('$/;"').replace("\\", "")
        assert row in (SUITES.parent / path).read_text(encoding="utf-8").splitlines()
        assert (kind, says) == ("r", f"says:{catalogue[rule].says}")
