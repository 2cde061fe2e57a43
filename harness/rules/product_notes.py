"""Load the product notes (suites/*/notes.toml), which are the statements in the appendices of the documents about
releases of Windows. A note does not change a rule. It names the releases that deviate from the rule, and states
whether the deviation is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.rules.errata import CatalogueError, check_table_keys, read_toml
from reference_qm.releases.names import parse_releases

PRODUCT_NOTES_FILE_NAME = "notes.toml"
KINDS = MappingProxyType(
    {
        "deviates": "a release deviates from the text",
        "default": "a default value, and where it is set",
        "optional": "a feature that exists only when enabled, or only in some releases",
        "build": "version and build numbers",
        "applies": "the releases that support what the section describes",
        "information": "an implementation detail, or a reference",
    }
)
"""The values of ``kind``, each with its meaning."""
REASON_SAME_IN_EVERY_CONFIGURATION = "same"
REASON_BY_VALUE_WITHOUT_CONFIGURATION = MappingProxyType(
    {
        REASON_SAME_IN_EVERY_CONFIGURATION: "the reference follows the note in every configuration",
        "internal": "only the system itself can observe the behavior",
        "outside": "neither the reference nor the harness has the needed feature",
    }
)
"""The values of the key ``reference`` of a note which state why the reference has no behavior for the note. Each of the
last two values must be followed by an explanation.
"""
_REQUIRED_KEYS = {"sections": list, "kind": str, "releases": list, "says": str, "reference": list}
_OPTIONAL_KEYS = {"allows": str, "rules": list, "excuses": list, "excused": list}
_SECTION_PATTERN = re.compile(r"\d+(\.\d+)*")
_CITED_NOTE_PATTERN = re.compile(r"(?:MS-(?P<document>[A-Z]+) )?<(?P<number>\d+)>")
_SUFFIX_FOR_ALL_RULES_OF_SECTION = "-*"


@dataclass(frozen=True, slots=True)
class ProductNote:
    """A paraphrased product note.

    ``sections``: the sections that the note concerns. ``releases``: the releases that the note names. ``written``: the
    same releases as they are written in the file. ``allows``: the deviation that the note permits to a release.
    ``rules``: the ids of the rules that the note concerns. ``excuses``: the ids of the rules that the releases in
    ``excused`` may violate because of the note; the violation is then a warning. ``reference``: the behaviors that the
    reference has because of the note (reference_qm/releases), or one of REASON_BY_VALUE_WITHOUT_CONFIGURATION with a
    reason.
    """

    document: str
    number: int
    sections: tuple[str, ...]
    kind: str
    releases: tuple[str, ...]
    written: tuple[str, ...]
    says: str
    allows: str | None
    rules: frozenset[str]
    excuses: frozenset[str]
    excused: tuple[str, ...]
    reference: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name with which texts cite the note: ``MS-MQQP <17>``."""
        return f"MS-{self.document} <{self.number}>"

    def get_citation_name(self, document: str) -> str:
        """Return the name by which rows of a document cite the note. For a note of the same document, the name is
        only the number.
        """
        return f"<{self.number}>" if document == self.document else self.name

    def concerns_rule(self, rule: str) -> bool:
        """Return whether the note concerns a rule."""
        return rule in self.rules or rule in self.excuses


