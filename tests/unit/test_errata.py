"""The errata of the repository are complete, and each mistake in an entry gives one clear line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue, load_documents, load_index
from harness.rules.errata import CatalogueError, Erratum, ReadingOfErratum, load_errata

NUMBERS = [
    *range(1, 66),
    75,
    *range(80, 89),
    *range(101, 121),
    *range(136, 143),
    *range(150, 154),
    160,
    161,
    170,
    171,
    180,
    190,
    191,
    *range(200, 203),
    210,
    211,
    220,
    221,
    222,
]
"""The numbers of all entries: contradictions within the documents, and between the documents and bytes of
real systems.
"""
CANNOT_BE_MEANT = {
    *(6, 9, 11, 17, 21, 23, 27, 28, 29, 37, 38, 43, 54, 58, 61),
    *(80, 82, 84, 86, 88, 101, 104, 113, 114, 137, 141, 142, 152, 161, 190, 191),
}
"""Entries with a reading that leads to a failure, because the protocol does not work with this reading, or because it
breaks an unambiguous sentence.
"""
ADVISED_AGAINST = {63, 210}
"""Entries with a reading that leads to a warning of a check."""

KEYS = {
    "where": '["MQQB-2.2.1-01", "MQQB 3.1.2.1"]',
    "says": '"a"',
    "readings": '[{ says = "b", verdict = "pass" }, { says = "c", verdict = "fail" }]',
    "real": '"d"',
    "choice": '"e"',
    "settled": "true",
    "why": '"f"',
}
INDEX = {"MQQB-2.2.1-01"}


def entry(name: str = "E07", **changes: str | None) -> str:
    keys = {**KEYS, **changes}
    return f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None)


def load(root: Path, text: str) -> dict[str, Erratum]:
    (root / "errata.toml").write_text(text, encoding="utf-8")
    return load_errata(INDEX, root)


def test_erratum_entry_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, entry()) == {
        "E07": Erratum(
            id="E07",
            where=("MQQB-2.2.1-01", "MQQB 3.1.2.1"),
            says="a",
            possible_readings=(ReadingOfErratum("b", "pass"), ReadingOfErratum("c", "fail")),
            real="d",
            choice="e",
            settled=True,
            why="f",
        )
    }


def test_rules_of_an_erratum_are_those_of_its_where_key(tmp_path: Path) -> None:
    assert load(tmp_path, entry())["E07"].rules == ("MQQB-2.2.1-01",)


BAD = {
    "id": (entry("Q1"), "Q1: the name is not an id of an erratum"),
    "unknown rule": (entry(where='["MQQB-9.9-01"]'), "E07: the key 'where' contains the unknown rule MQQB-9.9-01"),
    "no place": (
        entry(where='["3.1.2"]'),
        "E07: the key 'where' contains the invalid place '3.1.2'; write a rule id or a section",
    ),
    "place no text": (
        entry(where="[7]"),
        "E07: the key 'where' contains the invalid place 7; write a rule id or a section",
    ),
    "empty where": (entry(where="[]"), "E07: where is empty"),
    "unknown key": (entry() + 'note = "x"\n', "E07: unknown key note"),
    "missing key": (entry(choice=None), "E07: choice is missing"),
    "settled a string": (entry(settled='"yes"'), "E07: settled is a string, not a boolean"),
    "one reading": (
        entry(readings='[{ says = "b", verdict = "pass" }]'),
        "E07: the erratum has fewer than two readings",
    ),
    "reading without verdict": (
        entry(readings='[{ says = "b" }, { says = "c", verdict = "pass" }]'),
        "E07 reading 1: verdict is missing",
    ),
    "unknown verdict": (
        entry(readings='[{ says = "b", verdict = "pass" }, { says = "c", verdict = "maybe" }]'),
        "E07 reading 2: unknown verdict maybe; known: pass, fail, warn",
    ),
    "not run without checks": (
        entry(readings='[{ says = "b", verdict = "pass" }, { says = "c", verdict = "pass", not_run = "d" }]'),
        "E07 reading 2: the entry has only one of the keys 'not_run' and 'checks'; a reading that is not run must name",
    ),
    "reading no table": (entry(readings='["b", "c"]'), "E07 reading 1: the entry is not a table"),
    "no table": ('E07 = "x"\n', "E07: the entry is not a table"),
    "malformed": ("[E07\n", "is not TOML"),
    "twice": (entry() + entry(), "is not TOML"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_erratum_gives_one_line_error_with_file_id_and_remedy(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(CatalogueError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "errata.toml") + ": ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# -- what ships ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def errata() -> dict[str, Erratum]:
    return load_errata(load_index())


def test_every_ambiguity_that_a_check_touches_has_an_erratum(errata: dict[str, Erratum]) -> None:
    assert list(errata) == [f"E{number:02}" for number in NUMBERS]


def test_every_erratum_has_a_reading_that_passes(errata: dict[str, Erratum]) -> None:
    for erratum in errata.values():
        assert any(reading.verdict == "pass" for reading in erratum.possible_readings), erratum.id


def test_erratum_reading_has_verdict_fail_only_if_excluded(errata: dict[str, Erratum]) -> None:
    failing = {
        name for name, each in errata.items() if any(reading.verdict != "pass" for reading in each.possible_readings)
    }
    assert failing == {f"E{number:02}" for number in CANNOT_BE_MEANT | ADVISED_AGAINST}


def test_settled_errata_name_their_frames(errata: dict[str, Erratum]) -> None:
    for erratum in errata.values():
        assert not erratum.settled or re.search(r"[Ff]rames? \d", erratum.real), erratum.id


def test_sections_named_by_errata_exist(errata: dict[str, Erratum]) -> None:
    """Each place that an erratum names belongs to a known document. An erratum names a section where none of the
    section's rules depends on it.
    """
    documents = set(load_documents())
    for erratum in errata.values():
        assert {re.split("[- ]", place)[0] for place in erratum.where} <= documents


def test_errata_cited_by_the_catalogue_name_the_citing_rule(errata: dict[str, Erratum]) -> None:
    """If a row cites an erratum, the key ``where`` of the erratum contains the rule or its section."""
    unrelated = {
        (rule.id, name)
        for rule in load_catalogue().values()
        for name in rule.errata
        if not {rule.id, f"{rule.document} {rule.section}"} & set(errata[name].where)
    }
    assert unrelated == set()


def test_checks_listed_for_an_unrun_erratum_reading_exist(errata: dict[str, Erratum]) -> None:
    named = {check for erratum in errata.values() for reading in erratum.possible_readings for check in reading.checks}
    missing = {check for check in named if not _is_defined(*check.split("::"))}
    assert named
    assert missing == set()


def _is_defined(file: str, function: str) -> bool:
    path = SUITES.parent / file
    return path.is_file() and f"\ndef {function}(" in path.read_text("utf-8")
