"""The host: sockets, store and time for a core (design: sans-IO)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Sequence

import pytest
from shell_fakes import RESPONSE_TIMEOUT_S, ScriptedCore, client, running

from reference_qm.shell import connection, system
from reference_qm.shell.host import Host, Limits
from reference_qm.shell.store import Record, StoreError
from reference_qm.surface.commands import Identity, Result
from reference_qm.surface.effects import (
    CloseTransport,
    Completed,
    Connect,
    Effect,
    Persist,
    Rejected,
    ResolveHost,
    SendDatagram,
    SendPacket,
)
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    DatagramReceived,
    Endpoint,
    HostResolved,
    Input,
    Persisted,
    PersistFailed,
    PingSocket,
    Started,
    Stopped,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

MIB = 1024 * 1024


def on(kind: type[Input], *effects: Effect):
    """A script: these effects whenever such an input comes."""
    return lambda event: list(effects) if isinstance(event, kind) else []


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Everything up to the end of a stream; a reset is an end too."""
    with contextlib.suppress(ConnectionResetError):
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            return await reader.read()
    return b""


# -- streams ----------------------------------------------------------------------------------------------------


def test_an_accepted_stream_is_passed_on_from_its_beginning_to_its_end():
    async def story():
        core = ScriptedCore()
        async with running(core) as (_, endpoint):
            async with client(endpoint) as (_, writer):
                accepted = await core.hears(TransportAccepted)
                assert accepted.transport == "in-1"
                assert accepted.local == endpoint
                assert accepted.remote == Endpoint(*writer.get_extra_info("sockname"))
                writer.write(b"hello")
                assert await core.hears(BytesReceived) == BytesReceived("in-1", b"hello")
            assert await core.hears(TransportLost) == TransportLost("in-1", "closed by the remote side")
        assert core.heard[0] == Started()
        assert core.heard[-1] == Stopped()

    asyncio.run(story())


def test_effects_are_carried_out_in_order_and_a_close_sends_what_was_sent_before():
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
        assert not [event for event in core.heard if isinstance(event, TransportLost)]

    asyncio.run(story())


def test_a_connection_is_opened_from_the_own_address():
    async def story():
        with socket.create_server(("127.0.0.1", 0)) as there:
            remote = Endpoint(*there.getsockname())
            core = ScriptedCore(on(Started, Connect("out-1", remote)))
            async with running(core, address="127.0.0.2"):
                connected = await core.hears(TransportConnected)
                with there.accept()[0] as accepted:
                    assert accepted.getpeername() == connected.local
        assert (connected.transport, connected.remote, connected.local.host) == ("out-1", remote, "127.0.0.2")

    asyncio.run(story())


def test_a_connection_that_cannot_be_made_is_reported_with_both_ends():
    async def story():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            closed = Endpoint(*taken.getsockname())
        core = ScriptedCore(on(Started, Connect("out-1", closed)))
        async with running(core):
            failed = await core.hears(TransportFailed)
        assert failed.transport == "out-1"
        assert failed.error == f"cannot connect from 127.0.0.1 to 127.0.0.1:{closed.port}: Connection refused"

    asyncio.run(story())


def test_from_a_loopback_address_nothing_leaves_the_machine():
    async def story():
        core = ScriptedCore(on(Started, Connect("out-1", Endpoint("192.0.2.1", 1801))))
        async with running(core):
            failed = await core.hears(TransportFailed)
        assert "from 127.0.0.1 to 192.0.2.1:1801" in failed.error

    asyncio.run(story())


def test_a_connection_that_is_closed_while_it_is_made_is_never_heard_of():
    async def story():
        core = ScriptedCore()
        async with running(core) as (host, endpoint):
            core.script = on(Command, Connect("out-1", endpoint), CloseTransport("out-1", "changed our mind"))
            host.ask(Identity(), lambda answer: None)
            async with client(endpoint):
                await core.hears(TransportAccepted)
        assert not [event for event in core.heard if isinstance(event, TransportConnected | TransportFailed)]

    asyncio.run(story())


