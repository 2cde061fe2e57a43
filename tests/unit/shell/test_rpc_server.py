"""The asyncio shell of DCE/RPC: connections, limits and how connections end, with a dispatcher that the test
determines.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterable

from rpc_desk import RpcDesk
from shell_fakes import RESPONSE_TIMEOUT_S

from reference_qm.rpc import (
    QM2QM,
    AssociationLimits,
    Call,
    CallOrphaned,
    CallReceived,
    FaultStatus,
    HandleRundown,
    RpcEvent,
    RpcOutput,
    RpcServer,
)
from reference_qm.rpc.bind_bodies import Bind, BindAck, PresentationContextElement
from reference_qm.rpc.bodies import Request, Shutdown
from reference_qm.rpc.header import HEADER_SIZE, WHOLE_PDU_FLAGS, Header, PfcFlags
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Endpoint

BIND = Pdu(
    Bind(5840, 5840, 0, (PresentationContextElement(0, QM2QM.syntax, (NDR,)),)), 1, WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX
).build()
OPEN_QUEUE = bytes(16) + bytes(4) + b"\1\0\0\0" * 3
"""RemoteQMOpenQueue in NDR."""


class Desk:
    """A dispatcher that answers RemoteQMGetQMQMServerPort and RemoteQMOpenQueue, and leaves all other calls
    unanswered.
    """

    def __init__(self) -> None:
        self.events: list[RpcEvent] = []
        self.news = asyncio.Event()

    def __call__(self, event: RpcEvent) -> Iterable[RpcOutput]:
        self.events.append(event)
        self.news.set()
        if isinstance(event, CallReceived):
            call = event.call
            if call.method.name == "RemoteQMGetQMQMServerPort":
                return call.respond(Return=2105)
            if call.method.name == "RemoteQMOpenQueue":
                return call.respond(Return=0, phContext=call.make_context_handle("queue"))
        return []

    async def wait_for(self, wanted: Callable[[RpcEvent], bool]) -> RpcEvent:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            while True:
                for event in self.events:
                    if wanted(event):
                        return event
                self.news.clear()
                await self.news.wait()


class Caller:
    """A TCP client that sends and receives PDUs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def receive(self) -> Pdu:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            head = await self.reader.readexactly(HEADER_SIZE)
            return Pdu.parse(head + await self.reader.readexactly(Header.parse(head).frag_length - HEADER_SIZE))

    async def ends(self) -> bool:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            try:
                return await self.reader.read(1) == b""
            except ConnectionError:
                return True

    async def bind(self) -> None:
        self.writer.write(BIND)
        assert isinstance((await self.receive()).body, BindAck)

    def request(self, opnum: int, stub: bytes, call_id: int) -> None:
        self.writer.write(Pdu(Request(0, opnum, stub), call_id).build())


@contextlib.asynccontextmanager
async def listening(
    limits: AssociationLimits | None = None, **more: int
) -> AsyncIterator[tuple[RpcDesk, Desk, Endpoint]]:
    desk = Desk()
    listener = RpcDesk(RpcServer([QM2QM], SeededEntropy("shell"), limits), desk, **more)
    endpoint = await listener.start()
    try:
        yield listener, desk, endpoint
    finally:
        async with asyncio.timeout(RESPONSE_TIMEOUT_S):
            await listener.stop()


@contextlib.asynccontextmanager
async def calling(endpoint: Endpoint) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_connection(*endpoint)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def is_call(opnum: int) -> Callable[[RpcEvent], bool]:
    name = QM2QM.methods[opnum].name
    return lambda event: isinstance(event, CallReceived) and event.call.method.name == name


def test_rpc_server_listens_on_loopback_and_returns_port_as_secondary_address() -> None:
    async def run() -> None:
        async with listening() as (_, _, endpoint), calling(endpoint) as caller:
            assert endpoint.host == "127.0.0.1"
            caller.writer.write(BIND)
            ack = (await caller.receive()).body
            assert isinstance(ack, BindAck)
            assert ack.sec_addr == b"%d\0" % endpoint.port

    asyncio.run(run())


def test_waiting_rpc_call_is_answered_after_later_calls() -> None:
    async def run() -> None:
        async with listening() as (listener, desk, endpoint), calling(endpoint) as caller:
            await caller.bind()
            caller.request(8, b"", 1)
            caller.request(7, b"\1\0\0\0", 2)
            assert (await caller.receive()).call_id == 2
            waiting = await desk.wait_for(is_call(8))
            assert isinstance(waiting, CallReceived)
            listener.perform(waiting.call.respond(pMajor=6, pMinor=1, pBuildNumber=1))
            assert (await caller.receive()).call_id == 1

    asyncio.run(run())


def test_vanished_rpc_client_orphans_its_call_and_runs_down_its_handles() -> None:
    async def run() -> None:
        async with listening() as (listener, desk, endpoint):
            async with calling(endpoint) as caller:
                await caller.bind()
                caller.request(2, OPEN_QUEUE, 1)
                await caller.receive()
                caller.request(8, b"", 2)
                await desk.wait_for(is_call(8))
                caller.writer.transport.abort()
            await desk.wait_for(lambda event: isinstance(event, HandleRundown))
            assert [type(event) for event in desk.events[-2:]] == [CallOrphaned, HandleRundown]
            assert (len(listener.listener), len(listener.associations), listener.server.groups.handle_count) == (
                0,
                0,
                0,
            )

    asyncio.run(run())


