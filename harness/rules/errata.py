"""Load the errata. An erratum describes a passage in which the documents contradict each other or real packets. It
lists the possible readings of the passage, and names the reading that verdicts follow.

``suites/errata.toml`` is part of the catalogue, so an error in this file is a CatalogueError.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import MqconformError
from harness.paths import SUITES
from harness.type_names import get_type_name_with_article

ERRATA_FILE = "errata.toml"
READING_VERDICTS = ("pass", "fail", "warn", "inconclusive")
"""The verdicts that a system can get if it follows a reading."""

_ERRATUM_KEYS = {
    "where": list,
    "says": str,
    "readings": list,
    "real": str,
    "choice": str,
    "settled": bool,
    "why": str,
}
_READING_KEYS = {"says": str, "verdict": str}
_OPTIONAL_READING_KEYS = {"reference": bool, "not_run": str, "checks": list}
_ERRATUM_ID_PATTERN = re.compile(r"E\d\d\d?")
_RULE_ID_PATTERN = re.compile(r"[A-Z]+-[0-9.]+-D?\d+")
_SECTION_PATTERN = re.compile(r"[A-Z]+ \d+(\.\d+)*")


class CatalogueError(MqconformError):
    """Raised when a file of the suites folder cannot be used. The one-line message names the file, the entry and the
    remedy.
    """

    def __init__(self, file: Path, entry: str, message: str) -> None:
        super().__init__(f"{file}: {entry}: {message}" if entry else f"{file}: {message}")
        self.file = file
        self.entry = entry


@dataclass(frozen=True, slots=True)
class ReadingOfErratum:
    """A reading (interpretation) of a contradictory passage, and the verdict that a system gets if it follows this
    reading.

    ``reference``: whether the reference follows the reading. For each other reading of an unsettled entry, the
    reference has a variant, which is a fault with ``reading="E41.2"``. If no variant is possible, ``not_run`` has
    the reason, and ``checks`` names the functions (checks or predicates) that accept every reading of the entry.
    """

    says: str
    verdict: str
    reference: bool = False
    not_run: str | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erratum:
    """An erratum, which is a contradiction in the documents, or between documents and real packets. ``where``: rule
    ids ("MQQB-2.2.1-05") and sections ("MQQB 3.1.2.1"). ``says``: the contradiction. ``real``: the behavior that
    the frames in MS-MQQB section 4, the product notes or deployed systems show. ``choice``: the reading that the
    checks and the reference follow. ``why``: the reason for this choice. ``settled``: whether packets of real
    Windows settle the contradiction.
    """

    id: str
    where: tuple[str, ...]
    says: str
    possible_readings: tuple[ReadingOfErratum, ...]
    real: str
    choice: str
    settled: bool
    why: str

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Erratum:
        """Return the erratum that the JSON data of ``asdict`` represent."""
        readings = tuple(_read_reading(row) for row in tree["possible_readings"])
        return cls(**{**tree, "where": tuple(tree["where"]), "possible_readings": readings})

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule ids in the field ``where``."""
        return tuple(place for place in self.where if _RULE_ID_PATTERN.fullmatch(place))

    def list_readings_to_run(self) -> Iterator[tuple[str, ReadingOfErratum]]:
        """Yield each reading (interpretation) for which the reference needs a variant, with the name of the reading.
        For example, E41.2 is the name of the second reading of erratum E41.
        """
        for number, reading in enumerate(self.possible_readings, 1):
            if not (self.settled or reading.reference or reading.not_run):
                yield f"{self.id}.{number}", reading


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file; raise CatalogueError if the file is missing or malformed."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(file, "", "this file of the suites is missing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogueError(file, "", f"the file is not TOML: {error}") from error


def check_table_keys(
    file: Path, entry: str, row: object, required: Mapping[str, type], optional: Mapping[str, type]
) -> dict[str, Any]:
    """Return an entry if it is a table with the required keys and types; otherwise raise CatalogueError."""
    if not isinstance(row, dict):
        raise CatalogueError(file, entry, "the entry is not a table; write [...] with keys below it")
    types = {**required, **optional}
    for key, value in row.items():
        if key not in types:
            raise CatalogueError(file, entry, f"unknown key {key}; known: {', '.join(types)}")
        if type(value) is not types[key]:
            raise CatalogueError(
                file,
                entry,
                f"{key} is {get_type_name_with_article(type(value))}, not {get_type_name_with_article(types[key])}",
            )
        if isinstance(value, list | str) and not value:
            raise CatalogueError(file, entry, f"{key} is empty; fill in the key or remove it")
    missing = [key for key in required if key not in row]
    if missing:
        raise CatalogueError(file, entry, f"{missing[0]} is missing; every row must have {', '.join(required)}")
    return row


def load_errata(index: Container[str], root: Path = SUITES) -> dict[str, Erratum]:
    """Read suites/errata.toml; return the errata by id, in the order of the file. ``index``: the known rule ids.
    Raise CatalogueError, whose message names the entry and the remedy, if an entry is invalid.
    """
    file = root / ERRATA_FILE
    return {name: _read_erratum(file, name, row, index) for name, row in read_toml(file).items()}


def _read_erratum(file: Path, name: str, row: object, index: Container[str]) -> Erratum:
    if not _ERRATUM_ID_PATTERN.fullmatch(name):
        raise CatalogueError(file, name, "the name is not an id of an erratum; write E and two or three digits")
    entry = check_table_keys(file, name, row, _ERRATUM_KEYS, {})
    for place in entry["where"]:
        if _RULE_ID_PATTERN.fullmatch(str(place)):
            if place not in index:
                raise CatalogueError(
                    file, name, f"the key 'where' contains the unknown rule {place}; suites/index.tsv lists all rules"
                )
        elif not _SECTION_PATTERN.fullmatch(str(place)):
            raise CatalogueError(
                file,
                name,
                f"the key 'where' contains the invalid place {place!r}; "
                'write a rule id or a section as "MQQB 3.1.2.1"',
            )
    readings = tuple(_read_readings(file, name, entry["readings"]))
    texts = {key: value for key, value in entry.items() if key != "readings"}
    return Erratum(**{**texts, "id": name, "where": tuple(entry["where"]), "possible_readings": readings})


def _read_readings(file: Path, name: str, rows: list[object]) -> Iterator[ReadingOfErratum]:
    if len(rows) < 2:
        raise CatalogueError(
            file, name, "the erratum has fewer than two readings; a contradiction has at least two readings"
        )
    for number, row in enumerate(rows, 1):
        entry = check_table_keys(file, f"{name} reading {number}", row, _READING_KEYS, _OPTIONAL_READING_KEYS)
        if entry["verdict"] not in READING_VERDICTS:
            known = ", ".join(READING_VERDICTS)
            raise CatalogueError(
                file, f"{name} reading {number}", f"unknown verdict {entry['verdict']}; known: {known}"
            )
        if ("not_run" in entry) != ("checks" in entry):
            message = (
                "the entry has only one of the keys 'not_run' and 'checks'; "
                "a reading that is not run must name the checks that accept it"
            )
            raise CatalogueError(file, f"{name} reading {number}", message)
        yield _read_reading(entry)


def _read_reading(row: Mapping[str, Any]) -> ReadingOfErratum:
    return ReadingOfErratum(**{**row, "checks": tuple(row.get("checks", ()))})
