"""The store of the host: the written records, and the time at which the core learns that a write has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from shell_fakes import Disk, ScriptedCore, client, on, running

from reference_qm.shell import host as host_module
from reference_qm.shell.sqlite_store import SqliteStore
from reference_qm.shell.toml_values import SettingsError
from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import CommandCompleted, CommandRejected, Persist
from reference_qm.surface.inputs import (
    Command,
    PersistFailed,
    QueueManagerStarted,
    RecordPersisted,
    ResourcesChanged,
    TransportAccepted,
)
from reference_qm.surface.queue_manager_environment import ChangeEnvironment


def test_persisted_input_follows_in_order_after_each_store_write():
    async def story():
        disk = Disk()
        core = ScriptedCore(on(QueueManagerStarted, Persist(1, {"n": 1}), Persist(2, {"n": 2})))
        async with running(core, store=disk) as (host, _):
            await disk.begun.wait()
            core.script = on(Command, Persist(3, {"n": 3}))
            host.ask(Identity(), lambda answer: None)
            assert not [event for event in core.inputs if isinstance(event, RecordPersisted)]
            disk.may_end.set()
            assert [(await core.wait_for(RecordPersisted)).token for _ in range(3)] == [1, 2, 3]
            assert disk.writes == [[{"n": 1}, {"n": 2}], [{"n": 3}]]
        assert disk.closed

    asyncio.run(story())


def test_core_is_informed_of_a_record_that_cannot_be_stored():
    async def story():
        disk = Disk("disk full")
        disk.may_end.set()
        core = ScriptedCore(on(QueueManagerStarted, Persist(7, {})))
        async with running(core, store=disk):
            assert await core.wait_for(PersistFailed) == PersistFailed(7, "disk full")

    asyncio.run(story())


def test_core_is_informed_once_of_full_store_and_of_new_room(caplog, monkeypatch):
    monkeypatch.setattr(host_module, "FREE_SPACE_POLL_INTERVAL_S", 0.001)

    async def story():
        disk = Disk("store x: full")
        disk.may_end.set()
        core = ScriptedCore(on(Command, Persist(1, {"n": 1})))
        async with running(core, store=disk) as (host, _):
            disk.short = "store x: hardly any room"
            assert await core.wait_for(ResourcesChanged) == ResourcesChanged(low=True)
            for _ in range(3):
                host.ask(Identity(), lambda answer: None)
                assert await core.wait_for(PersistFailed) == PersistFailed(1, "store x: full")
            host.restart()
            assert await core.wait_for(ResourcesChanged) == ResourcesChanged(low=True)
            disk.short, disk.error = "", None
            assert await core.wait_for(ResourcesChanged) == ResourcesChanged(low=False)
            for _ in range(2):
                host.ask(Identity(), lambda answer: None)
                await core.wait_for(RecordPersisted)

    asyncio.run(story())
    assert caplog.messages == [
        "store x: hardly any room",
        "store x: full",
        "the disk of the store has enough free space again",
    ]


def test_command_on_full_store_is_refused_and_host_continues():
    async def story():
        disk = Disk("store x: full")
        disk.may_end.set()
        core = ScriptedCore()
        async with running(core, store=disk) as (host, _):
            answered: asyncio.Queue[object] = asyncio.Queue()
            host.ask(ChangeEnvironment(store=False), answered.put_nowait)
            assert await answered.get() == CommandRejected(1, "store x: full")
            disk.error = None
            host.ask(ChangeEnvironment(store=True), answered.put_nowait)
            assert isinstance(await answered.get(), CommandCompleted)

    asyncio.run(story())


def test_store_record_that_is_not_json_serializable_is_refused():
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, Persist(7, {"body": b"bytes"})))
        async with running(core):
            assert "cannot be written as JSON" in (await core.wait_for(PersistFailed)).error

    asyncio.run(story())


def test_restart_uses_written_records_and_drops_pending_records(tmp_path: Path):
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, Persist(1, {"written": 1})))
        async with running(core, store=SqliteStore(tmp_path / "store")) as (host, _):
            await asyncio.sleep(0)  # the first record is being written
            core.script = on(Command, Persist(2, {"waits": 1}))
            host.ask(Identity(), lambda answer: None)
            core.script = on(QueueManagerStarted, Persist(1, {"after": 1}))
            host.restart()
            assert core.begun == [{}, {"written": 1}]
            await core.wait_for(RecordPersisted)
            core.script = on(QueueManagerStarted)
            host.restart()
            assert core.begun[2:] == [{"written": 1, "after": 1}]
        assert [event for event in core.inputs if isinstance(event, RecordPersisted)] == [RecordPersisted(1)], (
            "of the second life"
        )

    asyncio.run(story())


def test_restart_without_store_file_keeps_the_records_in_memory():
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, Persist(1, {"a": [1], "b": 2}), Persist(2, {"b": None})))
        async with running(core) as (host, _):
            await core.wait_for(RecordPersisted)
            host.restart()
            host.reset()
            assert core.begun == [{}, {"a": [1]}, {}]

    asyncio.run(story())


def test_restart_that_cannot_begin_leaves_the_running_core_unchanged():
    async def story():
        core = ScriptedCore()

        def begin(entries: Mapping[str, object]) -> ScriptedCore:
            if core.inputs:
                raise SettingsError("store x: entry 'y' makes no sense")
            return core

        async with running(begin) as (host, endpoint), client(endpoint):
            await core.wait_for(TransportAccepted)
            with pytest.raises(SettingsError, match="makes no sense"):
                host.restart()
            assert host.core is core
            assert [type(event) for event in core.inputs] == [QueueManagerStarted, TransportAccepted]

    asyncio.run(story())
