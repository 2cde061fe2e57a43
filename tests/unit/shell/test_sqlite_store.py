"""The store on disk: the records that it keeps, the files that it refuses, and a full disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from shell_fakes import ScriptedCore, lives, running

from reference_qm.core.queue_manager import QueueManager
from reference_qm.shell.service import make_core_factory, use_stored_identifier
from reference_qm.shell.settings import SettingsError, load_settings
from reference_qm.shell.sqlite_store import SqliteStore
from reference_qm.surface.effects import Effect, Persist
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Input, QueueManagerStarted, QueueManagerStopped, RecordPersisted
from reference_qm.surface.store import Record, StoreError

ENTROPY = SeededEntropy("store")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(path)) as store:
        yield store


def write(path: Path, *records: Record) -> None:
    with opened(path) as store:
        asyncio.run(store.write(records))


def entries(path: Path) -> dict[str, object]:
    with opened(path) as store:
        return store.read()


def complaint(path: Path) -> str:
    """Return the message for a store that cannot be opened, and check that its file is unchanged."""
    before = path.read_bytes()
    with pytest.raises(StoreError) as error:
        SqliteStore(path)
    assert path.read_bytes() == before, "a refused store is left untouched"
    said = str(error.value)
    assert "\n" not in said
    assert said.startswith(f"store {path}")
    return said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a store with many pages, which has the entries e0 to e199."""
    path = tmp_path / "store"
    write(path, {f"e{number}": {"text": f"{number} " * 50} for number in range(200)})
    return path


# -- what it keeps ----------------------------------------------------------------------------------------------


def test_reopened_store_has_last_value_of_each_entry(tmp_path: Path):
    path = tmp_path / "store"
    with opened(path) as store:
        assert store.read() == {}
        asyncio.run(store.write([{"a": 1, "b": {"c": [None, "\ud800 ü", True]}}, {"a": 2, "gone": 3}]))
        asyncio.run(store.write([{"gone": None, "never there": None}]))
    assert entries(path) == {"a": 2, "b": {"c": [None, "\ud800 ü", True]}}


def test_store_change_that_cannot_be_written_completely_is_not_written(tmp_path: Path):
    path = tmp_path / "store"
    with opened(path) as store:
        asyncio.run(store.write([{"a": 1}]))
        with pytest.raises(StoreError, match="cannot be written as JSON"):
            asyncio.run(store.write([{"a": 2}, {"b": b"bytes"}]))
        asyncio.run(store.write([{"c": 3}]))
    assert entries(path) == {"a": 1, "c": 3}


def test_store_write_is_synced_to_disk_before_it_returns(tmp_path: Path):
    with opened(tmp_path / "store") as store:
        pragma = store._connection.execute
        assert pragma("PRAGMA journal_mode").fetchone() == ("wal",)
        assert pragma("PRAGMA synchronous").fetchone() == (2,)
        assert pragma("PRAGMA locking_mode").fetchone() == ("exclusive",)


def test_interrupted_store_creation_is_repeated(tmp_path: Path):
    (tmp_path / "store.new").write_bytes(b"half a store")
    write(tmp_path / "store", {"a": 1})
    assert entries(tmp_path / "store") == {"a": 1}


def test_store_entries_written_before_a_kill_are_read_again(tmp_path: Path):
    """The log of a process that was killed before it closed the store is read; the incomplete record at the end of the
    log is ignored.
    """
    path, log = tmp_path / "store", tmp_path / "store-wal"
    code = f"""
import asyncio, os
from pathlib import Path
from reference_qm.shell.sqlite_store import SqliteStore
store = SqliteStore(Path({str(path)!r}))
asyncio.run(store.write([{{"a": 1}}]))
asyncio.run(store.write([{{"b": "x" * 9000}}]))
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    os.truncate(log, log.stat().st_size - 100)
    assert entries(path) == {"a": 1}


# -- what it refuses --------------------------------------------------------------------------------------------


def test_store_file_truncated_to_half_is_refused(path: Path):
    os.truncate(path, path.stat().st_size // 2)
    assert "the file stays unchanged: move it to another place, or restore a copy" in complaint(path)


@pytest.mark.parametrize("size", [0, 50, 100])
def test_store_file_truncated_to_its_header_is_refused(path: Path, size: int):
    os.truncate(path, size)
    assert "move it to another place, or restore a copy" in complaint(path)


def test_store_file_with_a_damaged_page_is_refused(path: Path):
    data = bytearray(path.read_bytes())
    data[8192:8200] = bytes(8)
    path.write_bytes(data)
    assert "the file stays unchanged" in complaint(path)


def test_store_file_with_an_altered_entry_is_refused(path: Path):
    data = path.read_bytes()
    assert data.count(b"123 123 123") >= 1
    path.write_bytes(data.replace(b"123 123 123", b"123 124 123", 1))
    assert "is damaged: entry 'e123' does not match its checksum" in complaint(path)


def test_file_of_other_format_is_refused_as_store(tmp_path: Path):
    path = tmp_path / "store"
    path.write_text("the dissertation of somebody\n" * 100)
    assert "is not an SQLite file" in complaint(path)


def test_database_of_a_foreign_application_is_refused_as_store(tmp_path: Path):
    path = tmp_path / "store"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entry (name, value, crc)")
    assert "is an SQLite file of another application; choose another file" in complaint(path)


def test_store_with_other_schema_is_refused(path: Path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=2")
    assert "has schema 2 instead of 1: use the version of mqconform that wrote the store" in complaint(path)


def test_read_only_store_file_is_refused(path: Path):
    path.chmod(0o444)
    assert "is read-only; make it writable or choose another file" in complaint(path)


def test_missing_folder_of_the_store_is_named(tmp_path: Path):
    path = tmp_path / "none" / "store"
    with pytest.raises(StoreError, match=r"none/store: unable to open database file; make its folder writable"):
        SqliteStore(path)


def test_folder_path_is_refused_as_store(tmp_path: Path):
    with pytest.raises(StoreError, match="Is a directory; choose another file"):
        SqliteStore(tmp_path)


@pytest.mark.parametrize("holds", ["store", "foreign lock"])
def test_store_file_used_by_another_process_is_refused(path: Path, holds: str):
    taking = {
        "store": f"from reference_qm.shell.sqlite_store import SqliteStore; held = SqliteStore(Path({str(path)!r}))",
        "foreign lock": f"held = sqlite3.connect({str(path)!r}, isolation_level=None); held.execute('BEGIN IMMEDIATE')",
    }
    code = f"import sqlite3\nfrom pathlib import Path\n{taking[holds]}\nprint('held', flush=True)\ninput()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert "another process uses the file: stop that process, or choose another file" in complaint(path)
        other.kill()
    assert len(entries(path)) == 200


# -- a full disk ------------------------------------------------------------------------------------------------

_FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from reference_qm.shell.sqlite_store import SqliteStore
from reference_qm.surface.store import StoreError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqliteStore(Path(sys.argv[1]))
asyncio.run(store.write([{"before": 1}]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
failures = written = 0
for number in range(100):
    try:
        asyncio.run(store.write([{f"big {number}": "x" * 10_000}, {"last": number}]))
    except StoreError as error:
        failures += 1
        said = str(error)
    else:
        written = number
        assert not failures, "the disk has no more room than before"
assert failures and written, (failures, written)
assert "\\n" not in said and "disk" in said, said
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
asyncio.run(store.write([{"after": written}]))
store.close()
"""