def test_a_peer_that_does_not_read_is_cut_and_others_are_served():
    async def story():
        limit = 4 * MIB
        core = ScriptedCore(
            lambda event: [SendPacket(event.transport, b"x" * MIB)] if isinstance(event, BytesReceived) else []
        )
        async with running(core, Limits(unsent_bytes=limit)) as (host, endpoint):
            with socket.create_connection(endpoint) as stalled:
                stalled.setblocking(False)
                loop = asyncio.get_running_loop()
                lost = asyncio.create_task(core.hears(TransportLost))
                while not lost.done():
                    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                        await loop.sock_sendall(stalled, b"more")
                    assert sum(c._transport.get_write_buffer_size() for c in host._connections) <= limit
                    await asyncio.sleep(0)
                found = await lost
            assert found.transport == "in-1"
            assert "does not read" in found.reason
            async with client(endpoint) as (reader, writer):
                writer.write(b"me")
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    assert len(await reader.readexactly(MIB)) == MIB

    asyncio.run(story())


def test_a_closed_connection_does_not_keep_unread_bytes_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "LINGER_S", 0.05)

    async def story():
        core = ScriptedCore(
            on(TransportAccepted, SendPacket("in-1", b"x" * (16 * MIB)), CloseTransport("in-1", "done"))
        )
        async with running(core) as (host, endpoint):
            with socket.create_connection(endpoint):
                await core.hears(TransportAccepted)
                assert len(host._connections) == 1
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    await host._all_closed.wait()
                assert not host._connections

    asyncio.run(story())


def test_above_the_limit_connections_are_cut_before_the_core_hears_of_them():
    async def story():
        core = ScriptedCore()
        async with running(core, Limits(connections=3)) as (_, endpoint), contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(client(endpoint)) for _ in range(10)]
            ends = [asyncio.create_task(until_closed(reader)) for reader, _ in clients]
            cut: set[asyncio.Task[bytes]] = set()
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                while len(cut) < 7:
                    cut |= (await asyncio.wait(set(ends) - cut, return_when=asyncio.FIRST_COMPLETED))[0]
            assert len([event for event in core.heard if isinstance(event, TransportAccepted)]) == 3
            for task in ends:
                task.cancel()
            clients[ends.index(next(task for task in ends if task not in cut))][1].close()
            await core.hears(TransportLost)
            await stack.enter_async_context(client(endpoint))  # a place is free again
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                assert (await core.hears(TransportAccepted)).transport not in ("in-1", "in-2", "in-3")

    asyncio.run(story())


# -- datagrams --------------------------------------------------------------------------------------------------


def test_a_ping_request_is_answered_from_the_port_that_it_was_sent_to():
    async def story():
        core = ScriptedCore(
            lambda event: (
                [SendDatagram(event.socket, event.remote, event.data[::-1])]
                if isinstance(event, DatagramReceived)
                else []
            )
        )
        host = Host(core, "127.0.0.1", _Disk(), Limits())
        ping = host.bind_ping(0)
        await host.start()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.bind(("127.0.0.1", 0))
            asker.setblocking(False)
            asker.sendto(b"abc", ping)
            received = await core.hears(DatagramReceived)
            assert received == DatagramReceived(PingSocket.LISTENER, Endpoint(*asker.getsockname()), b"abc")
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                answer, sender = await asyncio.get_running_loop().sock_recvfrom(asker, 100)
            assert (answer, sender) == (b"cba", ping)
        await host.stop()

    asyncio.run(story())


def test_ping_requests_leave_from_a_port_of_their_own_and_responses_come_back_to_it():
    async def story():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as acceptor:
            acceptor.bind(("127.0.0.1", 0))
            acceptor.setblocking(False)
            there = Endpoint(*acceptor.getsockname())
            core = ScriptedCore(on(Started, SendDatagram(PingSocket.SOURCE, there, b"request")))
            async with running(core) as (_, endpoint):
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    request, source = await asyncio.get_running_loop().sock_recvfrom(acceptor, 100)
                assert request == b"request"
                assert source[1] != endpoint.port
                acceptor.sendto(b"response", source)
                response = await core.hears(DatagramReceived)
            assert response == DatagramReceived(PingSocket.SOURCE, there, b"response")

    asyncio.run(story())


