"""Where the suites speak of a rule, found by its id in the text of files: nothing is imported."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from harness.paths import SUITES

STATES_FILE = "states.toml"
"""The table of a section's states and events; the checks of its cells lie beside it."""
_REGISTERING = ("test_*", "faults*", "predicates*")
"""Python files of a section that another one of it does not read ids from."""


def files_naming(patterns: Iterable[str], rules: Collection[str] | None) -> list[Path]:
    """Return the files of the suites that match a pattern and name one of the rules (None: any), sorted.

    Ids are written whole: in the file itself, or in a module of tables of its section, such as ``sections.py``.
    """
    files = sorted(path for pattern in patterns for path in SUITES.glob(pattern))
    if rules is None:
        return files
    names = [rule.encode() for rule in rules]
    return [path for path in files if any(map((path.read_bytes() + tables_beside(path.parent)).__contains__, names))]


@cache
def tables_beside(folder: Path) -> bytes:
    """Return the text of a section's modules that its checks and faults import, and of its table of states."""
    modules = sorted([*folder.glob("*.py"), *folder.glob(STATES_FILE)])
    return b"".join(path.read_bytes() for path in modules if not any(fnmatch(path.name, one) for one in _REGISTERING))


def place_of(path: str, *texts: str) -> str:
    """Return where a file has the first of some texts that it has, as ``path:line``.

    ``path``: below the folder that holds the suites, such as ``suites/mqqb/s2_2_1_internal_header/faults.py``.
    """
    lines = (SUITES.parent / path).read_text(encoding="utf-8").splitlines()
    return next((f"{path}:{number}" for text in texts for number, line in enumerate(lines, 1) if text in line), path)
