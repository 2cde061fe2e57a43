"""Write the files of a run folder so that they contain only complete records. A record is written completely or not
at all.
"""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path

from harness.errors import FolderError


def open_record_file(path: Path, mode: str) -> FileIO:
    """Open a file for records. Raise FolderError if it cannot be opened."""
    try:
        return FileIO(path, mode)
    except OSError as error:
        raise FolderError.from_os_error(path, error) from error


def append_whole_record(file: FileIO, path: Path, record: bytes) -> None:
    """Append a record to a file. If the disk has no space for the record, restore the earlier state of the file and
    raise FolderError.
    """
    written = 0
    try:
        while written < len(record):
            written += file.write(record[written:])
    except OSError as error:
        os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - written)
        raise FolderError.from_os_error(path, error) from error
