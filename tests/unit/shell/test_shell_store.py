"""The host's store: what is written, when it is reported to the core."""

from __future__ import annotations

import asyncio

from shell_fakes import Disk, ScriptedCore, on, running

from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import Persist
from reference_qm.surface.inputs import Command, Persisted, PersistFailed, Started


def test_persisted_is_told_only_after_the_store_has_written_and_in_order():
    async def story():
        disk = Disk()
        core = ScriptedCore(on(Started, Persist(1, {"n": 1}), Persist(2, {"n": 2})))
        async with running(core, store=disk) as (host, _):
            await disk.begun.wait()
            core.script = on(Command, Persist(3, {"n": 3}))
            host.ask(Identity(), lambda answer: None)
            assert not [event for event in core.inputs if isinstance(event, Persisted)]
            disk.may_end.set()
            assert [(await core.wait_for(Persisted)).token for _ in range(3)] == [1, 2, 3]
            assert disk.writes == [[{"n": 1}, {"n": 2}], [{"n": 3}]]
        assert disk.closed

    asyncio.run(story())


def test_a_record_that_cannot_be_stored_is_reported():
    async def story():
        disk = Disk("disk full")
        disk.may_end.set()
        core = ScriptedCore(on(Started, Persist(7, {})))
        async with running(core, store=disk):
            assert await core.wait_for(PersistFailed) == PersistFailed(7, "disk full")

    asyncio.run(story())


def test_a_record_that_is_not_json_ready_is_refused():
    async def story():
        core = ScriptedCore(on(Started, Persist(7, {"body": b"bytes"})))
        async with running(core):
            assert "not JSON-ready" in (await core.wait_for(PersistFailed)).error

    asyncio.run(story())