class ProductNotes:
    """All product notes of the documents."""

    def __init__(self, notes: Mapping[str, Mapping[int, ProductNote]]) -> None:
        """``notes``: the notes by document and number."""
        self.by_document = notes
        self._all_notes = [note for each in notes.values() for note in each.values()]
        self._excused_rules_by_profile: dict[str, Mapping[str, ProductNote]] = {}
        """The excused rules by profile. The rules are cached, because every check of a run needs the rules of the
        same profile.
        """

    def to_tree(self) -> dict[str, list[dict[str, Any]]]:
        """Return all notes as JSON data."""
        return {
            document: [
                {key: sorted(value) if isinstance(value, frozenset) else value for key, value in asdict(note).items()}
                for note in notes.values()
            ]
            for document, notes in self.by_document.items()
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> ProductNotes:
        """Return the product notes that the JSON data of ``to_tree`` represent."""
        return cls({name: {row["number"]: _build_product_note(row) for row in rows} for name, rows in tree.items()})

    def find_cited_notes(self, document: str, text: str | None) -> list[ProductNote]:
        """Return the notes that the field ``note`` of a row cites; raise KeyError, with the first note that the
        document does not contain, if a cited note is missing. In a document without a notes.toml, no note counts as
        missing.
        """
        found = []
        for cited in _CITED_NOTE_PATTERN.finditer(text or ""):
            numbers = self.by_document.get(cited["document"] or document)
            if numbers is not None:
                if int(cited["number"]) not in numbers:
                    raise KeyError(cited[0])
                found.append(numbers[int(cited["number"])])
        return found

    def list_notes_of_rule(self, rule: str, document: str, cited: str | None) -> list[ProductNote]:
        """Return the notes that a rule's row cites, and the notes that concern the rule."""
        others = [note for note in self._all_notes if note.concerns_rule(rule)]
        return list(dict.fromkeys([*self.find_cited_notes(document, cited), *others]))

    def list_excused_rules(self, profile: str) -> Mapping[str, ProductNote]:
        """Return the rules that a release may violate, each with the first note that allows the violation. For the
        profile ``none``, no rules are returned.
        """
        if profile not in self._excused_rules_by_profile:
            found: dict[str, ProductNote] = {}
            for note in self._all_notes:
                if profile in note.excused:
                    found |= {rule: note for rule in note.excuses if rule not in found}
            self._excused_rules_by_profile[profile] = found
        return self._excused_rules_by_profile[profile]


def _build_product_note(row: Mapping[str, Any]) -> ProductNote:
    whole: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return ProductNote(**{**whole, "rules": frozenset(row["rules"]), "excuses": frozenset(row["excuses"])})


def load_product_notes(index: Container[str], ids: Mapping[str, Any], root: Path) -> ProductNotes:
    """Read the notes.toml of each document of a suites folder.

    ``index``: the known rule ids. ``ids``: the ids of the rules that have rows. Raise CatalogueError, whose message
    names the file, the note and the remedy, if a note is invalid.
    """
    found = {}
    for file in sorted(root.glob(f"*/{PRODUCT_NOTES_FILE_NAME}")):
        document = file.parent.name.upper()
        rows = read_toml(file)
        found[document] = {note.number: note for note in _read_product_notes_file(file, document, rows, index, ids)}
    return ProductNotes(found)


def _read_product_notes_file(
    file: Path, document: str, rows: Mapping[str, Any], index: Container[str], ids: Mapping[str, Any]
) -> Iterator[ProductNote]:
    for number, row in rows.items():
        if not number.isdecimal() or number != str(int(number)):
            raise CatalogueError(file, number, "the name is not the number of a note; write [17] for note <17>")
        entry = check_table_keys(file, number, row, _REQUIRED_KEYS, _OPTIONAL_KEYS)
        if entry["kind"] not in KINDS:
            raise CatalogueError(file, number, f"unknown kind {entry['kind']}; known: {', '.join(KINDS)}")
        if wrong := [each for each in entry["sections"] if not _SECTION_PATTERN.fullmatch(str(each))]:
            raise CatalogueError(
                file,
                number,
                f"the key 'sections' contains the invalid section {wrong[0]!r}; write a section as 3.1.4.6",
            )
        if "excuses" in entry and "allows" not in entry:
            raise CatalogueError(
                file, number, "the key 'excuses' requires the key 'allows': describe there the permitted deviation"
            )
        if "excused" in entry and "excuses" not in entry:
            raise CatalogueError(
                file, number, "the key 'excused' requires the key 'excuses': list there the rules that may be violated"
            )
        releases = _read_releases(file, number, entry["releases"])
        yield ProductNote(
            document=document,
            number=int(number),
            sections=tuple(entry["sections"]),
            kind=entry["kind"],
            releases=releases,
            written=tuple(entry["releases"]),
            says=entry["says"],
            allows=entry.get("allows"),
            rules=_expand_listed_rule_ids(file, number, entry.get("rules", []), index, ids),
            excuses=(excuses := _expand_listed_rule_ids(file, number, entry.get("excuses", []), index, ids)),
            excused=_read_releases(file, number, entry.get("excused", entry["releases"])) if excuses else (),
            reference=_get_reference_behaviours(file, number, entry["reference"]),
        )


def _get_reference_behaviours(file: Path, number: str, written: list[Any]) -> tuple[str, ...]:
    """Return the behaviors that the reference has because of a note, or the reason why the reference has no
    behavior for the note.
    """
    kind, _, why = str(written[0]).partition(": ")
    if kind in REASON_BY_VALUE_WITHOUT_CONFIGURATION and (
        len(written) > 1 or not (why or kind == REASON_SAME_IN_EVERY_CONFIGURATION)
    ):
        raise CatalogueError(
            file, number, f"the key 'reference' is {written}; write [{kind + ': why'!r}] and nothing else"
        )
    return tuple(written)


def _read_releases(file: Path, number: str, written: list[Any]) -> tuple[str, ...]:
    try:
        return parse_releases([str(each) for each in written])
    except ValueError as error:
        raise CatalogueError(file, number, str(error)) from error


def _expand_listed_rule_ids(
    file: Path, number: str, written: list[Any], index: Container[str], ids: Mapping[str, Any]
) -> frozenset[str]:
    """Return the rule ids that a note lists. An id that ends with ``-*``, such as ``MQQP-3.1.4.9-*``, stands for all
    rules of the section that have rows.
    """
    found = set[str]()
    for each in map(str, written):
        rules = {each}
        if each.endswith(_SUFFIX_FOR_ALL_RULES_OF_SECTION):
            rules = {
                rule for rule in ids if rule.rpartition("-")[0] == each.removesuffix(_SUFFIX_FOR_ALL_RULES_OF_SECTION)
            }
        if not rules or not all(rule in index for rule in rules):
            raise CatalogueError(file, number, f"unknown rule {each}; suites/index.tsv lists all rules")
        found |= rules
    return frozenset(found)
