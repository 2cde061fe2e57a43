"""Reads and publishes the manifest, which lists the files of the lake.

``manifests/00000012.json`` is published by one rename, and the manifest with the highest number defines the state of
the lake. The files below ``data/`` that a manifest names never change. Therefore a reader always sees one consistent
state, and the lake keeps its previous state if a writer is killed.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reports.rollup_error import RollupError
from reports.text import one_line

if TYPE_CHECKING:
    from reports.lake.files import FileAccess

MANIFEST_SCHEMA_VERSION = 1
MANIFEST_NAME_PATTERN = re.compile(r"(\d{8})\.json")
FOLDER_NAME_PATTERN = re.compile(r"[A-Za-z0-9-]+")


class NamedFileOrFolder(Protocol):
    """The protocol class for a file or folder that has a name."""

    @property
    def name(self) -> str:
        """Return the last part of the path of this file or folder."""


class ReadableFileSystem(Protocol):
    """A file system that lists folders and reads small files. `FileAccess` is such a file system, and so is
    `LocalFileSystem`, which needs no Java.
    """

    def entries(self, uri: str) -> Sequence[NamedFileOrFolder]:
        """Return the files and folders in a folder."""

    def read_text(self, uri: str) -> str:
        """Return the text of a small file."""


class LocalFileSystem:
    """Reads a lake on a local disk without Java. The methods raise `RollupError`."""

    def entries(self, uri: str) -> list[Path]:
        """Return the files and folders in a folder, or an empty list if the folder is missing."""
        folder = Path(uri)
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def read_text(self, uri: str) -> str:
        """Return the text of a small file."""
        try:
            return Path(uri).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise RollupError(f"cannot read {one_line(uri)}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class IngestCommit:
    """The tables of facts that one ingest wrote. The folder ``data/<commit>`` contains a folder for each of these
    ``tables``.
    """

    commit: str
    runs: tuple[str, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IngestedRun:
    """A run in the lake.

    ``size`` is the size of its three files in octets, and ``modified`` is the time of their latest change in ms
    since 1970. ``sut``: the key of its system. ``product``: the key that all versions of the system with this
    profile share. ``suites``: the hash of its suites, or an empty text in older manifests.
    """

    commit: str
    ingest: int
    folder: str
    size: int
    modified: int
    digest: str
    lines: int
    sut: str
    product: str
    suites: str = ""


@dataclass(frozen=True, slots=True)
class IngestedPair:
    """The results of a pair in the lake. ``ingest``: the number of the pair in the order of ingest, from 1."""

    ingest: int
    folder: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A state of the lake: its runs and the files of its tables."""

    number: int = 0
    commits: tuple[IngestCommit, ...] = ()
    runs: dict[str, IngestedRun] = field(default_factory=dict)
    derived: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each derived table, the commit of each unit. A unit is the key of a system, except in `changes` and
    `check_current`, where it is the key of a product.
    """
    catalogues: dict[str, str] = field(default_factory=dict)
    """The commit that contains each version of the suites, by the hash of the suites."""
    last_ingest: int = 0
    pairs: dict[str, IngestedPair] = field(default_factory=dict)
    """The results of pairs, by the SHA-256 of their pair.json."""

    def folders(self, table: str, of: Collection[str] | None = None) -> list[str]:
        """Return the names of a table's folders, below the lake. A table of facts has a folder for each commit, and
        a derived table has a folder for each unit.

        ``of``: return only the folders of these commits or units.
        """
        if table in self.derived:
            units = sorted(self.derived[table].items())
            return [
                get_folder_of_system_or_product(commit, table, unit)
                for unit, commit in units
                if of is None or unit in of
            ]
        return [
            get_table_folder(each.commit, table)
            for each in self.commits
            if table in each.tables and (of is None or each.commit in of)
        ]

    def commits_in_use(self) -> set[str]:
        """Return the names of the folders of ``data/`` that this state uses."""
        return {each.commit for each in self.commits} | {
            commit for units in self.derived.values() for commit in units.values()
        }


def get_table_folder(commit: str, table: str) -> str:
    """Return the path, relative to the lake, of the folder of a table in a commit."""
    return f"data/{commit}/{table}"


def get_folder_of_system_or_product(commit: str, table: str, unit: str) -> str:
    """Return the path of a folder, relative to the lake. The folder belongs to a commit, and contains the rows of a
    derived table for one system or product.
    """
    return f"{get_table_folder(commit, table)}/unit={unit}"


def list_manifest_numbers(files: ReadableFileSystem, lake: str) -> list[int]:
    """Return the numbers of the lake's manifests in ascending order."""
    names = (MANIFEST_NAME_PATTERN.fullmatch(each.name) for each in files.entries(f"{lake}/manifests"))
    return sorted(int(name[1]) for name in names if name)


