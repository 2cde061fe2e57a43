"""Lists the names of Windows releases in chronological order (MS-MQDMPR 6)."""

from __future__ import annotations

from collections.abc import Iterable

NO_RELEASE = "none"
"""The release of a queue manager that behaves as the documents specify."""
WINDOWS_RELEASES = (
    *("windows-nt", "windows-2000", "windows-xp", "windows-server-2003", "windows-server-2003-r2"),
    *("windows-vista", "windows-server-2008", "windows-7", "windows-server-2008-r2"),
    *("windows-8", "windows-server-2012", "windows-8.1", "windows-server-2012-r2"),
    *("windows-10", "windows-server-2016", "windows-server", "windows-server-2019"),
    *("windows-server-2022", "windows-11", "windows-server-2025"),
)
"""The releases of Windows. ``windows-server`` stands for the releases between 2016 and 2019."""
KNOWN_RELEASES = (NO_RELEASE, *WINDOWS_RELEASES)
_ALL_RELEASES_EXPRESSION, _FROM_RELEASE_PREFIX, _UNTIL_RELEASE_PREFIX = "all", "from ", "until "


def parse_releases(written: Iterable[str]) -> tuple[str, ...]:
    """Return, in chronological order, the releases that an expression names. The expression is a name, ``from
    NAME``, ``until NAME`` (inclusive), or ``all``. Raise ValueError for an unknown name.
    """
    found = set[str]()
    for each in written:
        first, last = 0, len(WINDOWS_RELEASES)
        if each.startswith(_FROM_RELEASE_PREFIX):
            first = _get_release_index(each.removeprefix(_FROM_RELEASE_PREFIX))
        elif each.startswith(_UNTIL_RELEASE_PREFIX):
            last = _get_release_index(each.removeprefix(_UNTIL_RELEASE_PREFIX)) + 1
        elif each != _ALL_RELEASES_EXPRESSION:
            first = _get_release_index(each)
            last = first + 1
        found.update(WINDOWS_RELEASES[first:last])
    return tuple(name for name in WINDOWS_RELEASES if name in found)


def _get_release_index(name: str) -> int:
    if name not in WINDOWS_RELEASES:
        raise ValueError(f"unknown release {name!a}; known: {', '.join(WINDOWS_RELEASES)}")
    return WINDOWS_RELEASES.index(name)