def test_rpc_client_that_violates_the_protocol_gets_a_fault_and_is_disconnected() -> None:
    async def run() -> None:
        async with listening() as (_, _, endpoint), calling(endpoint) as caller:
            caller.request(7, b"\1\0\0\0", 1)
            assert (await caller.receive()).body.status == FaultStatus.NCA_S_PROTO_ERROR
            assert await caller.ends()

    asyncio.run(run())


def test_rpc_client_above_the_limit_is_disconnected_and_others_are_served() -> None:
    async def run() -> None:
        async with listening(connections=1) as (_, _, endpoint), calling(endpoint) as first:
            await first.bind()
            async with calling(endpoint) as second:
                assert await second.ends()
            first.request(7, b"\1\0\0\0", 1)
            assert (await first.receive()).call_id == 1

    asyncio.run(run())


def test_rpc_client_with_unfinished_bind_is_disconnected() -> None:
    async def run() -> None:
        async with listening(AssociationLimits(response_timeout_ms=1)) as (_, _, endpoint), calling(endpoint) as caller:
            caller.writer.write(BIND[:20])
            assert await caller.ends()

    asyncio.run(run())


def test_rpc_client_that_does_not_read_is_disconnected_at_the_buffer_limit() -> None:
    async def run() -> None:
        async with listening(unsent_bytes=1_000_000) as (listener, desk, endpoint), calling(endpoint) as caller:
            await caller.bind()
            described = dict.fromkeys(QM2QM.methods[0].parameters[1].type.fields, 0)
            caller.request(0, bytes(44), 1)
            waiting = await desk.wait_for(is_call(0))
            assert isinstance(waiting, CallReceived)
            described |= {"dwSize": 4_000_000, "lpBuffer": bytes(4_000_000)}
            listener.perform(waiting.call.respond(Return=0, lpRemoteReadDesc=described))
            assert await caller.ends()

    asyncio.run(run())


def test_requests_of_stalled_rpc_client_wait_until_it_reads() -> None:
    """When the answers exceed the limit of unsent bytes, further requests wait until the client reads; then all
    requests are answered in order.
    """
    size, calls = 400_000, 100

    async def run() -> None:
        async with listening(unsent_bytes=5_000_000) as (listener, _, endpoint), calling(endpoint) as caller:
            listener.dispatcher = answering(size)
            await caller.bind()
            for call_id in range(1, calls + 1):
                caller.request(0, bytes(44), call_id)
            await caller.writer.drain()
            answered = []
            while len(answered) < calls:
                pdu = await caller.receive()
                if pdu.pfc_flags & PfcFlags.LAST_FRAG:
                    answered.append(pdu.call_id)
            assert answered == list(range(1, calls + 1))

    asyncio.run(run())


def answering(size: int) -> Callable[[RpcEvent], Iterable[RpcOutput]]:
    """Return a dispatcher that answers every RemoteQMStartReceive with a message of the given size."""

    def dispatch(event: RpcEvent) -> Iterable[RpcOutput]:
        if not isinstance(event, CallReceived):
            return []
        found = {**event.call.arguments["lpRemoteReadDesc"], "dwSize": size, "lpBuffer": bytes(size)}
        return event.call.respond(Return=0, lpRemoteReadDesc=found)

    return dispatch


def test_idle_rpc_client_is_probed_by_tcp_keepalive() -> None:
    async def run() -> None:
        async with listening() as (listener, _, endpoint), calling(endpoint) as caller:
            await caller.bind()
            (connection,) = listener.listener._clients.values()
            assert connection._transport is not None
            held = connection._transport.get_extra_info("socket")
            assert held.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1

    asyncio.run(run())


def test_stopping_rpc_server_requests_shutdown_and_disconnects_busy_clients() -> None:
    async def run() -> None:
        async with listening() as (listener, desk, endpoint), calling(endpoint) as busy:
            await busy.bind()
            busy.request(8, b"", 1)
            call = await desk.wait_for(is_call(8))
            stopping = asyncio.create_task(listener.stop())
            assert (await busy.receive()).body == Shutdown()
            assert await busy.ends()
            await stopping
            assert isinstance(call, CallReceived)
            assert desk.events[-1] == CallOrphaned(call.call)

    asyncio.run(run())


def test_failing_rpc_dispatcher_does_not_stop_the_listener() -> None:
    failed: list[str] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failed.append(str(context["exception"])))
        async with listening() as (listener, _, endpoint):
            good = listener.dispatcher
            listener.dispatcher = _broken
            async with calling(endpoint) as caller:
                await caller.bind()
                caller.request(7, b"\1\0\0\0", 1)
                assert await caller.ends()
            listener.dispatcher = good
            async with calling(endpoint) as caller:
                await caller.bind()
                caller.request(7, b"\1\0\0\0", 1)
                assert (await caller.receive()).call_id == 1

    asyncio.run(run())
    assert failed == ["broken"]


def _broken(event: RpcEvent) -> Iterable[RpcOutput]:
    if isinstance(event, CallReceived):
        raise RuntimeError("broken")
    return []


def test_rpc_calls_name_their_association() -> None:
    async def run() -> None:
        async with listening() as (listener, desk, endpoint), calling(endpoint) as caller:
            await caller.bind()
            caller.request(8, b"", 1)
            event = await desk.wait_for(is_call(8))
            assert isinstance(event, CallReceived)
            call: Call = event.call
            assert (call.association.remote_host, len(listener.associations)) == ("127.0.0.1", 1)
            listener.perform(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
            assert (await caller.receive()).body.status == FaultStatus.NCA_S_FAULT_UNSPEC

    asyncio.run(run())
