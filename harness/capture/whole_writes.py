"""Files of a run folder that hold whole records only: a record is written as a whole or not at all."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path

from harness.errors import FolderError


def open_whole(path: Path, mode: str) -> FileIO:
    """Open a file for records; FolderError when that cannot be."""
    try:
        return FileIO(path, mode)
    except OSError as error:
        raise FolderError.about(path, error) from error


def write_whole(file: FileIO, path: Path, record: bytes) -> None:
    """Append a record; FolderError, and the file is as it was, when there is no room for it."""
    written = 0
    try:
        while written < len(record):
            written += file.write(record[written:])
    except OSError as error:
        os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - written)
        raise FolderError.about(path, error) from error
