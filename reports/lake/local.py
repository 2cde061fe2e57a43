"""Resolves the names of folders, and checks local folders without Java, which would take seconds to start."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from reports.rollup_error import RollupError
from reports.text import one_line

URL_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
"""The pattern of the beginning of a URL, which distinguishes a URL from a local path."""
LOCAL_URL_PATTERN = re.compile(r"file:(?:/|///+)(?!/)", re.IGNORECASE)
"""The beginning of the URL of a local path. The URL ``file://HOST/`` does not match."""


def is_url(where: str) -> bool:
    """Return whether the name of a folder, ``where``, is a URL and not a local path."""
    return URL_PATTERN.match(where) is not None


def get_local_path(uri: str) -> Path | None:
    """Return the local path of a full name, or None if the name belongs to another file system."""
    match = LOCAL_URL_PATTERN.match(uri)
    return Path("/" + uri[match.end() :]) if match else None


def get_lake_folder(where: str) -> Path:
    """Return the local folder of a lake. Raise `RollupError` if the folder is missing or is not on a local file
    system.
    """
    require_existing_lake(where)
    folder = get_local_path(where) if is_url(where) else Path(where)
    if folder is None:
        raise RollupError(f"{one_line(where)} is not a local folder: copy the lake to this machine")
    return folder.resolve()


def require_existing_argument(names: Iterable[str], kind: str, *, may_be_files: bool = False) -> None:
    """Raise `RollupError` if none of the folders exists.

    If some exist, the command itself reports the missing folders.
    """
    named = list(names)
    if named and not any(is_url(one) or _exists_locally(one, may_be_file=may_be_files) for one in named):
        more = f", nor at {len(named) - 1} other path{'' if len(named) == 2 else 's'}" if len(named) > 1 else ""
        raise RollupError(f"there is no {kind} at {one_line(named[0])}{more}")


def require_existing_lake(where: str) -> None:
    """Raise `RollupError` if a local lake is missing."""
    if not is_url(where) and not _exists_locally(where):
        raise RollupError(f"there is no lake at {one_line(where)}: create one with mqconform lake ingest")


def require_writable_folder(where: str, option: str) -> None:
    """Raise `RollupError` if a local folder is missing and cannot be created. The function itself creates no folder."""
    if is_url(where) or not where.strip():
        return
    path = Path(where)
    try:
        missing = [one for one in (path, *path.parents) if not one.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for one in missing:
            one.rmdir()
    except OSError as error:
        raise RollupError(
            f"cannot write to {one_line(where)}: {error.strerror}: give {option} a writable folder"
        ) from error


def _exists_locally(where: str, *, may_be_file: bool = False) -> bool:
    path = Path(where)
    try:
        return path.exists() if may_be_file else path.is_dir()
    except OSError:  # for example, the name is too long
        return False
