"""Find the files of the suites whose text contains a rule id, without importing the files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from harness.paths import SUITES

STATES_FILE = "states.toml"
"""The name of the file with the table of a section's states and events. The file is in the same folder as the
checks of its cells.
"""
_REGISTERING_FILE_PATTERNS = ("test_*", "faults*", "predicates*")
"""The patterns that match the names of a section's Python files with checks, faults and predicates. They do not match
modules with tables of ids.
"""


def list_suite_files_containing(patterns: Iterable[str], rules: Collection[str] | None) -> list[Path]:
    """Return the sorted files of the suites that match a pattern and contain one of the rule ids (any rule id if
    the ids are None).

    The ids are either in the file, or in a module with tables of the same section, such as ``sections.py``.
    """
    files = sorted(path for pattern in patterns for path in SUITES.glob(pattern))
    if rules is None:
        return files
    names = [rule.encode() for rule in rules]
    return [
        path for path in files if any(map((path.read_bytes() + list_tables_in_folder(path.parent)).__contains__, names))
    ]


@cache
def list_tables_in_folder(folder: Path) -> bytes:
    """Return the text of the modules that the checks and faults of a section import, and of the section's table of
    states.
    """
    modules = sorted([*folder.glob("*.py"), *folder.glob(STATES_FILE)])
    return b"".join(
        path.read_bytes() for path in modules if not any(fnmatch(path.name, one) for one in _REGISTERING_FILE_PATTERNS)
    )


def find_place(path: str, *texts: str) -> str:
    """Return the place of a text in a file as ``path:line``. If several texts are given, return the place of the
    first text that the file contains. ``path``: the path of the file below the folder that contains the suites,
    such as ``suites/mqqb/s2_2_1_internal_header/faults.py``.
    """
    lines = (SUITES.parent / path).read_text(encoding="utf-8").splitlines()
    return next((f"{path}:{number}" for text in texts for number, line in enumerate(lines, 1) if text in line), path)
