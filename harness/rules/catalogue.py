"""Load the catalogue of rules from suites/*/*/rules.toml. The catalogue contains the sentence of each rule, its
level, its form, its heading and its public page.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.compiled.kept import get_cached_value
from harness.compiled.sources import get_stamps_at_first_call
from harness.paths import SUITES
from harness.rules.errata import ERRATA_FILE, CatalogueError, Erratum, check_table_keys, load_errata, read_toml
from harness.rules.product_notes import PRODUCT_NOTES_FILE_NAME, ProductNotes, load_product_notes

__all__ = ["Catalogue", "CatalogueError", "Document", "IndexRow", "Rule", "load_catalogue", "load_index"]

INDEX_FILE = "index.tsv"
DOCUMENTS_FILE = "documents.toml"
RULES_FILE = "rules.toml"
REQUIREMENT_LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT")
RULE_FORMS = ("rule", "step", "detail", "lead", "api", "flow")
INDEX_ROW_FORMS_IN_CATALOGUE = ("rule", "step")
"""The forms of ids that have a row in the catalogue. An id of any other form, such as a detail, has no row, and belongs
to an id of one of these forms.
"""
MEANING_BY_OBSERVE_VALUE = MappingProxyType(
    {
        "passive": "on every packet that the system sends, in every check",
        "wire": "in an exchange of packets that a check drives",
        "rpc": "in remote procedure calls that a check makes",
        "control": "through the control channel of the system",
        "inspect": "in the abstract data model, which the system must show through its control channel",
        "none": "by nobody",
    }
)
"""The values of the key ``observe``, each with a phrase that states where a violation of the rule can be observed."""
DESCRIPTION_BY_ROW_CLASS = MappingProxyType(
    {
        "demand": "demands something of a system",
        "garbled": "demands something of a system; its text in the document is garbled",
        "event": "an abstract event, visible only through its effects",
        "lead": "introduces other rules, which state the demands",
        "caller": "demands something of the application that calls the system",
        "definition": "defines a term of other rules",
        "clone": "repeats another rule",
    }
)
"""The classes of rules, each with its meaning."""
ROW_CLASSES_OF_DEMANDS = ("demand", "garbled")
"""The classes of rules that demand something of a system."""
PROTOCOL_ROLES = ("initiator", "acceptor", "sender", "receiver", "any")

_CATALOGUE_FILES = (INDEX_FILE, DOCUMENTS_FILE, ERRATA_FILE, PRODUCT_NOTES_FILE_NAME, RULES_FILE)
_FOLDERS_OF_CATALOGUE_CODE = ("harness/rules", "reference_qm/releases")
_SPECIFICATION_PAGES_URL = "https://learn.microsoft.com/openspecs/windows_protocols"
INDEX_COLUMNS = ("id", "level", "form", "class", "of", "title")
DEFAULTS_TABLE = "defaults"
"""The name of the table at the top of a section's rules.toml. The table contains values that most rows share."""
TITLE_KEY = "title"
"""The key at the top of a section's rules.toml that names document, section and heading, such as ``MS-MQQB 2.2.7
Ping Packet``.
"""
CHECKED_IN_KEY = "checked_in"
"""The key at the top of a section's rules.toml that lists other folders with checks of this section's rules."""
_DEFAULT_KEYS = {"observe": str, "role": str}
_REQUIRED_KEYS = {"observe": str, "role": str, "says": str}
_OPTIONAL_KEYS = {"why": str, "errata": list, "note": str, "violates": list, "under": list}


class IndexRow(NamedTuple):
    """The row of a rule in suites/index.tsv.

    ``kind``: the class of the rule; empty for forms that have no row in the catalogue. ``twin``: the rule that a
    clone repeats. ``title``: the heading of the rule's section.
    """

    level: str
    form: str
    kind: str
    twin: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    """A specification and its public pages."""

    name: str
    title: str
    page: str
    sections: Mapping[str, str]

    def link(self, section: str) -> str:
        """Return the address of the public page of a section. If this page is unknown, return the address of the
        document's page.
        """
        known = self.sections.get(section, self.page)
        return known if known.startswith("https://") else f"{_SPECIFICATION_PAGES_URL}/ms-{self.name.lower()}/{known}"


