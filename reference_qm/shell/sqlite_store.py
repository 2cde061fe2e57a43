"""Implements a store that keeps its entries when the process ends: one SQLite file (WAL, synchronous=FULL), and one
thread that writes the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from reference_qm.surface.store import Record, StoreError, encode_changed_entries

PortionItem = TypeVar("PortionItem")

APPLICATION_ID = 0x6D716366
"""The application_id that marks an SQLite file as a store: ``mqcf`` (SQLite file format 1.3.14)."""
SCHEMA_VERSION = 1
REQUIRED_FREE_DISK_BYTES = 16 << 20
"""The number of bytes that must be free on the disk before messages are accepted.

SQLite first writes a removal to its log. Before the space in the log is reused, the log may grow to the size of 1,000
pages plus the longest record. If there were no room for this growth, the messages on a full disk could never be
removed.
"""
_SQLITE_MAGIC = b"SQLite format 3\0"
_HEADER_SIZE, _USER_VERSION_SLICE, _APPLICATION_ID_SLICE = 100, slice(60, 64), slice(68, 72)
_CREATE_TABLE_STATEMENT = "CREATE TABLE entry (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL)"


class SqliteStore:
    """A store in an SQLite file. ``write`` stores all records or none, and returns when the records are on disk.
    While the store is open, no other process can open the file.
    """

    def __init__(self, path: Path) -> None:
        """Open a store, or create it if the file is missing. Raise StoreError for an unusable file, which stays
        unchanged.
        """
        self.path = path
        self._found: dict[str, object] | None
        """The entries that the store had when it was opened; they are dropped when an entry changes."""
        with self._convert_store_errors():
            if not path.exists():
                _create_store(path)
            _check_header(path)
            self._found = _check_entries(path)
            self._connection = _open_store(path)
            self._free = _count_free_bytes(self._connection)
        self._closed = False
        self._thread = ThreadPoolExecutor(1, "store")

    async def write(self, records: Sequence[Record]) -> None:
        """Store all records in order, or raise StoreError and store none. When the method returns, the records are on
        disk.
        """
        self._found = None
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write_records, records)

    def read(self) -> dict[str, object]:
        """Return every entry after the pending writes. Raise StoreError if an entry cannot be read."""
        return self._thread.submit(self._read_entries).result() if self._found is None else self._found

    def _read_entries(self) -> dict[str, object]:
        with self._convert_store_errors():
            return _verify_entries(self._connection, self.path)

    def clear(self) -> None:
        """Remove every entry after the pending writes. If StoreError is raised, every entry stays."""
        self._found = None
        self._thread.submit(self._delete_entries).result()

    def _delete_entries(self) -> None:
        with self._convert_store_errors():
            self._connection.execute("DELETE FROM entry")  # a single statement is its own transaction

    def describe_shortage(self) -> str:
        """Return a one-line message if the disk, the database file and its log together have too little free space to
        record removals.

        Return an empty text if the space is sufficient.
        """
        log = Path(f"{self.path}-wal")
        try:
            disk = os.statvfs(self.path.parent)
            used_again = self._free + (log.stat().st_size if log.exists() else 0)
        except OSError:  # the next write reports it better
            return ""
        if disk.f_bavail * disk.f_frsize + used_again >= REQUIRED_FREE_DISK_BYTES:
            return ""
        left = f"its disk has less than {REQUIRED_FREE_DISK_BYTES >> 20} MiB left"
        return f"store {self.path}: {left}, so no message is accepted; free some space on this disk"

    def close(self) -> None:
        """Close the file after all pending writes are complete."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self._connection.close)
            self._thread.shutdown()

    def _write_records(self, records: Sequence[Record]) -> None:
        texts = encode_changed_entries(records)
        put = [(name, text, _compute_checksum(name, text)) for name, text in texts.items() if text is not None]
        gone = [name for name, text in texts.items() if text is None]
        with self._convert_store_errors():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                for rows in _split_into_portions(put):
                    self._connection.execute(_PUT_STATEMENTS[len(rows)], [value for row in rows for value in row])
                for names in _split_into_portions(gone):
                    self._connection.execute(_REMOVE_STATEMENTS[len(names)], names)
                self._connection.execute("COMMIT")
                self._free = _count_free_bytes(self._connection)
            finally:
                if self._connection.in_transaction:
                    # After a full disk SQLite may have rolled back already, or fail to report it.
                    with contextlib.suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def _convert_store_errors(self) -> Iterator[None]:
        """Convert errors of SQLite and the operating system into errors whose one-line message names the file and the
        remedy.
        """
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            raise StoreError(
                f"store {self.path}: {error}; {_REMEDY_BY_SQLITE_ERROR.get(code, _CHOOSE_OTHER_FILE_REMEDY)}"
            ) from error
        except OSError as error:
            raise StoreError(f"store {self.path}: {error.strerror}; choose another file") from error


