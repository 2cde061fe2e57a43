"""The directory that is stored in an SQLite file."""

from __future__ import annotations

import json
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest
from directory_made import ALPHA, BETA, QUEUE, SITE_A, Clock, fill, new_identifiers

from reference_qm.directory import (
    DirectoryObject,
    DirectoryStorageError,
    MemoryDirectory,
    Queue,
    QueueManager,
    Site,
    build_equality_filter,
)
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.shell.directory_store import APPLICATION_ID, DirectoryFileError, SqliteDirectory

DIRECTORY = "directory.sqlite"


def opened(path: Path, seed: str = "file") -> SqliteDirectory:
    return SqliteDirectory(path, new_identifiers(seed), Clock(), busy_s=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with a stored directory of the small enterprise."""
    directory = fill(opened(tmp_path / DIRECTORY))
    assert isinstance(directory, SqliteDirectory)
    directory.close()
    return tmp_path / DIRECTORY


def everything(directory: MemoryDirectory) -> list[DirectoryObject | None]:
    found = []
    for kind in ("QueueManager", "Queue", "Enterprise", "Site", "RoutingLink", "User"):
        handle = directory.read_begin(kind).rQueryHandle
        assert handle is not None
        while (read := directory.read_next(handle)).rStatus is Result.SUCCESS:
            found.append(read.rDirectoryObject)
        directory.read_end(handle)
    return found


def test_reopened_directory_file_has_all_objects(path: Path) -> None:
    first = opened(path)
    first.create(Queue(Pathname="beta\\new", Security=b"\0\xff"))
    first.write(QueueManager(Identifier=BETA, JournalQuota=5), ["JournalQuota"])
    first.delete(Queue(Identifier=QUEUE))
    before = everything(first)
    first.close()
    second = opened(path)
    assert everything(second) == before
    assert second.create(Queue(Pathname="beta\\new")).rStatus is Result.OBJECT_ALREADY_EXISTS
    second.close()


def test_two_processes_see_each_others_directory_changes(path: Path) -> None:
    one, other = opened(path, "one"), opened(path, "other")
    created = one.create(Site(Name="C"))
    assert created.rStatus is Result.SUCCESS
    assert other.read("Site", build_equality_filter("Name", "C"), ["Identifier"]).rDirectoryObject == Site(
        Identifier=created.rObjectGUID
    )
    assert other.create(Site(Name="c")).rStatus is Result.OBJECT_ALREADY_EXISTS
    assert other.delete(Site(Identifier=created.rObjectGUID)) is Result.SUCCESS
    assert one.write(Site(Name="C", ForeignSite=True)) is Result.OBJECT_NOT_FOUND
    assert everything(one) == everything(other)
    one.close()
    other.close()


def test_locked_directory_file_is_left_unchanged(path: Path) -> None:
    directory = opened(path)
    before = everything(directory)
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    assert directory.create(Site(Name="C")).rStatus is Result.GENERIC_ERROR
    assert directory.write(QueueManager(Identifier=ALPHA, JournalQuota=1)) is Result.GENERIC_ERROR
    assert directory.delete(Queue(Identifier=QUEUE)) is Result.GENERIC_ERROR
    with pytest.raises(DirectoryStorageError, match="database is locked"):
        directory.provision(Site(Name="C"))
    locker.execute("ROLLBACK")
    locker.close()
    assert everything(directory) == before
    assert directory.create(Site(Name="C")).rStatus is Result.SUCCESS
    directory.close()


def test_directory_change_that_cannot_be_committed_is_undone(path: Path) -> None:
    directory = opened(path)
    before = everything(directory)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT record FROM objects").fetchone()
    assert directory.create(Site(Name="C")).rStatus is Result.GENERIC_ERROR
    assert everything(directory) == before
    reader.execute("ROLLBACK")
    reader.close()
    assert directory.create(Site(Name="C")).rStatus is Result.SUCCESS
    directory.close()


def test_refused_directory_object_leaves_no_open_transaction(path: Path) -> None:
    directory = opened(path)
    with pytest.raises(ValueError, match="already exists"):
        directory.provision(Site(Name="A"))
    other = opened(path)
    assert other.create(Site(Name="C")).rStatus is Result.SUCCESS
    other.close()
    directory.close()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from directory_made import Clock, new_identifiers
from reference_qm.directory import Queue, build_equality_filter
from reference_qm.shell.directory_store import SqliteDirectory

directory = SqliteDirectory(Path(sys.argv[1]), new_identifiers("full"), Clock())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
created = directory.create(Queue(Pathname="beta\\\\big", Label="x" * 100_000))
ghost = directory.read("Queue", build_equality_filter("Pathname", "beta\\big"))
there = directory.read("Queue", (), ["Pathname"])
print(created.rStatus.value, ghost.rStatus.value, there.rDirectoryObject.Pathname)
"""


def test_full_disk_leaves_directory_file_unchanged(path: Path) -> None:
    before = path.read_bytes()
    command = [sys.executable, "-c", FULL_DISK, str(path), str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert (ran.stdout, ran.returncode) == ("GenericError ObjectNotFound alpha\\Orders\n", 0), ran.stderr
    assert path.read_bytes() == before


def spoiled(path: Path, offset: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + len(data)] = data
    path.write_bytes(content)


def reworded(path: Path, record: object) -> None:
    database = sqlite3.connect(path)
    database.execute("UPDATE objects SET record = ? WHERE identifier = ?", (json.dumps(record), str(SITE_A)))
    database.commit()
    database.close()


REFUSED = {
    "text": (lambda path: path.write_text("hello\n"), "is not a directory file of mqconform: give another file"),
    "one byte": (lambda path: path.write_bytes(b"S"), "is not a directory file of mqconform"),
    "foreign": (lambda path: spoiled(path, 68, b"\0\0\0\1"), "is not a directory file of mqconform"),
    "schema": (lambda path: spoiled(path, 60, struct.pack(">I", 2)), "has schema 2, but this program reads only 1"),
    "torn": (lambda path: path.write_bytes(path.read_bytes()[:-4_096]), "cannot be used as a directory"),
    "damaged": (lambda path: spoiled(path, 100, b"\xff" * 3_000), "cannot be used as a directory"),
    "json": (lambda path: reworded(path, "{"), "an object in it is damaged"),
    "object": (lambda path: reworded(path, {"type": "Site", "ForeignSite": 2}), "Site.ForeignSite: bool is expected"),
    "nameless": (lambda path: reworded(path, {"type": "Site", "Name": "A"}), "without Identifier or name"),
    "network": (
        lambda path: reworded(path, {"type": "ConnectedNetwork", "Identifier": str(UUID(int=1)), "Name": "n"}),
        "a ConnectedNetwork without",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_file_without_directory_content_is_refused_and_left_unchanged(path: Path, kind: str) -> None:
    spoil, complaint = REFUSED[kind]
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(DirectoryFileError, match=complaint) as raised:
        opened(path)
    assert str(raised.value).startswith((f"{path} ", f"{path}: "))
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_directory_path_that_cannot_be_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DirectoryFileError, match="Is a directory"):
        opened(tmp_path)
    with pytest.raises(DirectoryFileError, match="unable to open"):
        opened(tmp_path / "none" / DIRECTORY)


def test_empty_file_becomes_an_empty_directory_store(tmp_path: Path) -> None:
    path = tmp_path / DIRECTORY
    path.touch()
    opened(path).close()
    assert struct.unpack_from(">I", path.read_bytes(), 68) == (APPLICATION_ID,)
