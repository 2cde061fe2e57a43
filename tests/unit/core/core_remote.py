"""A core that reads remotely, and a server whose answers the test determines; no network is used, and only the test
advances the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any
from uuid import UUID

from reference_qm.codec import BaseHeader, MessagePropertiesHeader, UserHeader, UserMessagePacket
from reference_qm.codec.queue_formats import DirectQueueFormatName
from reference_qm.config import QueueManagerConfig
from reference_qm.core.queue_manager import QueueManager
from reference_qm.rpc import QM2QM, QMCOMM, Association, Call, CallReceived, RpcOutput, RpcServer, SendBytes
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Inspect, Request
from reference_qm.surface.effects import (
    CloseTransport,
    CommandCompleted,
    CommandRejected,
    Connect,
    ResolveHost,
    SendPacket,
)
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    Endpoint,
    HostResolved,
    Input,
    QueueManagerStarted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)
from reference_qm.surface.remote_commands import RemoteOpen

IDENTIFIER = UUID("6d71636f-6e66-4f72-8d00-00000000c11e")
SERVER = "10.0.0.9"
PORT, READ_PORT = 2103, 2105
HANDLE, DESCRIPTOR, CONTEXT = 0x11, 0x22, 0x33
"""The values of phQueue, dwpQueue and pdwContext, which differ because a server may return three different values."""
CURSOR = 0x44
QUEUE = f"DIRECT=TCP:{SERVER}\\private$\\far"

Answer = Callable[[Call], "list[RpcOutput] | None"]


def message(body: bytes = b"far", label: str | None = "a label") -> bytes:
    """Return the bytes of a UserMessage Packet with the given body and label."""
    return UserMessagePacket(
        BaseHeader=BaseHeader(TimeToReachQueue=0xFFFFFFFF),
        UserHeader=UserHeader(
            SourceQueueManager=UUID(int=5),
            QueueManagerAddress=UUID(int=0),
            MessageID=7,
            Flags=UserHeader.flags(DQ=7, MP=1),
            DestinationQueue=DirectQueueFormatName(f"TCP:{SERVER}\\private$\\far"),
        ),
        MessagePropertiesHeader=MessagePropertiesHeader(MessageBody=body, Label=label),
    ).build()


def described(call: Call, buffer: bytes | None, **change: Any) -> dict[str, Any]:
    """Return the REMOTEREADDESC of a call, completed with a message."""
    desc = call.arguments.get("lpRemoteReadDesc") or call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
    return {**desc, "dwSize": len(buffer or b""), "lpBuffer": buffer, "dwArriveTime": 1_700_000_123, **change}


def read(call: Call, buffer: bytes | None = None, status: int = 0) -> list[RpcOutput]:
    """Answer a call of one of the StartReceive methods with a message."""
    desc = described(call, message() if buffer is None and not status else buffer)
    receives = desc["ulAction"] in (0, 0x40000020, 0x40000021, 0x40000022) and not status
    handle = call.make_context_handle("read") if receives else None
    if "lpRemoteReadDesc" in call.arguments:
        return call.respond(pphContext=handle, lpRemoteReadDesc=desc, Return=status)
    desc2 = {"pRemoteReadDesc": desc, "SequentialId": 0x1234}
    return call.respond(pphContext=handle, lpRemoteReadDesc2=desc2, Return=status)


def ok(call: Call) -> list[RpcOutput]:
    return call.respond(Return=0)


def close(call: Call) -> list[RpcOutput]:
    return call.respond(pphContext=None, **({"Return": 0} if call.method.name.startswith("RemoteQM") else {}))


ANSWERS: dict[str, Answer] = {
    "R_QMGetRTQMServerPort": lambda call: call.respond(Return=PORT),
    "R_QMOpenRemoteQueue": lambda call: call.respond(
        pphContext=call.make_context_handle("open"), pdwContext=CONTEXT, dwpQueue=DESCRIPTOR, phQueue=HANDLE, Return=0
    ),
    "R_QMCloseRemoteQueueContext": close,
    "R_QMCreateRemoteCursor": lambda call: call.respond(phCursor=CURSOR, Return=0),
    "RemoteQMGetQMQMServerPort": lambda call: call.respond(Return=READ_PORT),
    "RemoteQmGetVersion": lambda call: call.respond(pMajor=6, pMinor=1, pBuildNumber=7600),
    "RemoteQMOpenQueue": lambda call: call.respond(phContext=call.make_context_handle("session"), Return=0),
    "RemoteQMCloseQueue": close,
    "RemoteQMStartReceive": read,
    "RemoteQMStartReceive2": read,
    "RemoteQMStartReceiveByLookupId": read,
    "RemoteQMEndReceive": close,
    "RemoteQMCancelReceive": ok,
    "RemoteQMCloseCursor": ok,
    "RemoteQMPurgeQueue": ok,
}


def fault(status: int) -> Answer:
    return lambda call: call.fault(status)


def returning(status: int) -> Answer:
    """Return a function that answers a call with a failure HRESULT."""

    def answer(call: Call) -> list[RpcOutput]:
        if "Start" in call.method.name:
            return read(call, b"", status)
        given = {name: None if "Context" in name and name != "pdwContext" else 0 for name in _outs(call)}
        return call.respond(**{**given, "Return": status})

    return answer


def _outs(call: Call) -> list[str]:
    return [one.name for one in call.method.parameters if one.direction.value & 2 and one.name != "Return"]


class Remote:
    """The core, its connections to the server, and the calls on them."""

    def __init__(self, **config: Any) -> None:
        self.now = Now(1_000_000, 1_800_000_000)
        self.core = QueueManager(QueueManagerConfig(identifier=IDENTIFIER, **config), SeededEntropy("remote"))
        self.answers = dict(ANSWERS)
        self.waits: set[str] = set()
        """The methods whose calls the server does not answer."""
        self.names: dict[str, tuple[str, ...]] = {}
        self.unreachable: set[int] = set()
        self.silent: set[int] = set()
        self.connections: dict[str, tuple[int, Association]] = {}
        self.log: list[tuple[int, str, dict[str, Any]]] = []
        """The port, the method and the arguments of each call."""
        self.ports: list[int] = []
        self.closed: list[int] = []
        self.calls: dict[str, list[Call]] = {}
        self.events: list[Any] = []
        self.results: dict[int, CommandCompleted | CommandRejected] = {}
        self._server = RpcServer([QM2QM, QMCOMM], SeededEntropy("server"))
        self._tokens = 0
        self._to_do: deque[Input] = deque()
        self.handle(QueueManagerStarted())

    # -- the core -----------------------------------------------------------------------------------------------

    def handle(self, event: Input) -> None:
        self._carry_out(self.core.handle(event, self.now))
        while self._to_do:
            self._carry_out(self.core.handle(self._to_do.popleft(), self.now))

    def advance(self, ms: int) -> None:
        end = self.now.monotonic_ms + ms
        while (due := self.core.next_due()) is not None and due <= end:
            self.now = Now(due, self.now.utc_s)
            self._carry_out(self.core.handle_timer(self.now))
            while self._to_do:
                self._carry_out(self.core.handle(self._to_do.popleft(), self.now))
        self.now = Now(end, self.now.utc_s)

    def begin(self, request: Request) -> int:
        self._tokens += 1
        self.handle(Command(self._tokens, request))
        return self._tokens

    def ask(self, request: Request) -> dict[str, Any]:
        answer = self.results[self.begin(request)]
        assert isinstance(answer, CommandCompleted), answer
        return answer.result.values

    def refusal(self, request: Request) -> str:
        answer = self.results[self.begin(request)]
        assert isinstance(answer, CommandRejected), answer
        return answer.error

    def error(self, token: int) -> str:
        answer = self.results[token]
        assert isinstance(answer, CommandRejected), answer
        return answer.error

    def open(self, **fields: Any) -> int:
        """Open the queue, and clear the log of calls."""
        number: int = self.ask(RemoteOpen(**{"queue": QUEUE, **fields}))["remote"]
        self.log.clear()
        return number

    def adm(self) -> dict[str, Any]:
        return dict(self.ask(Inspect())["adm"])

    def pending(self) -> list[dict[str, Any]]:
        return list(self.adm()["PendingRemoteReadEntryCollection"])

    # -- the server ---------------------------------------------------------------------------------------------

    @property
    def methods(self) -> list[str]:
        return [method for _, method, _ in self.log]

    def arguments(self, method: str) -> dict[str, Any]:
        """Return the arguments of the only call of a method."""
        (found,) = [arguments for _, name, arguments in self.log if name == method]
        return found

    def answer(self, call: Call, outputs: list[RpcOutput]) -> None:
        """Answer a call that is waiting for its answer."""
        self._happen(call.association, outputs)
        while self._to_do:
            self._carry_out(self.core.handle(self._to_do.popleft(), self.now))

    def lose(self, port: int) -> None:
        """Cut the connection to the given port."""
        (name,) = [name for name, (where, _) in self.connections.items() if where == port]
        del self.connections[name]
        self.handle(TransportLost(name, "reset"))

    def _carry_out(self, effects: list[Any]) -> None:
        for effect in effects:
            match effect:
                case Connect(transport, remote):
                    self._connect(transport, remote)
                case SendPacket(transport, data):
                    _, association = self.connections[transport]
                    self._happen(association, association.receive_bytes(data, self.now))
                case CloseTransport(transport, _):
                    self.closed.append(self.connections.pop(transport, (0, None))[0])
                case ResolveHost(host):
                    self._to_do.append(HostResolved(host, self.names.get(host, ())))
                case CommandCompleted(token) | CommandRejected(token):
                    assert token not in self.results, "a command is answered once"
                    self.results[token] = effect

    def _connect(self, transport: str, remote: Endpoint) -> None:
        assert remote.host == SERVER
        if remote.port in self.unreachable:
            self._to_do.append(TransportFailed(transport, "connection refused"))
            return
        self.ports.append(remote.port)
        association = self._server.accept("10.0.0.1", str(remote.port), self.now)
        self.connections[transport] = (remote.port, association)
        if remote.port not in self.silent:
            self._to_do.append(TransportConnected(transport, remote, Endpoint("10.0.0.1", 50_000)))

    def _happen(self, association: Association, outputs: list[RpcOutput]) -> None:
        name = next((name for name, (_, one) in self.connections.items() if one is association), None)
        for one in outputs:
            if isinstance(one, SendBytes) and name is not None:
                self._to_do.append(BytesReceived(name, one.data))
            elif isinstance(one, CallReceived) and name is not None:
                self._called(self.connections[name][0], one.call)
            else:
                self.events.append(one)

    def _called(self, port: int, call: Call) -> None:
        method = call.method.name
        self.log.append((port, method, call.arguments))
        self.calls.setdefault(method, []).append(call)
        if method not in self.waits:
            self._happen(call.association, self.answers[method](call) or [])