_STATEMENT_PORTION_SIZES = (256, 16, 1)
"""The numbers of entries for which there is an SQL statement that handles them at once. Few large statements are faster
than many small statements, because each statement releases the interpreter's lock and waits for it again: with one
statement per row, a busy event loop would delay every row by milliseconds.
"""
_PUT_STATEMENTS = {
    size: f"INSERT OR REPLACE INTO entry VALUES {', '.join(['(?, ?, ?)'] * size)}"  # noqa: S608
    for size in _STATEMENT_PORTION_SIZES
}
_REMOVE_STATEMENTS = {
    size: f"DELETE FROM entry WHERE name IN ({', '.join(['?'] * size)})"  # noqa: S608
    for size in _STATEMENT_PORTION_SIZES
}

_CHOOSE_OTHER_FILE_REMEDY = "the file stays unchanged: move it to another place, or restore a copy"
_REMEDY_BY_SQLITE_ERROR = {
    sqlite3.SQLITE_BUSY: "another process uses the file: stop that process, or choose another file",
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_IOERR: "check the free space of its disk",
    sqlite3.SQLITE_READONLY: "make it writable or choose another file",
    sqlite3.SQLITE_CANTOPEN: "make its folder writable or choose another file",
}


def _create_store(path: Path) -> None:
    """Create the store under a temporary name and rename it, so that no process opens an incomplete store."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute(_CREATE_TABLE_STATEMENT)
        connection.execute("PRAGMA journal_mode=WAL")
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _check_header(path: Path) -> None:
    """Refuse a file that is not a store before SQLite opens it, because SQLite might repair its content."""
    with path.open("rb") as file:
        header = file.read(_HEADER_SIZE)
    if len(header) < _HEADER_SIZE or not header.startswith(_SQLITE_MAGIC):
        raise StoreError(f"store {path} is not an SQLite file; {_CHOOSE_OTHER_FILE_REMEDY}")
    if int.from_bytes(header[_APPLICATION_ID_SLICE]) != APPLICATION_ID:
        raise StoreError(f"store {path} is an SQLite file of another application; choose another file")
    version = int.from_bytes(header[_USER_VERSION_SLICE])
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"store {path} has schema {version} instead of {SCHEMA_VERSION}: "
            "use the version of mqconform that wrote the store"
        )
    if not path.stat().st_mode & 0o222:  # root could write it nevertheless, but should not
        raise StoreError(f"store {path} is read-only; {_REMEDY_BY_SQLITE_ERROR[sqlite3.SQLITE_READONLY]}")


def _check_entries(path: Path) -> dict[str, object]:
    """Check every page and every entry without writing, and return the entries."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)) as connection:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise StoreError(f"store {path} is damaged: {' '.join(str(found).split())}; {_CHOOSE_OTHER_FILE_REMEDY}")
        return _verify_entries(connection, path)


def _verify_entries(connection: sqlite3.Connection, path: Path) -> dict[str, object]:
    entries: dict[str, object] = {}
    for name, value, crc in connection.execute("SELECT name, value, crc FROM entry"):
        if _compute_checksum(name, value) != crc:
            raise StoreError(
                f"store {path} is damaged: entry {name!a} does not match its checksum; {_CHOOSE_OTHER_FILE_REMEDY}"
            )
        try:
            entries[name] = json.loads(value)
        except ValueError as error:
            raise StoreError(
                f"store {path} is damaged: entry {name!a}: {error}; {_CHOOSE_OTHER_FILE_REMEDY}"
            ) from error
    return entries


def _open_store(path: Path) -> sqlite3.Connection:
    """Open the file for writing. No other process can open the file until this process ends."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    with contextlib.ExitStack() as stack:
        stack.callback(connection.close)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
        stack.pop_all()  # without an error it stays open
    return connection


def _count_free_bytes(connection: sqlite3.Connection) -> int:
    """Return the number of unused bytes in the file. The file never shrinks."""
    (pages,), (size,) = (connection.execute(f"PRAGMA {one}").fetchone() for one in ("freelist_count", "page_size"))
    return int(pages) * int(size)


def _compute_checksum(name: str, value: str) -> int:
    return zlib.crc32(f"{name}\0{value}".encode("utf-8", "surrogatepass"))


def _split_into_portions(items: Sequence[PortionItem]) -> Iterator[Sequence[PortionItem]]:
    """Split items into portions. For each size of a portion there is an SQL statement that handles a whole portion."""
    start = 0
    for size in _STATEMENT_PORTION_SIZES:
        while len(items) - start >= size:
            yield items[start : start + size]
            start += size
