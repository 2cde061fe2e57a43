"""Find the changed source files of the suites, the harness and the reference, and the files that each file imports.

Paths are relative to the folder that contains the packages, as in ``suites/mqqb/steps/opening.py``.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from harness.paths import PACKAGES, SUITES

PROJECT_ROOT = SUITES.parent
FileStamp = list[int]
"""The stamp of a file: its modification time (int ns) and size (int bytes)."""
FILES_READ_BY_EVERY_CHECK = ("suites/conftest.py", "suites/pytest.ini")
"""The files that pytest imports with every file of checks, without an import statement."""
TABLE_FILES_BESIDE_CHECKS = ("states.toml",)
"""The names of data files (tables). A module reads such a file from its own folder without an import statement."""

_SOURCE_SUFFIXES = (".py", ".toml", ".tsv", ".ini", ".json")
_PACKAGE_NAMES_PATTERN = "|".join(package.name for package in PACKAGES)
_IMPORT_STATEMENT_PATTERN = re.compile(
    rf"^[ \t]*(?:from ((?:{_PACKAGE_NAMES_PATTERN})[\w.]*) import (?:\(([^)]*)\)|([^\n(]*))"
    rf"|import ((?:{_PACKAGE_NAMES_PATTERN})[\w.]*))",
    re.M,
)


@cache
def get_stamps_at_first_call() -> Mapping[str, FileStamp]:
    """Return the stamps of all source files, by path, as they were at the first call in this process."""
    return dict(_stamp_files_below())


def _stamp_files_below() -> Iterator[tuple[str, FileStamp]]:
    folders = [(package.name, str(package)) for package in PACKAGES]
    while folders:
        relative, folder = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCE_SUFFIXES):
                    known = entry.stat()
                    yield f"{relative}/{entry.name}", [known.st_mtime_ns, known.st_size]
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append((f"{relative}/{entry.name}", entry.path))


def find_changed_files(known: Mapping[str, FileStamp]) -> set[str]:
    """Return the files that are new, changed or missing in comparison with earlier stamps."""
    now = get_stamps_at_first_call()
    return {path for path in now.keys() | known.keys() if now.get(path) != known.get(path)}


def list_imported_files(path: str) -> list[str]:
    """Return the source files that a Python file reads. These are the files that its import statements name, and the
    ``__init__.py`` files of their packages. The tables in its own folder, which need no import statement, are also
    included.

    A fast text search finds the imports. If a string contains a line that looks like an import, this line also
    counts; this causes no error.
    """
    if not path.endswith(".py"):
        return []
    text = (PROJECT_ROOT / path).read_text(encoding="utf-8")
    modules = {module for match in _IMPORT_STATEMENT_PATTERN.finditer(text) for module in _list_imported_modules(match)}
    tables = get_stamps_at_first_call().keys() & {
        f"{path.rpartition('/')[0]}/{name}" for name in TABLE_FILES_BESIDE_CHECKS
    }
    return sorted({file for module in modules for file in _list_module_files(module)} - {path} | tables)


def _list_imported_modules(match: re.Match[str]) -> Iterator[str]:
    package, in_brackets, in_line, module = match.groups()
    yield package or module
    for name in (in_brackets or in_line or "").split(","):
        words = name.split()
        if words and words[0].isidentifier():
            yield f"{package}.{words[0]}"


@cache
def _list_module_files(module: str) -> frozenset[str]:
    """Return the files that are read when this module is imported: the module's own file, and the ``__init__.py``
    files of its packages.
    """
    names = module.split(".")
    folders = ["/".join(names[:length]) for length in range(1, len(names) + 1)]
    return frozenset(
        get_stamps_at_first_call().keys() & {f"{folders[-1]}.py", *(f"{folder}/__init__.py" for folder in folders)}
    )


def find_affected_files(changed: Iterable[str], imports: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the changed files, and the files that import a changed file directly or indirectly."""
    importers: dict[str, list[str]] = defaultdict(list)
    for path, imported in imports.items():
        for file in imported:
            importers[file].append(path)
    found, left = set[str](), list(changed)
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += importers[path]
    return found
