"""The product notes of the documents as data: each number occurs once, and all rules, releases and behaviours that a
note names exist.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.rules.catalogue import load_catalogue
from harness.rules.errata import CatalogueError
from harness.rules.product_notes import PRODUCT_NOTES_FILE_NAME, load_product_notes
from harness.rules.releases import RELEASES
from reference_qm.releases.names import WINDOWS_RELEASES, parse_releases

SPECIFICATIONS = Path(__file__).resolve().parents[3] / "shared" / "specs"
FROZEN = {"MQQB": 70, "MQQP": 31, "MQMQ": 44, "MQDMPR": 31, "MQSO": 17}
"""The number of product notes in the appendix of each document with a file of notes."""
TEXTS = {
    "MQQB": "MS-MQQB.later.md",
    "MQQP": "MS-MQQP.later.md",
    "MQMQ": "MS-MQMQ.md",
    "MQDMPR": "MS-MQDMPR.later.md",
    "MQSO": "MS-MQSO.seed.txt",
}
NOTE = re.compile(r"^<(\d+)> Section (\d+(?:\.\d+)*):", re.MULTILINE)
ROW = '[1]\nsections = ["2.1"]\nkind = "deviates"\nreleases = ["all"]\nsays = "x"\nreference = ["same"]\n'
RULE = "MQQB-2.2.1-01"


@pytest.mark.parametrize("document", FROZEN)
def test_every_product_note_number_has_its_entry(document: str) -> None:
    notes = load_catalogue().notes.by_document
    assert list(notes) == sorted(FROZEN)
    assert list(notes[document]) == list(range(1, FROZEN[document] + 1))


@pytest.mark.skipif(not SPECIFICATIONS.exists(), reason="the specifications are not beside this clone")
@pytest.mark.parametrize("document", FROZEN)
def test_product_notes_have_numbers_and_sections_of_the_appendix(document: str) -> None:
    text = (SPECIFICATIONS / TEXTS[document]).read_text(encoding="utf-8")
    printed = {int(number): (section,) for number, section in NOTE.findall(text)}
    notes = load_catalogue().notes.by_document[document]
    assert {number: note.sections for number, note in notes.items()} == printed


def test_rules_and_product_notes_cite_each_other() -> None:
    catalogue = load_catalogue()
    for row in catalogue.values():
        for note in catalogue.notes.find_cited_notes(row.document, row.note):
            assert note in catalogue.notes.list_notes_of_rule(row.id, row.document, row.note)
    excused = {rule for name in RELEASES for rule in catalogue.notes.list_excused_rules(name)}
    assert excused <= set(catalogue)
    assert catalogue.notes.list_excused_rules("none") == catalogue.notes.list_excused_rules("unheard-of") == {}


def test_product_notes_excuse_current_releases_rarely() -> None:
    """These are all demands, by note, that notes excuse for current releases. A note that applies only to some messages
    of a rule excuses no rule.
    """
    catalogue = load_catalogue()
    excused = catalogue.notes.list_excused_rules("windows-server-2025")
    assert {excused[rule].name for rule in excused if not catalogue[rule].level.startswith("SHOULD")} == {
        "MS-MQMQ <14>",  # UserMsgSequenceNumber may be wrong
        "MS-MQQB <19>",  # the unused bits of a ping are whatever was in memory
        "MS-MQQP <5>",  # a client stays at the port that it bound to first
        "MS-MQMQ <23>",  # no reports unless they are switched on
        "MS-MQSO <16>",  # people move the object into another domain
    }
    assert excused == catalogue.notes.list_excused_rules("windows-7")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (["all"], WINDOWS_RELEASES),
        (["windows-xp", "windows-nt"], ("windows-nt", "windows-xp")),
        (["until windows-2000"], ("windows-nt", "windows-2000")),
        (["from windows-11", "windows-server-2025"], ("windows-11", "windows-server-2025")),
    ],
)
def test_product_note_names_releases_singly_or_by_range(written: list[str], found: tuple[str, ...]) -> None:
    assert parse_releases(written) == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ROW.replace("[1]", "[01]"), "01: the name is not the number of a note; write [17] for note <17>"),
        (ROW.replace("[1]", "[one]"), "one: the name is not the number of a note"),
        (ROW.replace("deviates", "odd"), "1: unknown kind odd; known: deviates, default, "),
        (
            ROW.replace('"2.1"', '"two"'),
            "1: the key 'sections' contains the invalid section 'two'; write a section as 3.1.4.6",
        ),
        (ROW.replace('"all"', '"none"'), "1: unknown release 'none'; known: windows-nt, "),
        (ROW.replace('"all"', '"from windows-12"'), "1: unknown release 'windows-12'"),
        (ROW + 'rules = ["MQQB-9.9-01"]\n', "1: unknown rule MQQB-9.9-01; suites/index.tsv lists all rules"),
        (ROW + 'rules = ["MQQB-9.9-*"]\n', "1: unknown rule MQQB-9.9-*"),
        (
            ROW + f'excuses = ["{RULE}"]\n',
            "1: the key 'excuses' requires the key 'allows': describe there the permitted deviation",
        ),
        (
            ROW + 'excused = ["all"]\n',
            "1: the key 'excused' requires the key 'excuses': list there the rules that may be violated",
        ),
        (ROW + "odd = 1\n", "1: unknown key odd"),
        (
            ROW.replace("same", "outside"),
            "1: the key 'reference' is ['outside']; write ['outside: why'] and nothing else",
        ),
        (ROW.replace('reference = ["same"]\n', ""), "1: reference is missing; every row must have sections, kind, "),
    ],
)
def test_invalid_product_note_gives_one_line_error(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        load_product_notes(*noted(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'mqqb' / PRODUCT_NOTES_FILE_NAME}: {says}")
    assert "\n" not in str(caught.value)


def test_product_note_can_excuse_a_whole_section_for_some_releases(tmp_path: Path) -> None:
    text = f'{ROW}allows = "y"\nexcuses = ["MQQB-2.2.1-*"]\nexcused = ["windows-xp"]\n'
    notes = load_product_notes(*noted(tmp_path, text))
    assert notes.list_excused_rules("windows-xp").keys() == {RULE, "MQQB-2.2.1-02"}
    assert notes.list_excused_rules("windows-10") == {}
    assert [note.name for note in notes.list_notes_of_rule(RULE, "MQQB", None)] == ["MS-MQQB <1>"]


def test_rows_can_cite_product_notes_of_any_document(tmp_path: Path) -> None:
    notes = load_product_notes(*noted(tmp_path, ROW))
    assert [note.number for note in notes.find_cited_notes("MQMQ", "MS-MQQB <1>")] == [1]
    assert notes.find_cited_notes("MQMQ", "<7>") == []  # a document whose notes nobody wrote down
    with pytest.raises(KeyError, match="<2>"):
        notes.find_cited_notes("MQQB", "<1>, <2>")


def noted(root: Path, text: str) -> tuple[dict[str, None], dict[str, None], Path]:
    """Write the notes of a document; return the arguments of `load_product_notes`."""
    (root / "mqqb").mkdir()
    (root / "mqqb" / PRODUCT_NOTES_FILE_NAME).write_text(text, encoding="utf-8")
    ids = dict.fromkeys([RULE, "MQQB-2.2.1-02", "MQQB-2.2-01"])
    return ids, ids, root
