"""The two sockets of the host for pings. Spec: MS-MQQB 2.1.2."""

from __future__ import annotations

import asyncio
import socket

from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, client, on, running

from reference_qm.shell.host import Host, HostLimits
from reference_qm.surface.commands import Identity
from reference_qm.surface.effects import SendDatagram
from reference_qm.surface.inputs import (
    Command,
    DatagramReceived,
    Endpoint,
    PingSocket,
    QueueManagerStarted,
    TransportAccepted,
)
from reference_qm.surface.store import MemoryStore


def test_ping_request_is_answered_from_its_destination_port():
    async def story():
        core = ScriptedCore(
            lambda event: (
                [SendDatagram(event.socket, event.remote, event.data[::-1])]
                if isinstance(event, DatagramReceived)
                else []
            )
        )
        host = Host(core.begin, "127.0.0.1", MemoryStore(), HostLimits())
        ping = host.bind_ping(0)
        await host.start()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.bind(("127.0.0.1", 0))
            asker.setblocking(False)
            asker.sendto(b"abc", ping)
            received = await core.wait_for(DatagramReceived)
            assert received == DatagramReceived(PingSocket.LISTENER, Endpoint(*asker.getsockname()), b"abc")
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                answer, sender = await asyncio.get_running_loop().sock_recvfrom(asker, 100)
            assert (answer, sender) == (b"cba", ping)
        await host.stop()

    asyncio.run(story())


def test_ping_requests_use_a_separate_port_that_gets_their_responses():
    async def story():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as acceptor:
            acceptor.bind(("127.0.0.1", 0))
            acceptor.setblocking(False)
            there = Endpoint(*acceptor.getsockname())
            core = ScriptedCore(on(QueueManagerStarted, SendDatagram(PingSocket.SOURCE, there, b"request")))
            async with running(core) as (_, endpoint):
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    request, source = await asyncio.get_running_loop().sock_recvfrom(acceptor, 100)
                assert request == b"request"
                assert source[1] != endpoint.port
                acceptor.sendto(b"response", source)
                response = await core.wait_for(DatagramReceived)
            assert response == DatagramReceived(PingSocket.SOURCE, there, b"response")

    asyncio.run(story())


def test_unsendable_datagram_is_dropped_silently():
    async def story():
        core = ScriptedCore(
            on(
                QueueManagerStarted,
                SendDatagram(PingSocket.SOURCE, Endpoint("192.0.2.1", 3527), b"leaves loopback"),
                SendDatagram(PingSocket.SOURCE, Endpoint("127.0.0.1", 1), b"nobody there"),
            )
        )
        async with running(core) as (host, endpoint), client(endpoint):
            await core.wait_for(TransportAccepted)
            core.script = on(Command, SendDatagram(PingSocket.SOURCE, Endpoint("127.0.0.1", 1), b"again"))
            host.ask(Identity(), lambda answer: None)

    asyncio.run(story())
