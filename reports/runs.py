"""Paths that a run folder names: they never lead out of it."""

from __future__ import annotations

from pathlib import Path


def inside(folder: Path, relative: str) -> Path | None:
    """Return the regular file ``relative`` of a resolved folder; None when there is none or the path leaves the folder.

    Absolute paths, ".." and links that lead out are all "leaves the folder".
    """
    if not relative or "\0" in relative or "\\" in relative:
        return None
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts:
        return None
    try:
        target = (folder / path).resolve()
        return target if target.is_relative_to(folder) and target.is_file() else None
    except (OSError, RuntimeError, UnicodeError):  # too long a name, a loop of links, a lone surrogate
        return None
