"""Cache values that are computed from source files. The cache is in the user's cache folder.

A cached value is valid as long as its sources have the same modification times and sizes. If the folder cannot be
read or written, or an entry is damaged, the value is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.compiled.sources import (
    FILES_READ_BY_EVERY_CHECK,
    FileStamp,
    find_affected_files,
    find_changed_files,
    get_stamps_at_first_call,
    list_imported_files,
)
from harness.paths import IMPORT_TIME_NS, SUITES

_CACHE_SCHEMA_VERSION = 3
_NAME_OF_CACHE_ENTRY_WITH_RECORDS = "records"
_MAX_CACHE_FOLDERS_OF_CHECKOUTS = 16
"""The maximum number of checkouts and installations that have a cache. If there are more, the cache that was
written least recently is deleted first.
"""


@cache
def find_cache_folder() -> Path | None:
    """Return the cache folder of this checkout or installation and of this version of Python, or None if the user has
    no home folder.

    The folder is in ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mqconform"
    except RuntimeError:  # the user has no home folder
        return None
    made_by = f"{_CACHE_SCHEMA_VERSION} {SUITES} {sys.version}"
    return home / hashlib.sha256(made_by.encode()).hexdigest()[:16]


def _load_cache_entry(name: str) -> dict[str, Any]:
    """Return a cache entry. If the entry is missing or cannot be read, return an empty entry."""
    folder = find_cache_folder()
    if folder is None:
        return {}
    try:
        tree = json.loads((folder / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _save_cache_entry(name: str, tree: Mapping[str, Any]) -> None:
    """Write a cache entry. Even if two processes write at the same time, the resulting entry is complete."""
    folder = find_cache_folder()
    if folder is None:
        return
    new = folder / f"{name}.{os.getpid()}.new"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _delete_oldest_caches(folder.parent)
        new.write_text(json.dumps(tree, separators=(",", ":")), encoding="utf-8")
        new.replace(folder / f"{name}.json")
    except OSError:  # the home folder is read-only or full: the next process computes the value again
        with suppress(OSError):
            new.unlink()


def _delete_oldest_caches(home: Path) -> None:
    folders = sorted(home.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in folders[:-_MAX_CACHE_FOLDERS_OF_CHECKOUTS]:
        shutil.rmtree(folder, ignore_errors=True)


def _was_file_changed_since_start(made_of: Mapping[str, FileStamp]) -> bool:
    """Return whether a file has changed since this process started. If so, this process may have imported the
    earlier content of the file.
    """
    return any(modified_ns >= IMPORT_TIME_NS for modified_ns, _ in made_of.values())


def get_cached_value(name: str, sources: Collection[str], make: Callable[[], Any]) -> Any:
    """Return a value that is computed from source files. The cached value is returned unless one of the files has
    changed.

    ``make`` is the function that computes the value as JSON data; ``sources`` are paths as in
    ``get_stamps_at_first_call``.
    """
    made_of = {path: get_stamps_at_first_call()[path] for path in sorted(sources) if path in get_stamps_at_first_call()}
    known = _load_cache_entry(name)
    if known.get("made_of") == made_of and "value" in known:
        return known["value"]
    value = make()
    if not _was_file_changed_since_start(made_of):
        _save_cache_entry(name, {"made_of": made_of, "value": value})
    return value


@dataclass(slots=True)
class CachedRecords:
    """Cached data (records) about Python files. A record is created by importing its file. The record is created
    again when this file, or a file that it imports, has changed.
    """

    file_stamps: dict[str, FileStamp] = field(default_factory=dict)
    imported_files: dict[str, list[str]] = field(default_factory=dict)
    records_by_file: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The cached records, by kind of record and by the path of the Python file."""

    def get_records_of_files(
        self, kind: str, paths: Collection[str], make: Callable[[list[str]], Mapping[str, Any]]
    ) -> list[Any]:
        """Return the records about the given files, in the order of the files.

        ``make`` is a function that computes the missing records, by the path of the file. Each
        record is JSON data.
        """
        known = self.records_by_file.setdefault(kind, {})
        missing = [path for path in paths if path not in known]
        if missing:
            known |= make(missing)
            self.save()
        return [known[path] for path in paths]

    def save(self) -> None:
        """Write all records to the cache, unless a file has changed while this process ran."""
        if not _was_file_changed_since_start(self.file_stamps):
            _save_cache_entry(
                _NAME_OF_CACHE_ENTRY_WITH_RECORDS,
                {"stamps": self.file_stamps, "imports": self.imported_files, "records": self.records_by_file},
            )

    def remove_records_of_changed_files(self, changed: Set[str]) -> None:
        """Remove the records of changed files, and of all files that import a changed file, or imported it before
        the change.
        """
        now = get_stamps_at_first_call()
        affected = find_affected_files(changed, self.imported_files)
        self.imported_files = {path: files for path, files in self.imported_files.items() if path in now}
        self.imported_files |= {path: list_imported_files(path) for path in sorted(changed) if path in now}
        affected |= find_affected_files(changed, self.imported_files)
        if not changed.isdisjoint(FILES_READ_BY_EVERY_CHECK):
            affected |= now.keys()
        self.records_by_file = {
            kind: {path: record for path, record in records.items() if path in now and path not in affected}
            for kind, records in self.records_by_file.items()
        }
        self.file_stamps = dict(now)


@cache
def load_cached_records() -> CachedRecords:
    """Return the cached records that are valid for the current content of the files."""
    tree = _load_cache_entry(_NAME_OF_CACHE_ENTRY_WITH_RECORDS)
    parts: list[Any] = [tree.get(name) for name in ("stamps", "imports", "records")]
    kept = CachedRecords(*parts) if all(isinstance(part, dict) for part in parts) else CachedRecords()
    changed = find_changed_files(kept.file_stamps)
    if changed:
        kept.remove_records_of_changed_files(changed)
    return kept
