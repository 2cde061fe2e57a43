"""The directory of the host: a separate thread carries out its requests in order, and watches it for changes."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from pathlib import Path

import pytest
from shell_fakes import ScriptedCore, client, on, running

from reference_qm.directory import DirectoryStorageError, Site
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryCreateRequest, DirectoryDeleteRequest
from reference_qm.shell import directory_access
from reference_qm.shell.directory_store import SqliteDirectory
from reference_qm.surface.effects import ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import (
    DirectoryAnswered,
    DirectoryChanged,
    DomainReported,
    QueueManagerStarted,
    QueueManagerStopped,
    TransportAccepted,
)

FILE = "directory"


def stored(folder: Path, busy_s: float = 60) -> SqliteDirectory:
    return SqliteDirectory(folder / FILE, lambda: uuid.UUID(int=7), lambda: 0, busy_s)


def lock(folder: Path) -> sqlite3.Connection:
    """Lock the file as another process would, until the returned connection rolls back."""
    other = sqlite3.connect(folder / FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other


def test_directory_effects_are_answered_in_order_with_content_at_that_time(tmp_path: Path):
    site = Site(Name="north")
    effects = [
        ReadDirectory(1),
        WriteDirectory(2, DirectoryCreateRequest(site)),
        WriteDirectory(3, DirectoryCreateRequest(site)),
        ReadDirectory(4),
    ]
    effects.append(WriteDirectory(5, DirectoryDeleteRequest(site)))

    async def story():
        core = ScriptedCore(on(QueueManagerStarted, *effects))
        async with running(core, directory=stored(tmp_path)):
            assert not any(isinstance(event, DirectoryAnswered) for event in core.inputs), "not at once"
            return [await core.wait_for(DirectoryAnswered) for _ in effects]

    answers = asyncio.run(story())
    assert [answer.token for answer in answers] == [1, 2, 3, 4, 5]
    assert [answer.status for answer in answers] == [
        Result.SUCCESS,
        Result.SUCCESS,
        Result.OBJECT_ALREADY_EXISTS,
        Result.SUCCESS,
        Result.SUCCESS,
    ]
    assert [answer.identifier for answer in answers] == [None, uuid.UUID(int=7), None, None, None]
    assert [answer.elements and len(answer.elements) for answer in answers] == [(), 1, None, 1, ()]


def test_event_loop_continues_while_directory_file_is_locked(tmp_path: Path):
    async def story():
        core = ScriptedCore(
            on(QueueManagerStarted, ReadDirectory(1), WriteDirectory(2, DirectoryCreateRequest(Site(Name="north"))))
        )
        directory = stored(tmp_path)
        other = lock(tmp_path)
        async with running(core, directory=directory) as (_, endpoint), client(endpoint):
            await core.wait_for(TransportAccepted)
            assert [type(event) for event in core.inputs] == [QueueManagerStarted, DomainReported, TransportAccepted]
            other.execute("ROLLBACK")
            assert [(await core.wait_for(DirectoryAnswered)).status for _ in range(2)] == [Result.SUCCESS] * 2
        other.close()

    asyncio.run(story())


def test_locked_directory_file_gives_generic_error(tmp_path: Path):
    async def story():
        core = ScriptedCore(
            on(QueueManagerStarted, ReadDirectory(1), WriteDirectory(2, DirectoryCreateRequest(Site(Name="north"))))
        )
        directory = stored(tmp_path, busy_s=0)
        other = lock(tmp_path)
        async with running(core, directory=directory):
            assert await core.wait_for(DirectoryAnswered) == DirectoryAnswered(1, Result.GENERIC_ERROR)
            assert await core.wait_for(DirectoryAnswered) == DirectoryAnswered(2, Result.GENERIC_ERROR)
        other.close()

    asyncio.run(story())


def test_directory_access_without_directory_answers_not_connected():
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, ReadDirectory(1)))
        async with running(core):
            assert (await core.wait_for(DirectoryAnswered)).status is Result.DIRECTORY_NOT_CONNECTED

    asyncio.run(story())


def test_directory_answer_for_a_restarted_core_is_dropped(tmp_path: Path):
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, ReadDirectory(1), ReadDirectory(2)))
        directory = stored(tmp_path)
        other = lock(tmp_path)
        async with running(core, directory=directory) as (host, _):
            await asyncio.sleep(0.01)
            core.script = on(QueueManagerStarted, ReadDirectory(3))
            host.restart()
            other.execute("ROLLBACK")
            assert (await core.wait_for(DirectoryAnswered)).token == 3
        other.close()
        assert [type(event) for event in core.inputs] == [QueueManagerStarted, DomainReported] * 2 + [
            DirectoryAnswered,
            QueueManagerStopped,
        ]

    asyncio.run(story())


@pytest.fixture
def _polled_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_access, "DIRECTORY_POLL_INTERVAL_S", 0.01)


@pytest.mark.usefixtures("_polled_often")
def test_only_directory_changes_of_other_processes_are_reported(tmp_path: Path):
    async def story():
        core = ScriptedCore(lambda event: effects.get(type(event), []))
        directory, another = stored(tmp_path), stored(tmp_path)
        async with running(core, directory=directory):
            await core.wait_for(DirectoryAnswered)
            await asyncio.sleep(0.1)
            assert [type(event) for event in core.inputs] == [QueueManagerStarted, DomainReported, DirectoryAnswered]
            another.delete(Site(Name="north"))
            await core.wait_for(DirectoryChanged)
            assert (await core.wait_for(DirectoryAnswered)).elements == ()
            known = len(core.inputs)
            await asyncio.sleep(0.1)
            assert core.inputs[known:] == [], "once"
        another.close()

    effects = {
        QueueManagerStarted: [WriteDirectory(1, DirectoryCreateRequest(Site(Name="north")))],
        DirectoryChanged: [ReadDirectory(2)],
    }
    asyncio.run(story())


@pytest.mark.usefixtures("_polled_often")
def test_unreadable_directory_file_is_polled_again(tmp_path: Path):
    async def story():
        core = ScriptedCore()
        directory, another = stored(tmp_path, busy_s=0), stored(tmp_path)
        async with running(core, directory=directory):
            other = lock(tmp_path)
            await asyncio.sleep(0.1)
            assert [type(event) for event in core.inputs] == [QueueManagerStarted, DomainReported]
            other.execute("ROLLBACK")
            other.close()
            another.provision(Site(Name="north"))
            await core.wait_for(DirectoryChanged)
        another.close()

    asyncio.run(story())


def test_closed_directory_access_releases_file(tmp_path: Path):
    async def story():
        async with running(ScriptedCore(), directory=directory):
            pass

    directory = stored(tmp_path)
    asyncio.run(story())
    with pytest.raises(DirectoryStorageError, match="closed"):
        directory.are_objects_outdated()
