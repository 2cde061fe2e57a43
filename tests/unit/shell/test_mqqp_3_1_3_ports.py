"""MS-MQQP 3.1.3, 3.1.4.8: the host's ports of DCE/RPC, their connections, and the resulting inputs of the core."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, client, lives

from reference_qm.shell.host import Host, HostLimits
from reference_qm.shell.rpc_server import PORT_SEARCH_STEP
from reference_qm.surface.driver import CoreFactory
from reference_qm.surface.effects import CloseRpcConnection, Effect, SendRpcBytes
from reference_qm.surface.inputs import (
    Endpoint,
    Input,
    QueueManagerStarted,
    QueueManagerStopped,
    RpcAccepted,
    RpcBytesReceived,
    RpcConnectionLost,
    RpcListening,
)
from reference_qm.surface.store import MemoryStore


@contextlib.asynccontextmanager
async def serving(core: ScriptedCore | CoreFactory, port: int = 0) -> AsyncIterator[tuple[Host, RpcListening]]:
    host = Host(core.begin if isinstance(core, ScriptedCore) else core, "127.0.0.1", MemoryStore(), HostLimits())
    listening = await host.bind_rpc(port, 0)
    await host.start()
    try:
        yield host, listening
    finally:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            await host.stop()


def echo(event: Input) -> list[Effect]:
    if not isinstance(event, RpcBytesReceived):
        return []
    answer: list[Effect] = [SendRpcBytes(event.connection, event.data)]
    return answer if event.data != b"bye" else [*answer, CloseRpcConnection(event.connection, "done")]


def test_core_gets_rpc_ports_before_start_and_after_reset():
    async def story():
        core, anew = ScriptedCore(), ScriptedCore()
        async with serving(lives(core, anew)) as (host, listening):
            assert core.inputs == [listening, QueueManagerStarted()]
            assert listening.handshake.port != listening.read.port
            host.reset()
            assert anew.inputs == [listening, QueueManagerStarted()]

    asyncio.run(story())


def test_rpc_port_in_use_is_skipped_in_steps_of_eleven():
    async def story():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            async with serving(ScriptedCore(), port) as (_, listening):
                assert listening.handshake.port > port
                assert (listening.handshake.port - port) % PORT_SEARCH_STEP == 0

    asyncio.run(story())


def test_core_gets_connections_with_addresses_and_bytes_from_both_rpc_ports():
    async def story():
        core = ScriptedCore(echo)
        async with serving(core) as (_, listening):
            for number, endpoint in enumerate((listening.handshake, listening.read), 1):
                async with client(endpoint) as (reader, writer):
                    accepted = await core.wait_for(RpcAccepted)
                    here = Endpoint(*writer.get_extra_info("sockname"))
                    assert accepted == RpcAccepted(f"rpc-{number}", here, endpoint)
                    writer.write(b"hello")
                    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                        assert await reader.readexactly(5) == b"hello"
                assert await core.wait_for(RpcConnectionLost) == RpcConnectionLost(f"rpc-{number}", "closed")
        assert core.inputs[-1] == QueueManagerStopped()

    asyncio.run(story())


def test_rpc_connection_closed_by_core_is_flushed_and_reports_no_loss():
    async def story():
        core = ScriptedCore(echo)
        async with serving(core) as (host, listening), client(listening.read) as (reader, writer):
            writer.write(b"bye")
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                assert await reader.read() == b"bye"
            assert len(host.rpc) == 0
        assert not [event for event in core.inputs if isinstance(event, RpcConnectionLost)]

    asyncio.run(story())


def test_restart_drops_rpc_connections_silently_and_keeps_ports():
    async def story():
        core = ScriptedCore(echo)
        async with serving(core) as (host, listening):
            async with client(listening.read) as (reader, _):
                await core.wait_for(RpcAccepted)
                host.restart()
                with contextlib.suppress(ConnectionResetError):
                    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                        assert await reader.read() == b""
            async with client(listening.read):
                assert (await core.wait_for(RpcAccepted)).connection == "rpc-2"
        assert not [event for event in core.inputs if event == RpcConnectionLost("rpc-1", "closed")]

    asyncio.run(story())
