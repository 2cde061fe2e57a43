"""Resolves the paths of files that the files of a run folder name, and refuses paths that lead outside the folder."""

from __future__ import annotations

from pathlib import Path


def resolve_file_inside_folder(folder: Path, relative: str) -> Path | None:
    """Return the path of the regular file ``relative`` in a resolved folder.

    Return None for a missing file, and for a file outside the folder (an absolute path, ".." or a link).
    """
    if not relative or "\0" in relative or "\\" in relative:
        return None
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts:
        return None
    try:
        target = (folder / path).resolve()
        return target if target.is_relative_to(folder) and target.is_file() else None
    except (OSError, RuntimeError, UnicodeError):  # a long name, a loop of links, a lone surrogate
        return None