_JSON_FIELDS = (
    *("document", "section", "title", "level", "form", "kind", "twin"),
    *("observe", "observed", "role", "says", "why", "link", "violates", "under"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue, which is an entry of a rules.toml.

    ``number``: the number within the section ("02"; "D02" for a demand without a keyword). ``note``: a product note
    such as ``<12>``. ``folder``: the folder of the section in the suites, such as
    ``suites/mqqb/s2_2_1_internal_header``. ``under``: the SHOULD rules that a MUST depends on; if the SUT does not
    follow one of them, the MUST is not exercised.
    """

    id: str
    document: str
    section: str
    number: str
    title: str
    level: str
    form: str
    observe: str
    role: str
    says: str
    why: str | None
    errata: tuple[str, ...]
    note: str | None
    link: str
    folder: str
    kind: str = "demand"
    twin: str | None = None
    violates: tuple[str, ...] = ()
    under: tuple[str, ...] = ()

    @property
    def is_advice(self) -> bool:
        """Return whether the rule is a recommendation. The violation of a recommendation is a warning."""
        return self.level.startswith("SHOULD")

    @property
    def observed(self) -> str:
        """A phrase that states where a violation of the rule can be observed."""
        return MEANING_BY_OBSERVE_VALUE[self.observe]

    def to_json(self) -> dict[str, Any]:
        """Return the rule as a row of the file rules.json in a run folder."""
        return {key: getattr(self, key) for key in _JSON_FIELDS}


_RULE_FIELDS = tuple(each.name for each in fields(Rule))


class Catalogue(Mapping[str, Rule]):
    """The rules by id, in the order of the documents and of their sections. Two catalogues are equal only if they are
    the same object.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self,
        rules: list[Rule],
        documents: Mapping[str, Document],
        errata: Mapping[str, Erratum],
        notes: ProductNotes | None = None,
        checked_in: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        order = list(documents)
        self._rules = {
            rule.id: rule for rule in sorted(rules, key=lambda rule: (order.index(rule.document), *_sort_key(rule)))
        }
        self._documents = documents
        self.errata = errata
        self.notes = notes or ProductNotes({})
        self.checked_in = checked_in
        """The other folders that contain checks of a section's rules, by the folder of the section."""

    def to_tree(self) -> dict[str, Any]:
        """Return the catalogue as JSON data."""
        return {
            "rules": [[getattr(rule, name) for name in _RULE_FIELDS] for rule in self._rules.values()],
            "documents": [asdict(document) for document in self._documents.values()],
            "errata": [asdict(erratum) for erratum in self.errata.values()],
            "notes": self.notes.to_tree(),
            "checked_in": {folder: list(named) for folder, named in self.checked_in.items()},
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Catalogue:
        """Return the catalogue from the JSON data that ``to_tree`` returned."""
        rules = [_build_rule(row) for row in tree["rules"]]
        documents = {row["name"]: Document(**row) for row in tree["documents"]}
        errata = {row["id"]: Erratum.from_tree(row) for row in tree["errata"]}
        checked_in = {folder: tuple(named) for folder, named in tree["checked_in"].items()}
        return cls(rules, documents, errata, ProductNotes.from_tree(tree["notes"]), checked_in)

    def __getitem__(self, rule: str) -> Rule:
        return self._rules[rule]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def list_documents(self) -> list[str]:
        """Return the names of the documents with rules in this catalogue."""
        return list(dict.fromkeys(rule.document for rule in self._rules.values()))

    def document(self, name: str) -> list[Rule]:
        """Return the rules of a document."""
        return [rule for rule in self._rules.values() if rule.document == name]

    def link(self, rule: str) -> str:
        """Return the address of the public page for a rule id, whether or not the rule has a row; raise KeyError
        for an unknown document.
        """
        document, section, _ = rule.split("-")
        return self._documents[document].link(section)

    def to_rules_json(self) -> dict[str, dict[str, Any]]:
        """Return the rows of the file rules.json in a run folder."""
        return {name: rule.to_json() for name, rule in self._rules.items()}

    def document_title(self, document: str) -> str:
        """Return the title of a document. It is the document's short name, with the prefix ``MS-`` for a Microsoft
        specification.
        """
        return f"MS-{document}" if self._documents[document].title.startswith("[MS-") else document

    def list_titles(self) -> dict[str, str]:
        """Return the titles of the documents, without their common prefix, for the rules.json of a run folder."""
        return {name: document.title.rpartition(": ")[2] for name, document in self._documents.items()}


def _build_rule(row: list[Any]) -> Rule:
    """Return the rule that a row of the JSON data from ``Catalogue.to_tree`` represents. The lists in the row become
    tuples.
    """
    values: list[Any] = [tuple(value) if type(value) is list else value for value in row]
    return Rule(*values)


def _sort_key(rule: Rule) -> tuple[list[int], bool, int]:
    declared = rule.number.startswith("D")
    return [int(part) for part in rule.section.split(".")], declared, int(rule.number.removeprefix("D"))


def load_index(root: Path = SUITES) -> dict[str, IndexRow]:
    """Read suites/index.tsv and the index files in folders of the suites. They contain every normative sentence and
    every step of the documents.
    """
    index: dict[str, IndexRow] = {}
    for file in (root / INDEX_FILE, *sorted(root.glob(f"*/{INDEX_FILE}"))):
        _read_index(file, index)
    return index


def _read_index(file: Path, index: dict[str, IndexRow]) -> None:
    """Add the rows of an index file to the rows read so far."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise CatalogueError(file, "", "this file of the suites is missing") from None
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if next(rows, None) != list(INDEX_COLUMNS):
        raise CatalogueError(file, "line 1", f"the columns must be {', '.join(INDEX_COLUMNS)}")
    for number, row in enumerate(rows, 2):
        if len(row) != len(INDEX_COLUMNS):
            raise CatalogueError(
                file, f"line {number}", f"the line has {len(row)} columns instead of {len(INDEX_COLUMNS)}"
            )
        rule, level, form, kind, twin, title = row
        if rule in index:
            raise CatalogueError(file, rule, "the rule occurs twice; remove one of the lines")
        if level not in REQUIREMENT_LEVELS or form not in RULE_FORMS:
            raise CatalogueError(file, rule, f"unknown level or form: {level}, {form}")
        complaint = _describe_wrong_class(form, kind, twin)
        if complaint:
            raise CatalogueError(file, rule, complaint)
        index[rule] = IndexRow(level, form, kind, twin or None, title)
    for rule, known in index.items():
        if known.twin is not None and known.twin not in index:
            raise CatalogueError(file, rule, f"the rule repeats {known.twin}, which is not in the file")


def _describe_wrong_class(form: str, kind: str, twin: str) -> str | None:
    if form not in INDEX_ROW_FORMS_IN_CATALOGUE and kind:
        return f"a {form} has no class"
    if form in INDEX_ROW_FORMS_IN_CATALOGUE and kind not in DESCRIPTION_BY_ROW_CLASS:
        return f"unknown class {kind or 'none'}; known: {', '.join(DESCRIPTION_BY_ROW_CLASS)}"
    return (
        None
        if bool(twin) == (kind == "clone")
        else "a clone must name the rule that it repeats, and no other class may name one"
    )


def load_documents(root: Path = SUITES) -> dict[str, Document]:
    """Read suites/documents.toml; return each document by its short name."""
    file = root / DOCUMENTS_FILE
    found = {}
    for name, row in read_toml(file).items():
        entry = check_table_keys(file, name, row, {"title": str}, {"page": str, "sections": dict})
        found[name] = Document(name, entry["title"], entry.get("page", ""), entry.get("sections", {}))
    return found


def load_catalogue(root: Path | None = None) -> Catalogue:
    """Load the catalogue of a suites folder. The default folder is installed with the harness, and a process reads
    it only once. Raise CatalogueError, whose message names the file, the row and the remedy, if the catalogue is
    invalid.
    """
    return _read_catalogue(root) if root else _load_installed_catalogue()


@cache
def _load_installed_catalogue() -> Catalogue:
    sources = [path for path in get_stamps_at_first_call() if _is_read_for_catalogue(path)]
    fresh: list[Catalogue] = []

    def build_tree() -> dict[str, Any]:
        fresh.append(_read_catalogue(SUITES))
        return fresh[0].to_tree()

    tree = get_cached_value("catalogue", sources, build_tree)
    return fresh[0] if fresh else Catalogue.from_tree(tree)


def _is_read_for_catalogue(path: str) -> bool:
    """Return whether a source file belongs to the catalogue or to the code that reads the catalogue."""
    package, _, name = path.rpartition("/")
    return name in _CATALOGUE_FILES or package in _FOLDERS_OF_CATALOGUE_CODE


def _read_catalogue(root: Path) -> Catalogue:
    index, documents = load_index(root), load_documents(root)
    errata = load_errata(index, root)
    rules: dict[str, Rule] = {}
    checked_in: dict[str, tuple[str, ...]] = {}
    for file in sorted(root.glob(f"*/*/{RULES_FILE}")):
        rows = read_toml(file)
        head = {key: rows.pop(key) for key in (TITLE_KEY, CHECKED_IN_KEY) if key in rows}
        _check_keys_above_rows(root, file, head)
        checked_in[_get_section_folder(root, file)] = tuple(
            f"suites/{folder}" for folder in head.get(CHECKED_IN_KEY, ())
        )
        defaults = check_table_keys(file, DEFAULTS_TABLE, rows.pop(DEFAULTS_TABLE, {}), {}, _DEFAULT_KEYS)
        for name, row in rows.items():
            if name in rules:
                raise CatalogueError(
                    file, name, "the rule occurs twice; another section of the suites has a row for it"
                )
            whole = {**defaults, **row} if isinstance(row, dict) else row
            rules[name] = _read_rule(root, file, name, whole, index, documents, errata)
    notes = load_product_notes(index, rules, root)
    for rule in rules.values():
        try:
            notes.find_cited_notes(rule.document, rule.note)
        except KeyError as error:
            file = root.parent / rule.folder / RULES_FILE
            raise CatalogueError(file, rule.id, f"unknown product note {error.args[0]}; add it to notes.toml") from None
    return Catalogue(list(rules.values()), documents, errata, notes, checked_in)


def _get_section_folder(root: Path, file: Path) -> str:
    """Return the folder of a section, such as ``suites/mqqb/s2_2_1_internal_header``."""
    return f"suites/{file.parent.relative_to(root).as_posix()}"


def _check_keys_above_rows(root: Path, file: Path, head: Mapping[str, Any]) -> None:
    """Check the keys of a rules.toml that precede the entries of rules. Each entry of ``checked_in`` must be a folder
    such as ``mqqb/s2_2_7_ping_packet``.
    """
    check_table_keys(file, "the head", head, {TITLE_KEY: str}, {CHECKED_IN_KEY: list})
    for folder in head.get(CHECKED_IN_KEY, ()):
        if not (root / str(folder) / RULES_FILE).is_file():
            raise CatalogueError(file, CHECKED_IN_KEY, f"{folder!a} is not a folder of a section")


def _read_rule(
    root: Path,
    file: Path,
    name: str,
    row: object,
    index: Mapping[str, IndexRow],
    documents: Mapping[str, Document],
    errata: Mapping[str, Erratum],
) -> Rule:
    if name not in index:
        raise CatalogueError(file, name, f"unknown id; {INDEX_FILE} lists all ids")
    known = index[name]
    if known.form not in INDEX_ROW_FORMS_IN_CATALOGUE:
        forms = " and ".join(INDEX_ROW_FORMS_IN_CATALOGUE)
        raise CatalogueError(file, name, f"the entry is a {known.form}, but only {forms} have rows; remove this row")
    document, section, number = name.split("-")
    if document not in documents:
        raise CatalogueError(file, name, f"unknown document {document}; add it to {DOCUMENTS_FILE}")
    entry = check_table_keys(file, name, row, _REQUIRED_KEYS, _OPTIONAL_KEYS)
    for key, values in (("observe", MEANING_BY_OBSERVE_VALUE), ("role", PROTOCOL_ROLES)):
        if entry[key] not in values:
            raise CatalogueError(file, name, f"unknown {key} {entry[key]}; known: {', '.join(values)}")
    if entry["observe"] == "none" and "why" not in entry:
        raise CatalogueError(
            file, name, "the key 'observe' is none, but the key 'why' is missing; state why the rule is not observable"
        )
    cited = tuple(entry.get("errata", ()))
    unknown = [each for each in cited if each not in errata]
    if unknown:
        raise CatalogueError(file, name, f"unknown erratum {unknown[0]}; add it to errata.toml")
    violates = tuple(entry.get("violates", ()))
    unknown = [each for each in violates if each not in index]
    if unknown:
        raise CatalogueError(
            file, name, f"the key 'violates' contains the unknown rule {unknown[0]}; {INDEX_FILE} lists all rules"
        )
    under = tuple(entry.get("under", ()))
    if under and not known.level.startswith("MUST"):
        raise CatalogueError(
            file, name, f"the rule is a {known.level}, but only a MUST can depend on a SHOULD; remove the key 'under'"
        )
    for each in under:
        if each not in index or not index[each].level.startswith("SHOULD"):
            raise CatalogueError(
                file,
                name,
                f"the rule depends on {each} (key 'under'), which is not a SHOULD; {INDEX_FILE} lists the levels",
            )
    return Rule(
        id=name,
        document=document,
        section=section,
        number=number,
        title=known.title,
        level=known.level,
        form=known.form,
        observe=entry["observe"],
        role=entry["role"],
        says=entry["says"],
        why=entry.get("why"),
        errata=(*cited, *(each.id for each in errata.values() if name in each.where and each.id not in cited)),
        note=entry.get("note"),
        link=documents[document].link(section),
        folder=_get_section_folder(root, file),
        kind=known.kind,
        twin=known.twin,
        violates=violates,
        under=under,
    )
