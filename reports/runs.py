"""Resolves paths that a run folder names; they never lead outside."""

from __future__ import annotations

from pathlib import Path


def inside(folder: Path, relative: str) -> Path | None:
    """Return the regular file ``relative`` of a resolved folder; None for a missing file or one outside.

    Absolute paths, ".." and links that lead outside count as outside.
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