def test_a_datagram_that_cannot_leave_is_lost_like_any_other():
    async def story():
        core = ScriptedCore(
            on(
                Started,
                SendDatagram(PingSocket.SOURCE, Endpoint("192.0.2.1", 3527), b"leaves loopback"),
                SendDatagram(PingSocket.SOURCE, Endpoint("127.0.0.1", 1), b"nobody there"),
            )
        )
        async with running(core) as (host, endpoint), client(endpoint):
            await core.hears(TransportAccepted)
            core.script = on(Command, SendDatagram(PingSocket.SOURCE, Endpoint("127.0.0.1", 1), b"again"))
            host.ask(Identity(), lambda answer: None)

    asyncio.run(story())


# -- time, names, disk ------------------------------------------------------------------------------------------


def test_a_due_timer_expires_at_its_time_and_not_before():
    async def story():
        core = ScriptedCore()
        due = system.now().monotonic_ms + 30
        core.due = due
        async with running(core):
            async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                await core.timer_ran.wait()
        assert len(core.expired) == 1
        assert core.expired[0].monotonic_ms >= due

    asyncio.run(story())


def test_a_timer_that_is_no_longer_wanted_does_not_expire():
    async def story():
        core = ScriptedCore()
        core.due = system.now().monotonic_ms + 60_000
        async with running(core) as (host, _):
            core.due = None
            host.ask(Identity(), lambda answer: None)
            assert host._timer is None
        assert not core.expired

    asyncio.run(story())


@pytest.mark.parametrize(
    ("host", "addresses"), [("127.0.0.9", ("127.0.0.9",)), ("localhost", ("127.0.0.1",)), ("a" * 64, ())]
)
def test_a_host_name_is_resolved_in_the_family_of_the_own_address(host: str, addresses: tuple[str, ...]):
    async def story():
        core = ScriptedCore(on(Started, ResolveHost(host)))
        async with running(core):
            assert await core.hears(HostResolved) == HostResolved(host, addresses)

    asyncio.run(story())


def test_a_silent_name_server_holds_nothing_up(monkeypatch: pytest.MonkeyPatch):
    begun, silence = threading.Event(), threading.Event()
    asked: list[object] = []

    def never(*args: object, **kwargs: object) -> list[object]:
        asked.append((kwargs, threading.current_thread().daemon))
        begun.set()
        silence.wait(RESPONSE_TIMEOUT_S)
        return []

    async def story():
        core = ScriptedCore(on(Started, ResolveHost("slow.example"), ResolveHost("127.0.0.1")))
        async with running(core):
            assert (await core.hears(HostResolved)).host == "127.0.0.1"

    monkeypatch.setattr(socket, "getaddrinfo", never)
    asyncio.run(story())
    assert begun.wait(RESPONSE_TIMEOUT_S)
    silence.set()
    # A daemon thread does not outlive the process; the family is that of the own address.
    assert asked == [({"family": socket.AF_INET, "type": socket.SOCK_STREAM}, True)]


class _Disk:
    """A store whose writes last until the test lets them end."""

    def __init__(self, error: str | None = None) -> None:
        self.error = error
        self.writes: list[list[Record]] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.closed = False

    async def write(self, records: Sequence[Record]) -> None:
        self.writes.append(list(records))
        self.begun.set()
        await self.may_end.wait()
        if self.error is not None:
            raise StoreError(self.error)

    def close(self) -> None:
        self.closed = True


def test_persisted_is_passed_only_after_the_store_has_written_and_in_order():
    async def story():
        disk = _Disk()
        core = ScriptedCore(on(Started, Persist(1, {"n": 1}), Persist(2, {"n": 2})))
        async with running(core, store=disk) as (host, _):
            await disk.begun.wait()
            core.script = on(Command, Persist(3, {"n": 3}))
            host.ask(Identity(), lambda answer: None)
            assert not [event for event in core.heard if isinstance(event, Persisted)]
            disk.may_end.set()
            assert [(await core.hears(Persisted)).token for _ in range(3)] == [1, 2, 3]
            assert disk.writes == [[{"n": 1}, {"n": 2}], [{"n": 3}]]
        assert disk.closed

    asyncio.run(story())


