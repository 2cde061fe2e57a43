"""Measures a server and a remote reader that has one connection and waits for each answer.

``kind``: "qm2qm" receives and acknowledges every message of a queue of the reference. "abandoned" repeatedly opens
a queue, locks its message and resets the connection. "impacket" and "bare" send the same bytes to impacket's own
server and to asyncio streams, which only return as many bytes as a queue manager would. All kinds use the same
client, which sends prepared bytes over a blocking socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Any
from uuid import UUID

from benchmarks.pairs import BODY, Memory, Options, Report, get_instant, wait_until_input_closes
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.rpc import QM2QM, QMCOMM
from reference_qm.rpc.bind_bodies import Bind, PresentationContextElement
from reference_qm.rpc.bodies import Request as Call
from reference_qm.rpc.header import HEADER_SIZE, WHOLE_PDU_FLAGS, Header
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR
from reference_qm.shell.host import Host, HostLimits
from reference_qm.shell.system import SystemEntropy
from reference_qm.surface.commands import SendMessage
from reference_qm.surface.effects import CommandRejected
from reference_qm.surface.store import MemoryStore

ADDRESS = "127.0.0.1"
QUEUE = "private$\\bench"
NAME = f"TCP:{ADDRESS}\\{QUEUE}"
LICENCE = UUID(int=3)
START, END, OPEN = (QM2QM.methods[opnum] for opnum in (0, 1, 2))
OPEN_REMOTE = QMCOMM.methods[2]
QM2QM_CONTEXT, QMCOMM_CONTEXT = 0, 1
RR_ACK = 2
ANSWER_HEADER, HANDLE_BYTES = 24, 20
RESET = struct.pack("ii", 1, 0)
"""The SO_LINGER value that resets a closed connection."""


# -- the server -----------------------------------------------------------------------------------------------


async def receive(options: Options, report: Report) -> None:
    """Serve until the parent process ends this process."""
    await _SERVERS[options.kind](options, report)


async def _serve(options: Options, report: Report) -> None:
    """Run the reference with the messages of the benchmark in its queue."""
    config = QueueManagerConfig(UUID(int=1), queues=(QueueSettings(QUEUE),), addresses=(ADDRESS,))
    host = Host(QueueManagerInstallation(config, SystemEntropy()), ADDRESS, MemoryStore(), HostLimits())
    core = host.core
    assert isinstance(core, QueueManager)
    listening = await host.bind_rpc(0, 0)
    await host.start()
    for _ in range(options.messages if options.kind == "qm2qm" else 1):
        host.ask(SendMessage(f"DIRECT={NAME}", BODY), _raise_rejection)
    report({"port": listening.read.port})
    if options.kind == "abandoned":
        memory = Memory(options.marks)
        while (gone := host.rpc.accepted - len(host.rpc)) < options.messages or len(host.rpc):
            memory.at(gone)
            await asyncio.sleep(0.001)
        memory.at(gone)
        left = len(core.descriptors) + core.remote.associations.server.groups.handle_count
        if left:
            raise RuntimeError(f"{left} handles are left after {gone} sessions")
        report({"instant": get_instant(), "memory": memory.noted})
    await wait_until_input_closes()
    await host.stop()


def _raise_rejection(answer: Any) -> None:
    if isinstance(answer, CommandRejected):
        raise RuntimeError(answer.error)


async def _serve_impacket(options: Options, report: Report) -> None:
    """Run impacket's server, whose methods return their input."""
    from impacket.dcerpc.v5.rpcrt import DCERPCServer  # a dependency of development only

    server = DCERPCServer()
    server.addCallbacks((str(QM2QM.syntax.uuid), "1.0"), "", dict.fromkeys((0, 1), bytes))
    server.daemon = True
    server.start()
    report({"port": server.getListenPort()})
    await wait_until_input_closes()