def test_store_on_full_disk_refuses_whole_writes_and_works_again_with_room(tmp_path: Path):
    path = tmp_path / "store"
    done = subprocess.run([sys.executable, "-c", _FULL_DISK, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = entries(path)
    written = found.pop("after")
    assert isinstance(written, int)
    assert found == {"before": 1, "last": written} | {f"big {n}": "x" * 10_000 for n in range(written + 1)}


# -- the service around it --------------------------------------------------------------------------------------


def test_store_path_is_set_by_flag_or_settings_file(tmp_path: Path):
    assert load_settings(None, {}, ENTROPY).store is None
    assert load_settings(None, {"--store": "here"}, ENTROPY).store == Path("here")
    config = tmp_path / "qm.toml"
    config.write_text("[store]\npath = 'there'")
    assert load_settings(config, {}, ENTROPY).store == Path("there")
    config.write_text("[store]\npath = ''")
    with pytest.raises(SettingsError, match=r"\[store\] path = '': must be a string"):
        load_settings(config, {}, ENTROPY)


def test_queue_manager_identifier_is_read_from_store_unless_configured(path: Path, tmp_path: Path):
    ours, other = "6d71636f-6e66-4f72-8d00-000000000001", "6d71636f-6e66-4f72-8d00-000000000002"
    (tmp_path / "made").mkdir()
    made = tmp_path / "made" / "store"
    write(made, {"identifier": ours})
    settings = load_settings(None, {"--store": str(made)}, ENTROPY)
    with opened(made) as store:
        core = make_core_factory(use_stored_identifier(settings, store), [])(store.read())
        assert isinstance(core, QueueManager)
        assert str(core.adm.Identifier) == ours
    config = replace(settings.config, identifier=UUID(other))
    with (
        opened(made) as store,
        pytest.raises(SettingsError, match=f"^store {made}: the entries are messages of .*{ours}"),
    ):
        make_core_factory(replace(settings, config=config, has_identifier=True), [])(store.read())
    write(made, {"identifier": "x"})
    with opened(made) as store, pytest.raises(SettingsError, match="entry identifier is 'x', not a GUID"):
        use_stored_identifier(settings, store)
    with opened(path) as store, pytest.raises(SettingsError, match="entry 'e0' is of an unknown kind"):
        make_core_factory(settings, [])(store.read())


def test_cleared_store_keeps_only_later_entries(path: Path):
    with opened(path) as store:
        store.clear()
        asyncio.run(store.write([{"later": 1}]))
    assert entries(path) == {"later": 1}


def test_store_after_reset_has_only_entries_of_new_core(tmp_path: Path):
    def writing(name: str) -> ScriptedCore:
        return ScriptedCore(lambda event: [Persist(1, {name: 1})] if isinstance(event, QueueManagerStarted) else [])

    async def story() -> None:
        new = writing("new")
        async with running(lives(writing("old"), new), store=SqliteStore(tmp_path / "store")) as (host, _):
            host.reset()
            await new.wait_for(RecordPersisted)

    asyncio.run(story())
    assert entries(tmp_path / "store") == {"new": 1}


def test_last_entries_are_written_before_the_store_is_closed(tmp_path: Path):
    def script(event: Input) -> list[Effect]:
        return [Persist(1, {"last": 1})] if isinstance(event, QueueManagerStopped) else []

    async def story() -> None:
        async with running(ScriptedCore(script), store=SqliteStore(tmp_path / "store")):
            pass

    asyncio.run(story())
    assert entries(tmp_path / "store") == {"last": 1}
