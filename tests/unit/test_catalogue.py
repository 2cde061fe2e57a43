"""The catalogue of the repository is consistent, and each mistake in a row gives one clear line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from harness.errors import MqconformError
from harness.paths import SUITES
from harness.rules.catalogue import (
    INDEX_FILE,
    INDEX_ROW_FORMS_IN_CATALOGUE,
    REQUIREMENT_LEVELS,
    RULE_FORMS,
    Catalogue,
    CatalogueError,
    load_catalogue,
    load_documents,
    load_index,
)

LEDGER = Path(__file__).resolve().parents[3] / "shared" / "rules"

INDEX = """id\tlevel\tform\tclass\tof\ttitle
MQQB-2.2.1-01\tMUST\trule\tdemand\t\tInternalHeader
MQQB-2.2.1-02\tSHOULD NOT\tstep\tclone\tMQQB-2.2.1-01\tInternalHeader
MQQB-2.2.1-10\tMUST\trule\tdemand\t\tInternalHeader
MQQB-2.2.1-D01\tMUST\trule\tdemand\t\tInternalHeader
MQQB-2.2.1-D02\tMUST\trule\tdemand\t\tInternalHeader
MQQB-10.1-01\tMUST\trule\tevent\t\tLater
MQQB-2.2.2-01\tMUST\tlead\t\t\tConnectionParameters Packet
MQMQ-2.2.19.1-01\tMUST\trule\tdemand\t\tBaseHeader
MQZZ-1.1-01\tMUST\trule\tdemand\t\tNowhere
"""
DOCUMENTS = """
[MQMQ]
title = "Data Structures"
[MQQB]
title = "Binary Protocol"
page = "11111111-1111-1111-1111-111111111111"
[MQQB.sections]
"2.2.1" = "22222222-2222-2222-2222-222222222222"
"""
ERRATA = """
[E01]
where = ["MQQB 2.2.1"]
says = "a"
readings = [{ says = "b", verdict = "pass" }, { says = "c", verdict = "fail" }]
real = "d"
choice = "e"
settled = true
why = "f"
"""
ROW = '["MQQB-2.2.1-01"]\nobserve = "wire"\nrole = "any"\nsays = "something"\n'

HEAD = 'title = "MS-MQQB 2.2.1 InternalHeader"\n'
Suites = Callable[..., Path]


@pytest.fixture
def suites(tmp_path: Path) -> Suites:
    """Return a function that writes a folder of suites with the given catalogue files."""

    def make(*files: str, index: str = INDEX, documents: str = DOCUMENTS) -> Path:
        (tmp_path / "index.tsv").write_text(index, encoding="utf-8")
        (tmp_path / "documents.toml").write_text(documents, encoding="utf-8")
        (tmp_path / "errata.toml").write_text(ERRATA, encoding="utf-8")
        for number, text in enumerate(files):
            section = tmp_path / "mqqb" / f"s{number}"
            section.mkdir(parents=True)
            (section / "rules.toml").write_text(HEAD + text, encoding="utf-8")
        return tmp_path

    return make


def row(rule: str, **changes: str | None) -> str:
    """Return a row as TOML text; ``changes`` replaces keys (TOML values) or omits them (None)."""
    keys = {"observe": '"wire"', "role": '"any"', "says": '"something"', **changes}
    return f'["{rule}"]\n' + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None)


def test_catalogue_row_is_joined_with_index_and_documents(suites: Suites) -> None:
    text = row(
        "MQQB-2.2.1-02", observe='"none"', role='"acceptor"', why='"because"', errata='["E01"]', note='"<12>"'
    ) + row("MQQB-10.1-01")
    catalogue = load_catalogue(suites(text))
    rule = catalogue["MQQB-2.2.1-02"]
    assert (rule.id, rule.document, rule.section, rule.number) == ("MQQB-2.2.1-02", "MQQB", "2.2.1", "02")
    assert (rule.kind, rule.twin) == ("clone", "MQQB-2.2.1-01")
    assert (rule.title, rule.level, rule.form) == ("InternalHeader", "SHOULD NOT", "step")
    assert (rule.observe, rule.role, rule.says, rule.why) == ("none", "acceptor", "something", "because")
    assert (rule.errata, rule.note) == (("E01",), "<12>")
    assert rule.link.endswith("/ms-mqqb/22222222-2222-2222-2222-222222222222")
    plain = catalogue["MQQB-10.1-01"]
    assert (plain.why, plain.errata, plain.note) == (None, (), None)
    assert plain.link.endswith("/ms-mqqb/11111111-1111-1111-1111-111111111111")


def test_product_note_cited_by_a_catalogue_row_exists(suites: Suites) -> None:
    root = suites(row("MQQB-2.2.1-01", note='"<1>, <2>"'))
    load_catalogue(root)  # of a document without notes.toml no note is known
    note = '[1]\nsections = ["2.2.1"]\nkind = "deviates"\nreleases = ["all"]\nsays = "x"\nreference = ["same"]\n'
    (root / "mqqb" / "notes.toml").write_text(note, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"rules\.toml: MQQB-2\.2\.1-01: unknown product note <2>; add it to"):
        load_catalogue(root)
    (root / "mqqb" / "notes.toml").write_text(note + note.replace("[1]", "[2]"), encoding="utf-8")
    assert load_catalogue(root).notes.find_cited_notes("MQQB", "<2>")


def test_defaults_of_rules_file_apply_to_rows_without_the_key(suites: Suites) -> None:
    head = '[defaults]\nobserve = "rpc"\nrole = "acceptor"\n'
    text = head + row("MQQB-2.2.1-01", observe=None, role=None) + row("MQQB-2.2.1-02", observe=None)
    catalogue = load_catalogue(suites(text, row("MQQB-10.1-01")))
    found = {name: (rule.observe, rule.role) for name, rule in catalogue.items()}
    assert found == {
        "MQQB-2.2.1-01": ("rpc", "acceptor"),
        "MQQB-2.2.1-02": ("rpc", "any"),
        "MQQB-10.1-01": ("wire", "any"),
    }


@pytest.mark.parametrize("head", ['[defaults]\nsays = "x"\n', "defaults = 1\n", "[defaults]\nrole = 1\n"])
def test_invalid_defaults_of_rules_file_give_one_line_error_with_the_file(suites: Suites, head: str) -> None:
    root = suites(head + ROW)
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(root)
    assert str(caught.value).startswith(str(root / "mqqb" / "s0" / "rules.toml") + ": defaults: ")
    assert "\n" not in str(caught.value)


def test_a_section_names_the_folders_that_check_its_rules(suites: Suites) -> None:
    root = suites('checked_in = ["mqqb/s1"]\n' + row("MQQB-2.2.1-01"), row("MQQB-10.1-01"))
    assert list(load_catalogue(root)) == ["MQQB-2.2.1-01", "MQQB-10.1-01"]


def test_a_section_without_a_title_gives_one_line_error_with_the_file(suites: Suites) -> None:
    root = suites(ROW)
    (root / "mqqb" / "s0" / "rules.toml").write_text(ROW, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"rules\.toml: the head: title is missing"):
        load_catalogue(root)


@pytest.mark.parametrize("value", ['"mqqb/s0"', '["mqqb/s9"]', "[7]"])
def test_invalid_checked_in_of_rules_file_gives_one_line_error_with_the_file(suites: Suites, value: str) -> None:
    root = suites(f"checked_in = {value}\n" + ROW)
    with pytest.raises(CatalogueError, match=r"rules\.toml: .*checked_in.* no") as caught:
        load_catalogue(root)
    assert "\n" not in str(caught.value)


def test_rules_are_in_the_order_of_documents_and_numeric_sections(suites: Suites) -> None:
    ordered = [
        *("MQMQ-2.2.19.1-01", "MQQB-2.2.1-02", "MQQB-2.2.1-10"),
        *("MQQB-2.2.1-D01", "MQQB-2.2.1-D02", "MQQB-10.1-01"),
    ]
    catalogue = load_catalogue(suites(*map(row, reversed(ordered))))
    assert list(catalogue) == ordered
    assert catalogue.list_documents() == ["MQMQ", "MQQB"]
    assert [rule.id for rule in catalogue.document("MQMQ")] == ["MQMQ-2.2.19.1-01"]
    assert len(catalogue) == 6
    assert "MQQB-2.2.1-01" not in catalogue


def test_rules_json_has_the_fields_that_reports_read(suites: Suites) -> None:
    assert load_catalogue(suites(ROW)).to_rules_json() == {
        "MQQB-2.2.1-01": {
            "document": "MQQB",
            "section": "2.2.1",
            "title": "InternalHeader",
            "level": "MUST",
            "form": "rule",
            "kind": "demand",
            "twin": None,
            "observe": "wire",
            "observed": "in an exchange of packets that a check drives",
            "role": "any",
            "says": "something",
            "why": None,
            "link": "https://learn.microsoft.com/openspecs/windows_protocols/ms-mqqb/"
            "22222222-2222-2222-2222-222222222222",
            "violates": (),
            "under": (),
        }
    }


def test_titles_of_documents_are_short() -> None:
    titles = load_catalogue().list_titles()
    assert (titles["MQQB"], titles["MQMQ"]) == ("Message Queuing Binary Protocol", "Data Structures")


def test_any_rule_of_a_known_document_has_a_link(suites: Suites) -> None:
    catalogue = load_catalogue(suites(ROW))
    assert catalogue.link("MQQB-2.2.1-99").endswith("/ms-mqqb/22222222-2222-2222-2222-222222222222")
    assert catalogue.link("MQMQ-2.2.19.1-01").endswith("/openspecs/windows_protocols/ms-mqmq/")
    with pytest.raises(KeyError):
        catalogue.link("MQZZ-1.1-01")


BAD_ROWS = {
    "unknown id": (row("MQQB-2.2.1-77"), "MQQB-2.2.1-77: unknown id; index.tsv lists all ids"),
    "lead": (row("MQQB-2.2.2-01"), "MQQB-2.2.2-01: the entry is a lead, but only rule and step have rows"),
    "unknown document": (row("MQZZ-1.1-01"), "MQZZ-1.1-01: unknown document MQZZ; add it to documents.toml"),
    "unknown key": (ROW + 'sais = "x"\n', "MQQB-2.2.1-01: unknown key sais; known: observe, role, says, why"),
    "missing says": (row("MQQB-2.2.1-01", says=None), "MQQB-2.2.1-01: says is missing"),
    "missing role": (row("MQQB-2.2.1-01", role=None), "MQQB-2.2.1-01: role is missing"),
    "empty says": (row("MQQB-2.2.1-01", says='""'), "MQQB-2.2.1-01: says is empty"),
    "unknown observe": (row("MQQB-2.2.1-01", observe='"look"'), "unknown observe look; known: passive, wire, rpc"),
    "unknown role": (row("MQQB-2.2.1-01", role='"server"'), "unknown role server; known: initiator, acceptor"),
    "none without why": (
        row("MQQB-2.2.1-01", observe='"none"'),
        "the key 'observe' is none, but the key 'why' is missing",
    ),
    "unknown erratum": (row("MQQB-2.2.1-01", errata='["E77"]'), "unknown erratum E77; add it to errata.toml"),
    "violates nothing known": (
        row("MQQB-2.2.1-01", violates='["MQQB-2.2.1-77"]'),
        "MQQB-2.2.1-01: the key 'violates' contains the unknown rule MQQB-2.2.1-77; index.tsv lists all rules",
    ),
    "under no SHOULD": (
        row("MQQB-2.2.1-01", under='["MQQB-2.2.1-01"]'),
        "MQQB-2.2.1-01: the rule depends on MQQB-2.2.1-01 (key "
        "'under'), which is not a SHOULD; index.tsv lists the levels",
    ),
    "says a number": (row("MQQB-2.2.1-01", says="7"), "says is an integer, not a string"),
    "errata a string": (row("MQQB-2.2.1-01", errata='"E01"'), "errata is a string, not a list"),
    "no table": ('"MQQB-2.2.1-01" = "x"\n', "MQQB-2.2.1-01: the entry is not a table"),
    "malformed": ('["MQQB-2.2.1-01"\n', "is not TOML"),
    "twice in one file": (ROW + ROW, "is not TOML"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_invalid_catalogue_row_gives_one_line_error_with_file_id_and_remedy(suites: Suites, name: str) -> None:
    text, message = BAD_ROWS[name]
    root = suites(text)
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(root)
    assert str(caught.value).startswith(str(root / "mqqb" / "s0" / "rules.toml") + ": ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, MqconformError)


def test_rule_with_rows_in_two_files_is_named(suites: Suites) -> None:
    with pytest.raises(
        CatalogueError, match=r"s1/rules\.toml: MQQB-2\.2\.1-01: the rule occurs twice; another section"
    ):
        load_catalogue(suites(ROW, ROW))


def test_rules_file_that_is_not_utf_8_is_reported(suites: Suites) -> None:
    root = suites(ROW)
    (root / "mqqb" / "s0" / "rules.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogueError, match=r"s0/rules\.toml: the file is not TOML"):
        load_catalogue(root)


COLUMNS = "line 1: the columns must be id, level, form, class, of, title"
BAD_INDEXES = {
    "columns": ("id\tlevel\n", COLUMNS),
    "empty": ("", COLUMNS),
    "short line": (INDEX + "MQQB-9.9-01\tMUST\n", "line 11: the line has 2 columns instead of 6"),
    "twice": (INDEX + "MQQB-2.2.1-01\tMUST\trule\tdemand\t\tx\n", "MQQB-2.2.1-01: the rule occurs twice"),
    "level": (
        INDEX + "MQQB-9.9-01\tSHALL\trule\tdemand\t\tx\n",
        "MQQB-9.9-01: unknown level or form: SHALL, rule",
    ),
    "form": (
        INDEX + "MQQB-9.9-01\tMUST\tthing\tdemand\t\tx\n",
        "MQQB-9.9-01: unknown level or form: MUST, thing",
    ),
    "class": (INDEX + "MQQB-9.9-01\tMUST\trule\twish\t\tx\n", "MQQB-9.9-01: unknown class wish"),
    "no class": (INDEX + "MQQB-9.9-01\tMUST\trule\t\t\tx\n", "MQQB-9.9-01: unknown class none"),
    "class of a lead": (INDEX + "MQQB-9.9-01\tMUST\tlead\tdemand\t\tx\n", "MQQB-9.9-01: a lead has no class"),
    "clone of nothing": (
        INDEX + "MQQB-9.9-01\tMUST\trule\tclone\t\tx\n",
        "MQQB-9.9-01: a clone must name the rule",
    ),
    "demand of another": (
        INDEX + "MQQB-9.9-01\tMUST\trule\tdemand\tMQQB-2.2.1-01\tx\n",
        "MQQB-9.9-01: a clone must name the rule",
    ),
    "clone of an unknown": (
        INDEX + "MQQB-9.9-01\tMUST\trule\tclone\tMQQB-9.9-77\tx\n",
        "MQQB-9.9-01: the rule repeats MQQB-9.9-77, which is not in the file",
    ),
}


@pytest.mark.parametrize("name", BAD_INDEXES)
def test_invalid_rule_index_file_is_reported(suites: Suites, name: str) -> None:
    text, message = BAD_INDEXES[name]
    with pytest.raises(CatalogueError) as caught:
        load_index(suites(index=text))
    assert message in str(caught.value)


@pytest.mark.parametrize("missing", ["index.tsv", "documents.toml", "errata.toml"])
def test_missing_catalogue_file_is_reported(suites: Suites, missing: str) -> None:
    root = suites(ROW)
    (root / missing).unlink()
    with pytest.raises(CatalogueError, match=f"{missing}: this file of the suites is missing"):
        load_catalogue(root)


def test_unknown_key_of_documents_file_is_reported(suites: Suites) -> None:
    with pytest.raises(CatalogueError, match=r"documents\.toml: MQQB: unknown key url"):
        load_documents(suites(documents='[MQQB]\ntitle = "x"\nurl = "y"\n'))


def test_document_folder_may_have_its_own_rule_index_and_source_addresses(suites: Suites) -> None:
    """A document folder may have its own index and addresses, as the known bugs need, which are not in a specification:
    a row of such a folder names the rules that a system with the bug violates.
    """
    documents = DOCUMENTS + '[BUGS]\ntitle = "Bugs: of others"\n[BUGS.sections]\n"7" = "https://example.org/7"\n'
    root = suites(ROW, row("BUGS-7-01", violates='["MQQB-2.2.1-01"]'), documents=documents)
    with pytest.raises(CatalogueError, match=r"BUGS-7-01: unknown id; index\.tsv lists all ids"):
        load_catalogue(root)
    lines = INDEX.splitlines()
    own = "\n".join([lines[0], "BUGS-7-01\tMUST\trule\tdemand\t\tA bug", ""])
    (root / "mqqb" / INDEX_FILE).write_text(own, encoding="utf-8")
    catalogue = load_catalogue(root)
    bug = catalogue["BUGS-7-01"]
    assert (bug.violates, bug.link, bug.title) == (("MQQB-2.2.1-01",), "https://example.org/7", "A bug")
    assert [catalogue.document_title(name) for name in ("MQQB", "BUGS")] == ["MQQB", "BUGS"]  # titles without [MS-MQQB]
    assert bug.to_json()["violates"] == ("MQQB-2.2.1-01",)
    (root / "mqqb" / INDEX_FILE).write_text(own.replace("BUGS-7-01", "MQQB-2.2.1-01"), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"mqqb/index\.tsv: MQQB-2\.2\.1-01: the rule occurs twice"):
        load_index(root)


# -- what ships ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_shipped_catalogue_is_valid(catalogue: Catalogue) -> None:
    assert len(catalogue) > 0
    assert set(catalogue.list_documents()) <= set(load_documents())


def test_shipped_rule_index_is_consistent() -> None:
    index = load_index()
    assert len(index) > 3000
    documents = {rule.split("-")[0] for rule in index}
    assert documents <= set(load_documents())
    assert {known.level for known in index.values()} <= set(REQUIREMENT_LEVELS)
    assert {known.form for known in index.values()} <= set(RULE_FORMS)
    headings: dict[str, set[str]] = {}
    for rule, known in index.items():
        headings.setdefault(rule.rpartition("-")[0], set()).add(known.title)
    assert {section: titles for section, titles in headings.items() if len(titles) > 1} == {}


INDEXES = [SUITES / INDEX_FILE, SUITES / "regressions" / INDEX_FILE]


@pytest.mark.parametrize("file", INDEXES, ids=["documents", "regressions"])
def test_rule_index_contains_no_sentences_of_the_specifications(file: Path) -> None:
    """The index contains no sentences of the specifications: it has six columns, and the last column is a heading."""
    lines = file.read_text(encoding="utf-8").splitlines()
    assert {line.count("\t") for line in lines} == {5}
    assert not [line for line in lines if line.endswith(".") or "MUST" in line.rpartition("\t")[2]]
    assert max(len(line.rpartition("\t")[2]) for line in lines) < 70


@pytest.mark.skipif(not LEDGER.exists(), reason="the specifications are not beside this clone")
def test_rule_index_equals_that_of_the_specifications() -> None:
    expected: dict[str, tuple[str, ...]] = {}
    classes: dict[str, tuple[str, str]] = {}
    for name in ("classes.*.tsv", "rules.tsv", "declared.*.tsv"):
        for file in LEDGER.glob(name):
            with file.open(encoding="utf-8", newline="") as lines:
                for row in csv.DictReader(lines, delimiter="\t"):
                    if "class" in row:
                        classes[row["id"]] = (row["class"], row["of"])
                    else:
                        kind = classes.get(
                            row["id"], ("demand" if row["form"] in INDEX_ROW_FORMS_IN_CATALOGUE else "", "")
                        )
                        expected[row["id"]] = (row["level"], row["form"], *kind, row["title"])
    index = {name: row for name, row in load_index().items() if not name.startswith("REGRESSIONS-")}
    assert {name: tuple(field or "" for field in row) for name, row in index.items()} == expected


def test_shipped_document_pages_are_valid_addresses() -> None:
    documents = load_documents()
    sources = documents.pop("REGRESSIONS").sections
    assert {urlsplit(source).scheme for source in sources.values()} == {"https"}
    assert list(documents) == ["MQQB", "MQMQ", "MQQP", "MQDMPR", "MQSO", "MQMP", "MQBR"]
    for name, document in documents.items():
        assert document.title.startswith(f"[MS-{name}]: ")
        for page in [*document.sections.values(), *([document.page] if document.page else [])]:
            assert str(UUID(page)) == page
        for section in ["1", *document.sections]:
            address = urlsplit(document.link(section))
            assert (address.scheme, address.hostname) == ("https", "learn.microsoft.com")
    pages = [page for document in documents.values() for page in document.sections.values()]
    assert len(pages) == len(set(pages))
