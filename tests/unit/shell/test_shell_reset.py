"""The reset of the host: a new core starts, and no input for the previous core reaches it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, client, lives, running

from reference_qm.shell import system
from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import CommandRejected, Connect, Effect, Persist
from reference_qm.surface.inputs import (
    Endpoint,
    Input,
    QueueManagerStarted,
    QueueManagerStopped,
    TransportAccepted,
    TransportLost,
)
from reference_qm.surface.store import MemoryStore, StoreError

NOBODY = Endpoint("127.0.0.1", 1)


class _Broken(MemoryStore):
    def clear(self) -> None:
        raise StoreError("store x: no room")


def connecting_task(event: Input) -> list[Effect]:
    return [Connect("out-1", NOBODY), Persist(1, {})] if isinstance(event, QueueManagerStarted) else []


def test_new_core_gets_no_events_of_the_old_core():
    async def story():
        old, new = ScriptedCore(connecting_task), ScriptedCore()
        answers: list[Effect] = []
        old.due = system.read_clocks().monotonic_ms + 60_000
        async with running(lives(old, new)) as (host, endpoint), client(endpoint) as (reader, _):
            await old.wait_for(TransportAccepted)
            host.ask(Identity(), answers.append)
            known = len(old.inputs)
            host.reset()
            assert answers == [CommandRejected(1, "the queue manager was reset in the meantime")]
            assert host.driver.due is None
            with contextlib.suppress(ConnectionResetError):
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    assert await reader.read() == b""
            async with client(endpoint):
                await new.wait_for(TransportAccepted)
            await new.wait_for(TransportLost)
        assert len(old.inputs) == known
        assert [type(event) for event in new.inputs] == [
            QueueManagerStarted,
            TransportAccepted,
            TransportLost,
            QueueManagerStopped,
        ]

    asyncio.run(story())


def test_failed_reset_leaves_core_and_store_unchanged():
    async def story():
        old = ScriptedCore()
        async with running(old, store=_Broken()) as (host, endpoint):
            async with client(endpoint):
                await old.wait_for(TransportAccepted)
                with pytest.raises(StoreError, match="no room"):
                    host.reset()
                assert host.core is old
            await old.wait_for(TransportLost)

    asyncio.run(story())
