"""Implements a directory in an SQLite file, which several queue managers on a machine can share."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

from reference_qm.directory.memory import DirectoryStorageError, MemoryDirectory
from reference_qm.directory.objects import DirectoryObject
from reference_qm.directory.records import RecordError, convert_from_record, convert_to_record

APPLICATION_ID: Final = 0x4D514453
"""The application_id that marks an SQLite file as a directory: "MQDS"."""
SCHEMA_VERSION: Final = 1

_HEADER_LAYOUT: Final = struct.Struct(">16s44xI4xI")
"""The fields of an SQLite header: magic, user_version at 60, application_id at 68."""
_SQLITE_MAGIC: Final = b"SQLite format 3\0"


class DirectoryFileError(Exception):
    """Raised when a file cannot be used as a directory. The message has one line."""


class SqliteDirectory(MemoryDirectory):
    """A directory in a file. A change returns Success only after its objects are on disk.

    Each operation sees the earlier writes of other processes. A file that is damaged or is not a directory is refused
    with DirectoryFileError and stays unchanged. An operation that cannot access the file (because the file is locked
    for longer than ``busy_s``, or the disk is full) ends with GenericError and changes nothing. Any thread may use the
    directory, but only one thread at a time.
    """

    shared = True

    def __init__(
        self, path: Path, new_identifier: Callable[[], UUID], utc_s: Callable[[], int], busy_s: float = 1.0
    ) -> None:
        super().__init__(new_identifier, utc_s)
        self._path_of_file = path
        self._last_read_version: int | None = None
        _check_header(path)
        try:
            self._database = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise DirectoryFileError(f"{path} cannot be opened as a directory: {error}") from error
        try:
            self._prepare_file()
            with self._open_objects_to_read():
                pass
        except (sqlite3.Error, DirectoryStorageError) as error:
            self._database.close()
            raise DirectoryFileError(f"{path} cannot be used as a directory: {error}") from error

    def close(self) -> None:
        """Release the database file."""
        self._database.close()

    def are_objects_outdated(self) -> bool:
        """Return whether another process has changed the file since the last read."""
        try:
            return self._read_data_version() != self._last_read_version
        except sqlite3.Error as error:
            raise DirectoryStorageError(f"{self._path_of_file}: {error}") from error

    def _prepare_file(self) -> None:
        self._database.execute("PRAGMA synchronous = FULL")
        (verdict,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise DirectoryStorageError(f"the file is damaged ({verdict}): restore the file from a copy")
        if self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'objects'").fetchone():
            return
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS objects "
            "(number INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, record TEXT NOT NULL)"
        )
        self._database.execute("COMMIT")

    @contextmanager
    def _open_objects_to_read(self) -> Iterator[None]:
        try:
            self._reread_changed_file()
        except sqlite3.Error as error:
            raise DirectoryStorageError(f"{self._path_of_file}: {error}") from error
        yield

    @contextmanager
    def _open_objects_to_change(self) -> Iterator[None]:
        done = False
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._reread_changed_file()
            yield
            self._database.execute("COMMIT")
            done = True
        except sqlite3.Error as error:
            raise DirectoryStorageError(f"{self._path_of_file}: {error}") from error
        finally:
            if not done:
                self._last_read_version = None  # memory may differ from the file now: read it again
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
        self._notify_observers()

    def _store_element(self, element: DirectoryObject) -> None:
        self._database.execute(
            "INSERT INTO objects (identifier, record) VALUES (?, ?) "
            "ON CONFLICT (identifier) DO UPDATE SET record = excluded.record",
            (str(element.Identifier), json.dumps(convert_to_record(element))),
        )
        super()._store_element(element)

    def _delete_element(self, element: DirectoryObject) -> None:
        self._database.execute("DELETE FROM objects WHERE identifier = ?", (str(element.Identifier),))
        super()._delete_element(element)

    def _reread_changed_file(self) -> None:
        """Read the objects from the file once more, because another process has changed the file, or because a change
        by this process was undone.
        """
        version = self._read_data_version()
        if version == self._last_read_version:
            return
        rows = self._database.execute("SELECT record FROM objects ORDER BY number").fetchall()
        try:
            elements = [convert_from_record(json.loads(record)) for (record,) in rows]
        except (ValueError, RecursionError, RecordError) as error:
            raise DirectoryStorageError(f"{self._path_of_file}: an object in it is damaged: {error}") from error
        self._objects.clear()
        self._paths.clear()
        for element in elements:
            super()._store_element(element)
        self._last_read_version = version

    def _read_data_version(self) -> int:
        """Return a number that changes with every commit of another process."""
        (version,) = self._database.execute("PRAGMA data_version").fetchone()
        return int(version)


def _check_header(path: Path) -> None:
    """Refuse a file that is not a directory before SQLite opens it. New and empty files are accepted."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_LAYOUT.size)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DirectoryFileError(f"{path} cannot be read: {error.strerror}") from error
    if not header:
        return
    magic, schema, application = _HEADER_LAYOUT.unpack(header.ljust(_HEADER_LAYOUT.size, b"\0"))
    if magic != _SQLITE_MAGIC or application != APPLICATION_ID:
        raise DirectoryFileError(f"{path} is not a directory file of mqconform: give another file")
    if schema != SCHEMA_VERSION:
        raise DirectoryFileError(
            f"{path} has schema {schema}, but this program reads only {SCHEMA_VERSION}: use the matching version"
        )