def read_newest_manifest(files: ReadableFileSystem, lake: str) -> Manifest:
    """Return the newest state of a lake, or an empty state if no manifest was published. Raise `RollupError` if the
    manifest cannot be read.
    """
    if not (known := list_manifest_numbers(files, lake)):
        return Manifest()
    return read_manifest(files, lake, known[-1])


def read_manifest(files: ReadableFileSystem, lake: str, number: int) -> Manifest:
    """Return the state of a lake that the manifest with the given number describes. Raise `RollupError` if the
    manifest cannot be read.
    """
    uri = _get_manifest_path(lake, number)
    try:
        value = json.loads(files.read_text(uri))
        if type(schema := value["schema"]) is int and schema > MANIFEST_SCHEMA_VERSION:
            raise RollupError(
                f"{one_line(uri)} has schema {schema}: a newer mqconform wrote this lake; use that version"
            )
        return _parse_manifest(value, number)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RollupError(
            f"{one_line(uri)} is not a manifest ({one_line(str(error), 80)}): delete the file to return to the "
            "previous state"
        ) from error


def publish_manifest(files: FileAccess, lake: str, manifest: Manifest) -> None:
    """Publish this state as the newest state of the lake. Raise `RollupError` if another process has published a state
    since this process read the lake.
    """
    aside = f"{lake}/manifests/aside-{uuid.uuid4().hex}"
    files.write_text(
        aside, json.dumps({"schema": MANIFEST_SCHEMA_VERSION, **asdict(manifest)}, ensure_ascii=True, indent=1)
    )
    if not files.publish(aside, _get_manifest_path(lake, manifest.number)):
        files.delete(aside)
        raise RollupError(
            f"{one_line(lake)} was changed by another process during this ingest, so no run was ingested: ingest again"
        )


def _get_manifest_path(lake: str, number: int) -> str:
    return f"{lake}/manifests/{number:08d}.json"


def _parse_manifest(value: dict[str, Any], number: int) -> Manifest:
    if value["schema"] != MANIFEST_SCHEMA_VERSION:
        raise ValueError(f"the schema is not {MANIFEST_SCHEMA_VERSION}")
    if value["number"] != number:
        raise ValueError(f"the file describes state {value['number']}")
    manifest = Manifest(
        number=value["number"],
        commits=tuple(
            IngestCommit(each["commit"], tuple(each["runs"]), tuple(each["tables"])) for each in value["commits"]
        ),
        runs={run: IngestedRun(**known) for run, known in value["runs"].items()},
        derived=value["derived"],
        catalogues=value["catalogues"],
        last_ingest=value["last_ingest"],
        pairs={digest: IngestedPair(**known) for digest, known in value.get("pairs", {}).items()},
    )
    units = {unit for units in manifest.derived.values() for unit in units}
    if strange := [name for name in manifest.commits_in_use() | units if not FOLDER_NAME_PATTERN.fullmatch(name)]:
        raise ValueError(f"{strange[0]!r} is not a valid folder name")
    return manifest