def test_a_record_that_cannot_be_stored_is_reported():
    async def story():
        disk = _Disk("disk full")
        disk.may_end.set()
        core = ScriptedCore(on(Started, Persist(7, {})))
        async with running(core, store=disk):
            assert await core.hears(PersistFailed) == PersistFailed(7, "disk full")

    asyncio.run(story())


def test_a_record_that_is_not_json_ready_is_refused():
    async def story():
        core = ScriptedCore(on(Started, Persist(7, {"body": b"bytes"})))
        async with running(core):
            assert "not JSON-ready" in (await core.hears(PersistFailed)).error

    asyncio.run(story())


# -- commands and lives -----------------------------------------------------------------------------------------


def test_a_command_is_answered_once_now_or_later():
    async def story():
        core = ScriptedCore()
        answers: list[Effect] = []
        async with running(core) as (host, endpoint):
            host.ask(Identity(), answers.append)
            core.script = on(Command, Completed(2, Result({"name": "b"})))
            host.ask(Identity(), answers.append)
            assert answers == [Completed(2, Result({"name": "b"}))]
            core.script = on(TransportAccepted, Rejected(1, "no"))
            async with client(endpoint):
                await core.hears(TransportAccepted)
            assert answers[1:] == [Rejected(1, "no")]

    asyncio.run(story())


def test_a_restart_ends_everything_but_the_listeners():
    async def story():
        disk = _Disk()
        core = ScriptedCore(on(Started, Connect("out-1", Endpoint("127.0.0.1", 1)), Persist(1, {})))
        answers: list[Effect] = []
        core.due = system.now().monotonic_ms + 60_000
        async with running(core, store=disk) as (host, endpoint), client(endpoint) as (reader, _):
            await core.hears(TransportAccepted)
            await disk.begun.wait()
            core.script = on(Started)
            core.due = None
            host.ask(Identity(), answers.append)
            heard = len(core.heard)
            host.restart()
            disk.may_end.set()
            assert core.restarts == 1
            assert answers == [Rejected(1, "the queue manager was restarted meanwhile")]
            assert host._timer is None
            assert await until_closed(reader) == b""
            async with client(endpoint):
                assert (await core.hears(TransportAccepted)).transport == "in-2"
            assert (await core.hears(TransportLost)).transport == "in-2"
        kinds = [type(event) for event in core.heard[heard:]]
        assert kinds == [Started, TransportAccepted, TransportLost, Stopped]

    asyncio.run(story())


def test_stopping_delivers_what_was_sent_and_gives_the_port_back():
    async def story():
        core = ScriptedCore(on(Stopped, SendPacket("in-1", b"bye")))
        async with running(core) as (host, endpoint), client(endpoint) as (reader, _):
            await core.hears(TransportAccepted)
            await host.stop()
            assert await until_closed(reader) == b"bye"
            with socket.create_server(tuple(endpoint)):
                pass
            core.script = on(Stopped)

    asyncio.run(story())


def test_stopping_does_not_wait_for_a_peer_that_does_not_read():
    async def story():
        core = ScriptedCore(on(TransportAccepted, SendPacket("in-1", b"x" * (16 * MIB))))
        async with running(core) as (host, endpoint):
            with socket.create_connection(endpoint):
                await core.hears(TransportAccepted)
                began_ms = system.now().monotonic_ms
                core.due = began_ms + 50
                await host.stop()
                assert system.now().monotonic_ms - began_ms < connection.LINGER_S * 1000
                assert not host._connections
                assert not core.expired
                core.due = None

    asyncio.run(story())


def test_a_connection_that_was_being_accepted_when_the_stop_came_is_cut():
    async def story():
        core = ScriptedCore()
        async with running(core) as (host, _):
            accepting = host._accept()
            await host.stop()
            core.heard.clear()
            with socket.create_server(("127.0.0.1", 0)) as there:
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: accepting, *there.getsockname())
                with there.accept()[0] as peer:
                    peer.setblocking(False)
                    async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                        assert await loop.sock_recv(peer, 1) == b""
            assert not core.heard

    asyncio.run(story())