async def _serve_bare(options: Options, report: Report) -> None:
    """Run an asyncio server that returns all bytes that it receives."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sizes = [len(data) for data in _build_echoes()]
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                for size in sizes:
                    writer.write(await reader.readexactly(size))

    server = await asyncio.start_server(serve, ADDRESS, 0)
    report({"port": server.sockets[0].getsockname()[1]})
    await wait_until_input_closes()


_SERVERS = {"qm2qm": _serve, "abandoned": _serve, "impacket": _serve_impacket, "bare": _serve_bare}


# -- the client -------------------------------------------------------------------------------------------------


async def send(options: Options, port: int, report: Report) -> None:
    """Make all round trips of the benchmark: pairs of Receive and EndReceive, or abandoned sessions."""
    memory = Memory(options.marks)
    report({"instant": get_instant()})
    if options.kind == "abandoned":
        for number in range(1, options.messages + 1):
            _abandon(port)
            memory.at(number)
    else:
        with socket.create_connection((ADDRESS, port)) as stream:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _CLIENTS[options.kind](stream, options.messages)
    report({"instant": get_instant(), "memory": memory.noted})
    await wait_until_input_closes()


def _read_all(stream: socket.socket, messages: int) -> None:
    """Receive and acknowledge every message."""
    _bind(stream)
    queue = _open(stream)
    request = bytearray(_start(queue))
    end = bytearray(_request(QM2QM_CONTEXT, 1, bytes(HANDLE_BYTES) + RR_ACK.to_bytes(4, "little")))
    for number in range(messages):
        struct.pack_into("<I", request, 12, 10 + 2 * number)
        stream.sendall(request)
        answer = _answer(stream)
        end[ANSWER_HEADER : ANSWER_HEADER + HANDLE_BYTES] = answer[ANSWER_HEADER : ANSWER_HEADER + HANDLE_BYTES]
        struct.pack_into("<I", end, 12, 11 + 2 * number)
        stream.sendall(end)
        if any(answer[-4:]) or any(_answer(stream)[-4:]):
            raise RuntimeError(f"message {number} was not received")


def _echo_all(stream: socket.socket, messages: int) -> None:
    _bind(stream)
    _swap_all(stream, messages)


def _swap_all(stream: socket.socket, messages: int) -> None:
    """For each message, send as many bytes as the answer of a queue manager has, and receive them back."""
    echoed = _build_echoes()
    for _ in range(messages):
        for data in echoed:
            stream.sendall(data)
            _answer(stream)


_CLIENTS = {"qm2qm": _read_all, "impacket": _echo_all, "bare": _swap_all}


def _abandon(port: int) -> None:
    with socket.create_connection((ADDRESS, port)) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        _bind(stream)
        stream.sendall(_start(_open(stream)))
        if any(_answer(stream)[-4:]):
            raise RuntimeError("the message is missing: an earlier session did not return it")


def _bind(stream: socket.socket) -> None:
    proposals = tuple(
        PresentationContextElement(place, one.syntax, (NDR,)) for place, one in enumerate((QM2QM, QMCOMM))
    )
    stream.sendall(Pdu(Bind(5840, 5840, 0, proposals), 1, WHOLE_PDU_FLAGS).build())
    _answer(stream)


def _open(stream: socket.socket) -> int:
    """Open the queue, and return its handle."""
    name = {"m_qft": 3, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": NAME}
    access = {"dwCallingProcessID": 0, "dwDesiredAccess": 1, "dwShareMode": 0, "pLicGuid": LICENCE, "dwMQS": 0}
    asked = OPEN_REMOTE.build_in_parameters({"pQueueFormat": name, **access}, StubEncoding())
    stream.sendall(_request(QMCOMM_CONTEXT, 2, asked, call_id=2))
    queue = int.from_bytes(_answer(stream)[-8:-4], "little")
    opening = {"pLicGuid": LICENCE, "dwMQS": 0, "hQueue": queue, "pQueue": queue, "dwpContext": queue}
    stream.sendall(_request(QM2QM_CONTEXT, 2, OPEN.build_in_parameters(opening, StubEncoding()), call_id=3))
    if any(_answer(stream)[-4:]):
        raise RuntimeError(f"queue {queue} cannot be opened")
    return queue


def _desc(queue: int, buffer: bytes | None = None) -> dict[str, Any]:
    numbers = dict.fromkeys(("hCursor", "ulAction", "ulTimeout", "Reserved", "dwArriveTime", "eAckNack"), 0)
    size = 0 if buffer is None else len(buffer)
    return {**numbers, "hRemoteQueue": queue, "dwQueue": queue, "dwRequestID": 1, "dwSize": size, "lpBuffer": buffer}


def _start(queue: int) -> bytes:
    return _request(
        QM2QM_CONTEXT, 0, START.build_in_parameters({"lpRemoteReadDesc": _desc(queue)}, StubEncoding()), call_id=4
    )


def _build_echoes() -> list[bytes]:
    """Return requests as large as the answers of a queue manager."""
    answer = {"pphContext": LICENCE, "lpRemoteReadDesc": _desc(1, bytes(184) + BODY), "Return": 0}
    ended = {"pphContext": None, "Return": 0}
    stubs = START.build_out_parameters(answer, StubEncoding(), {}), END.build_out_parameters(ended, StubEncoding(), {})
    return [_request(QM2QM_CONTEXT, opnum, stub) for opnum, stub in enumerate(stubs)]


def _request(context: int, opnum: int, stub: bytes, call_id: int = 1) -> bytes:
    return Pdu(Call(context, opnum, stub), call_id).build()


def _answer(stream: socket.socket) -> bytes:
    """Receive a complete PDU from the server, and return it."""
    data = stream.recv(65_536)
    while len(data) < HEADER_SIZE or len(data) < Header.parse(data[:HEADER_SIZE]).frag_length:
        more = stream.recv(65_536)
        if not more:
            raise RuntimeError("the server closed the connection")
        data += more
    return data
