"""The streams of the host: they are reported from beginning to end, are limited, and start from the host's
own address.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
from shell_fakes import MIB, RESPONSE_TIMEOUT_S, ScriptedCore, client, on, running, until_closed

from reference_qm.shell import connection
from reference_qm.shell.host import HostLimits
from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import CloseTransport, Connect, SendPacket
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    Endpoint,
    QueueManagerStarted,
    QueueManagerStopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)


def test_accepted_stream_reports_opening_bytes_and_close():
    async def story():
        core = ScriptedCore()
        async with running(core) as (_, endpoint):
            async with client(endpoint) as (_, writer):
                accepted = await core.wait_for(TransportAccepted)
                assert accepted.transport == "in-1"
                assert accepted.local == endpoint
                assert accepted.remote == Endpoint(*writer.get_extra_info("sockname"))
                writer.write(b"hello")
                assert await core.wait_for(BytesReceived) == BytesReceived("in-1", b"hello")
            assert await core.wait_for(TransportLost) == TransportLost("in-1", "closed by the remote side")
        assert core.inputs[0] == QueueManagerStarted()
        assert core.inputs[-1] == QueueManagerStopped()

    asyncio.run(story())


def test_host_carries_out_effects_in_order_and_flushes_before_close():
    async def story():
        large = b"x" * (8 * MIB)  # more than the kernel takes at once
        core = ScriptedCore(
            on(
                BytesReceived,
                SendPacket("in-1", b"first"),
                SendPacket("in-1", large),
                CloseTransport("in-1", "done"),
                SendPacket("in-1", b"too late"),
            )
        )
        async with running(core) as (_, endpoint), client(endpoint) as (reader, writer):
            writer.write(b"go")
            assert await until_closed(reader) == b"first" + large
        assert not [event for event in core.inputs if isinstance(event, TransportLost)]

    asyncio.run(story())


def test_outgoing_connection_uses_the_own_address():
    async def story():
        with socket.create_server(("127.0.0.1", 0)) as there:
            remote = Endpoint(*there.getsockname())
            core = ScriptedCore(on(QueueManagerStarted, Connect("out-1", remote)))
            async with running(core, address="127.0.0.2"):
                connected = await core.wait_for(TransportConnected)
                with there.accept()[0] as accepted:
                    assert accepted.getpeername() == connected.local
        assert (connected.transport, connected.remote, connected.local.host) == ("out-1", remote, "127.0.0.2")

    asyncio.run(story())


def test_failed_connection_attempt_is_reported_with_both_addresses():
    async def story():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            closed = Endpoint(*taken.getsockname())
        core = ScriptedCore(on(QueueManagerStarted, Connect("out-1", closed)))
        async with running(core):
            failed = await core.wait_for(TransportFailed)
        assert failed.transport == "out-1"
        assert failed.error == f"cannot connect from 127.0.0.1 to 127.0.0.1:{closed.port}: Connection refused"

    asyncio.run(story())


def test_loopback_address_connects_only_to_this_machine():
    async def story():
        core = ScriptedCore(on(QueueManagerStarted, Connect("out-1", Endpoint("192.0.2.1", 1801))))
        async with running(core):
            failed = await core.wait_for(TransportFailed)
        assert "from 127.0.0.1 to 192.0.2.1:1801" in failed.error

    asyncio.run(story())


def test_connection_closed_while_connecting_gives_no_event():
    async def story():
        core = ScriptedCore()
        async with running(core) as (host, endpoint):
            core.script = on(Command, Connect("out-1", endpoint), CloseTransport("out-1", "changed our mind"))
            host.ask(Identity(), lambda answer: None)
            async with client(endpoint):
                await core.wait_for(TransportAccepted)
        assert not [event for event in core.inputs if isinstance(event, TransportConnected | TransportFailed)]

    asyncio.run(story())


def test_stalled_peer_is_disconnected_and_others_are_served():
    async def story():
        limit = 4 * MIB
        core = ScriptedCore(
            lambda event: [SendPacket(event.transport, b"x" * MIB)] if isinstance(event, BytesReceived) else []
        )
        async with running(core, HostLimits(unsent_bytes=limit)) as (host, endpoint):
            with socket.create_connection(endpoint) as stalled:
                stalled.setblocking(False)
                loop = asyncio.get_running_loop()
                lost = asyncio.create_task(core.wait_for(TransportLost))
                while not lost.done():
                    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                        await loop.sock_sendall(stalled, b"more")
                    assert sum(c._transport.get_write_buffer_size() for c in host._connections) <= limit
                    await asyncio.sleep(0)
                found = await lost
            assert found.transport == "in-1"
            assert "is not reading" in found.reason
            async with client(endpoint) as (reader, writer):
                writer.write(b"me")
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    assert len(await reader.readexactly(MIB)) == MIB

    asyncio.run(story())


def test_all_connections_share_one_limit_of_unsent_bytes():
    async def story():
        core = ScriptedCore(
            lambda event: [SendPacket(event.transport, b"x" * MIB)] if isinstance(event, BytesReceived) else []
        )
        limits = HostLimits(unsent_bytes=100 * MIB, max_unsent_bytes_of_all_connections=12 * MIB)
        async with running(core, limits) as (host, endpoint), contextlib.AsyncExitStack() as stack:
            for _ in range(4):
                _, writer = await stack.enter_async_context(client(endpoint))
                writer.transport.pause_reading()
                await core.wait_for(TransportAccepted)
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                while not (lost := [event for event in core.inputs if isinstance(event, TransportLost)]):
                    for name in list(host._connection_by_name):
                        host.handle(BytesReceived(name, b"more"))
                    assert (
                        sum(each.unsent_bytes for each in host._connections)
                        <= limits.max_unsent_bytes_of_all_connections + 4 * MIB
                    )
                    await asyncio.sleep(0)
            assert "is not reading" in lost[0].reason

    asyncio.run(story())


def test_unread_bytes_of_a_closed_connection_are_released(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "CLOSE_FLUSH_TIMEOUT_S", 0.05)

    async def story():
        core = ScriptedCore(
            on(TransportAccepted, SendPacket("in-1", b"x" * (16 * MIB)), CloseTransport("in-1", "done"))
        )
        async with running(core) as (host, endpoint):
            with socket.create_connection(endpoint):
                await core.wait_for(TransportAccepted)
                assert len(host._connections) == 1
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    await host._all_closed.wait()
                assert not host._connections

    asyncio.run(story())


def test_connections_above_limit_are_closed_without_core_event():
    async def story():
        core = ScriptedCore()
        async with running(core, HostLimits(connections=3)) as (_, endpoint), contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(client(endpoint)) for _ in range(10)]
            ends = [asyncio.create_task(until_closed(reader)) for reader, _ in clients]
            cut: set[asyncio.Task[bytes]] = set()
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                while len(cut) < 7:
                    cut |= (await asyncio.wait(set(ends) - cut, return_when=asyncio.FIRST_COMPLETED))[0]
            assert len([event for event in core.inputs if isinstance(event, TransportAccepted)]) == 3
            for task in ends:
                task.cancel()
            clients[ends.index(next(task for task in ends if task not in cut))][1].close()
            await core.wait_for(TransportLost)
            await stack.enter_async_context(client(endpoint))  # a place is free again
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                assert (await core.wait_for(TransportAccepted)).transport not in ("in-1", "in-2", "in-3")

    asyncio.run(story())
