"""The commands, the restart and the stop of the host."""

from __future__ import annotations

import asyncio
import socket

from patience import PATIENCE_S
from shell_fakes import MIB, RESPONSE_TIMEOUT_S, Disk, ScriptedCore, client, on, running, until_closed

from reference_qm.shell import connection, system
from reference_qm.surface.commands import Identity, Result
from reference_qm.surface.effects import CommandCompleted, CommandRejected, Connect, Effect, Persist, SendPacket
from reference_qm.surface.inputs import (
    Command,
    Endpoint,
    QueueManagerStarted,
    QueueManagerStopped,
    TransportAccepted,
    TransportLost,
)


def test_host_answers_each_command_once_immediately_or_later():
    async def story():
        core = ScriptedCore()
        answers: list[Effect] = []
        async with running(core) as (host, endpoint):
            host.ask(Identity(), answers.append)
            core.script = on(Command, CommandCompleted(2, Result({"name": "b"})))
            host.ask(Identity(), answers.append)
            assert answers == [CommandCompleted(2, Result({"name": "b"}))]
            core.script = on(TransportAccepted, CommandRejected(1, "no"))
            async with client(endpoint):
                await core.wait_for(TransportAccepted)
            assert answers[1:] == [CommandRejected(1, "no")]

    asyncio.run(story())


def test_host_restart_ends_everything_except_the_listeners():
    async def story():
        disk = Disk()
        core = ScriptedCore(on(QueueManagerStarted, Connect("out-1", Endpoint("127.0.0.1", 1)), Persist(1, {})))
        answers: list[Effect] = []
        core.due = system.read_clocks().monotonic_ms + 60_000
        async with running(core, store=disk) as (host, endpoint), client(endpoint) as (reader, _):
            await core.wait_for(TransportAccepted)
            await disk.begun.wait()
            core.script = on(QueueManagerStarted)
            core.due = None
            host.ask(Identity(), answers.append)
            known = len(core.inputs)
            host.restart()
            disk.may_end.set()
            assert core.begun == [{}, {}]
            assert answers == [CommandRejected(1, "the queue manager was restarted in the meantime")]
            assert host.driver.due is None
            assert await until_closed(reader) == b""
            async with client(endpoint):
                assert (await core.wait_for(TransportAccepted)).transport == "in-2"
            assert (await core.wait_for(TransportLost)).transport == "in-2"
        kinds = [type(event) for event in core.inputs[known:]]
        assert kinds == [QueueManagerStarted, TransportAccepted, TransportLost, QueueManagerStopped]

    asyncio.run(story())


def test_stopped_host_delivers_pending_bytes_and_releases_port():
    async def story():
        core = ScriptedCore(on(QueueManagerStopped, SendPacket("in-1", b"bye")))
        async with running(core) as (host, endpoint), client(endpoint) as (reader, _):
            await core.wait_for(TransportAccepted)
            await host.stop()
            assert await until_closed(reader) == b"bye"
            with socket.create_server(tuple(endpoint)):
                pass
            core.script = on(QueueManagerStopped)

    asyncio.run(story())


def test_host_stop_does_not_wait_for_a_stalled_peer(monkeypatch):
    monkeypatch.setattr(connection, "CLOSE_FLUSH_TIMEOUT_S", PATIENCE_S)

    async def story():
        core = ScriptedCore(on(TransportAccepted, SendPacket("in-1", b"x" * (16 * MIB))))
        async with running(core) as (host, endpoint):
            with socket.create_connection(endpoint):
                await core.wait_for(TransportAccepted)
                began_ms = system.read_clocks().monotonic_ms
                core.due = began_ms + 50
                await host.stop()
                assert system.read_clocks().monotonic_ms - began_ms < connection.CLOSE_FLUSH_TIMEOUT_S * 1000
                assert not host._connections
                assert not core.expired
                core.due = None

    asyncio.run(story())


def test_connection_accepted_during_stop_is_closed():
    async def story():
        core = ScriptedCore()
        async with running(core) as (host, _):
            accepting = host._accept_connection()
            await host.stop()
            core.inputs.clear()
            with socket.create_server(("127.0.0.1", 0)) as there:
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: accepting, *there.getsockname())
                with there.accept()[0] as peer:
                    peer.setblocking(False)
                    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                        assert await loop.sock_recv(peer, 1) == b""
            assert not core.inputs

    asyncio.run(story())
