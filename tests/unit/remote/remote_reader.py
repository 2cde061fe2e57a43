"""A queue manager that serves DCE/RPC in virtual time, and clients that use the tables of reference_qm.rpc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.rpc import EPT, QM2QM, QMCOMM
from reference_qm.rpc.bind_bodies import Bind, BindAck, PresentationContextElement
from reference_qm.rpc.bodies import Body, CoCancel, Fault, Orphaned, Response
from reference_qm.rpc.bodies import Request as RpcRequest
from reference_qm.rpc.header import HEADER_SIZE, WHOLE_PDU_FLAGS, Header, PfcFlags
from reference_qm.rpc.interfaces.qmcomm_types import CACTRANSFERBUFFERV1
from reference_qm.rpc.ndr import Pointer, StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import PeekMessages, PurgeQueue, Request, Result, SendMessage
from reference_qm.surface.effects import (
    CloseRpcConnection,
    CommandCompleted,
    CommandRejected,
    Effect,
    Persist,
    SendRpcBytes,
)
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    Command,
    Endpoint,
    Input,
    PersistFailed,
    QueueManagerStarted,
    RecordPersisted,
    RpcAccepted,
    RpcBytesReceived,
    RpcConnectionLost,
    RpcListening,
)
from reference_qm.surface.store import MemoryStore

QM_ID = UUID("aaaaaaaa-0000-4000-8000-000000000001")
LICENCE = UUID("00112233-4455-6677-8899-aabbccddeeff")
ADDRESS = "127.0.0.1"
PLAIN = "private$\\plain"
OTHER = "private$\\other"
LISTENING = RpcListening(Endpoint(ADDRESS, 2103), Endpoint(ADDRESS, 2105))
INTERFACES = (QM2QM, QMCOMM, EPT)
CONTEXTS = {
    method.name: (context, opnum, method)
    for context, interface in enumerate(INTERFACES)
    for opnum, method in interface.methods.items()
}

RECEIVE, PEEK, PEEK_NEXT = 0, 0x80000000, 0x80000001
RECEIVE_ACCESS, PEEK_ACCESS = 1, 0x20
DESC = {
    "hRemoteQueue": 0,
    "hCursor": 0,
    "ulAction": RECEIVE,
    "ulTimeout": 0,
    "dwSize": 0,
    "dwQueue": 0,
    "dwRequestID": 1,
    "Reserved": 0,
    "dwArriveTime": 0,
    "eAckNack": 0,
    "lpBuffer": None,
}


ZEROED = {name: None if isinstance(kind, Pointer) else 0 for name, kind in CACTRANSFERBUFFERV1.fields.items()} | {
    "union": {"pAdminQueueFormat": None, "pResponseQueueFormat": None}
}
"""A CACTransferBufferV1 whose fields are all zero."""


def bind(group: int = 0, wide: bool = False) -> bytes:
    """Return a bind PDU for all interfaces."""
    syntax = NDR64 if wide else NDR
    elements = tuple(PresentationContextElement(place, one.syntax, (syntax,)) for place, one in enumerate(INTERFACES))
    return Pdu(Bind(5840, 5840, group, elements), 0, WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX).build()


def request(method_name: str, call_id: int = 1, wide: bool = False, **arguments: Any) -> bytes:
    """Return a request PDU in one fragment."""
    context, opnum, method = CONTEXTS[method_name]
    return Pdu(RpcRequest(context, opnum, method.build_in_parameters(arguments, StubEncoding(wide))), call_id).build()


class Faulted(Exception):
    """An exception: the server answered a call with a fault."""

    def __init__(self, status: int) -> None:
        super().__init__(f"{status:#010x}")
        self.status = status


class Server:
    """A core with its disk, its clock, and its recorded outputs."""

    def __init__(self, *queues: QueueSettings, seed: str = "remote") -> None:
        config = QueueManagerConfig(QM_ID, queues=(QueueSettings(PLAIN), QueueSettings(OTHER), *queues))
        self.installation = QueueManagerInstallation(config, SeededEntropy(seed))
        self.disk = MemoryStore()
        self.now = Now(1_000_000, 1_800_000_000)
        self.slow_disk = False
        self.unwritten: list[Persist] = []
        self.answers: dict[int, Result | str] = {}
        self.readers: dict[str, Reader] = {}
        self._token = 0
        self._connections = 0
        self.restart()

    def handle(self, event: Input) -> None:
        self.perform(self.core.handle(event, self.now))

    def perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, SendRpcBytes):
                self.readers[effect.connection].take(effect.data)
            elif isinstance(effect, CloseRpcConnection):
                self.readers.pop(effect.connection).closed = effect.reason
            elif isinstance(effect, CommandCompleted):
                self.answers[effect.token] = effect.result
            elif isinstance(effect, CommandRejected):
                self.answers[effect.token] = effect.error
            elif isinstance(effect, Persist):
                self.unwritten.append(effect)
        if not self.slow_disk:
            self.write()

    def write(self, error: str | None = None) -> None:
        """Let the disk carry out the pending writes, or refuse them with an error."""
        unwritten, self.unwritten = self.unwritten, []
        for effect in unwritten:
            if error is None:
                self.disk.write_at_once([effect.record])
            self.handle(RecordPersisted(effect.token) if error is None else PersistFailed(effect.token, error))

    def wait(self, ms: int) -> None:
        """Advance the time from timer to timer until the given time has passed."""
        end = self.now.monotonic_ms + ms
        while (due := self.core.next_due()) is not None and due <= end:
            self._set(due)
            self.perform(self.core.handle_timer(self.now))
        self._set(end)

    def _set(self, monotonic_ms: int) -> None:
        self.now = Now(monotonic_ms, 1_800_000_000 + (monotonic_ms - 1_000_000) // 1000)

    def ask(self, request: Request) -> Any:
        self._token += 1
        self.handle(Command(self._token, request))
        answer = self.answers.pop(self._token)
        assert isinstance(answer, Result), answer
        return answer.values

    def send(self, body: bytes, queue: str = PLAIN, **more: Any) -> str:
        """Put a message into a queue; return its message id."""
        return self.ask(SendMessage(to=f"DIRECT=TCP:{ADDRESS}\\{queue}", body=body, **more))["message_id"]

    def send_away(self, direct: str) -> None:
        """Send a message to another queue manager, which does not receive it."""
        self.ask(SendMessage(to=f"DIRECT={direct}", body=b"away"))

    def bodies(self, queue: str = PLAIN) -> list[str]:
        """Return the bodies of the messages that can be received, in order."""
        return [one["body"] for one in self.ask(PeekMessages(queue))["messages"]]

    def purge(self, queue: str = PLAIN) -> None:
        self.ask(PurgeQueue(queue))

    def connect(self, remote: str = "192.0.2.7", wide: bool = False, group: int = 0) -> Reader:
        self._connections += 1
        name = f"rpc-{self._connections}"
        reader = self.readers[name] = Reader(self, name, wide)
        self.handle(RpcAccepted(name, Endpoint(remote, 40_000 + self._connections % 20_000), LISTENING.read))
        reader.bind(group)
        return reader

    def restart(self) -> None:
        core = self.installation(self.disk.read())
        assert isinstance(core, QueueManager)
        self.core = core
        self.readers.clear()
        self.unwritten.clear()
        self.handle(LISTENING)
        self.handle(QueueManagerStarted())


@dataclass
class Opened:
    """A queue that is open for remote reading: the value of phQueue, and the two context handles."""

    handle: int
    context: UUID
    session: UUID | None = None


@dataclass
class Reader:
    """A client with one connection, on which all interfaces are bound."""

    server: Server
    connection: str
    wide: bool = False
    closed: str | None = None
    group: int = 0
    pdus: list[Pdu] = field(default_factory=list)
    calls: dict[int, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    _call_id: int = 0

    @property
    def encoding(self) -> StubEncoding:
        return StubEncoding(self.wide)

    def take(self, data: bytes) -> None:
        while data:
            size = Header.parse(data[:HEADER_SIZE]).frag_length
            self.pdus.append(Pdu.parse(data[:size]))
            data = data[size:]

    def feed(self, data: bytes) -> None:
        self.server.handle(RpcBytesReceived(self.connection, data))

    def pdu(self, body: Body, call_id: int, flags: int = WHOLE_PDU_FLAGS) -> None:
        self.feed(Pdu(body, call_id, flags).build())

    def bind(self, group: int = 0) -> None:
        self.feed(bind(group, self.wide))
        ack = self.pdus.pop().body
        assert isinstance(ack, BindAck)
        self.group = ack.assoc_group_id

    def begin(self, name: str, **arguments: Any) -> int:
        """Call a method; return the call id."""
        self._call_id += 1
        self.calls[self._call_id] = (CONTEXTS[name][2], arguments)
        self.feed(request(name, self._call_id, self.wide, **arguments))
        return self._call_id

    def begin_pieces(self, name: str, between: Callable[[], None], **arguments: Any) -> int:
        """Call a method, and send the request in pieces of one byte; return the call id."""
        self._call_id += 1
        self.calls[self._call_id] = (CONTEXTS[name][2], arguments)
        for octet in request(name, self._call_id, self.wide, **arguments):
            self.feed(bytes([octet]))
            between()
        return self._call_id

    def begin_stub(self, name: str, stub: bytes) -> int:
        """Call a method with arbitrary bytes as its stub; return the call id."""
        context, opnum, method = CONTEXTS[name]
        self._call_id += 1
        self.calls[self._call_id] = (method, {})
        self.pdu(RpcRequest(context, opnum, stub), self._call_id)
        return self._call_id

    def answer(self, call_id: int) -> dict[str, Any] | None:
        """Return the results of a call, or None if the call is unanswered. Raises `Faulted`."""
        mine = [pdu for pdu in self.pdus if pdu.call_id == call_id]
        if not mine:
            return None
        self.pdus = [pdu for pdu in self.pdus if pdu.call_id != call_id]
        method, arguments = self.calls.pop(call_id)
        if isinstance(mine[0].body, Fault):
            raise Faulted(mine[0].body.status)
        bodies = [pdu.body for pdu in mine]
        stub = b"".join(body.stub for body in bodies if isinstance(body, Response))
        return method.read_out_parameters(stub, self.encoding, arguments)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a method that is answered at once; return the results."""
        results = self.answer(self.begin(name, **arguments))
        assert results is not None, f"{name} is not answered"
        return results

    def cancel(self, call_id: int) -> None:
        self.pdu(CoCancel(), call_id)

    def orphan(self, call_id: int) -> None:
        self.pdu(Orphaned(), call_id)

    def vanish(self) -> None:
        """Lose the connection."""
        del self.server.readers[self.connection]
        self.server.handle(RpcConnectionLost(self.connection, "gone"))

    def open_cursor(self, handle: int) -> dict[str, Any]:
        """Call R_QMCreateRemoteCursor, with a zeroed structure as Windows sends it."""
        return self.call("R_QMCreateRemoteCursor", ptb1=ZEROED, hQueue=handle)

    # -- what clients do ----------------------------------------------------------------------------------------

    def open_remote(self, queue: str = PLAIN, access: int = RECEIVE_ACCESS, share: int = 0) -> dict[str, Any]:
        """Call R_QMOpenRemoteQueue by a direct format name."""
        name = {"m_qft": 3, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": f"TCP:{ADDRESS}\\{queue}"}
        return self.open_format(name, access, share)

    def open_format(self, name: dict[str, Any] | None, access: int = RECEIVE_ACCESS, share: int = 0) -> dict[str, Any]:
        """Call R_QMOpenRemoteQueue by a QUEUE_FORMAT."""
        return self.call(
            "R_QMOpenRemoteQueue",
            pQueueFormat=name,
            dwCallingProcessID=0,
            dwDesiredAccess=access,
            dwShareMode=share,
            pLicGuid=LICENCE,
            dwMQS=0,
        )

    def open_queue(self, handle: int, p_queue: int | None = None) -> dict[str, Any]:
        """Call RemoteQMOpenQueue."""
        p_queue = handle if p_queue is None else p_queue
        return self.call(
            "RemoteQMOpenQueue", pLicGuid=LICENCE, dwMQS=0, hQueue=handle, pQueue=p_queue, dwpContext=handle
        )

    def open(self, queue: str = PLAIN, access: int = RECEIVE_ACCESS) -> Opened:
        """Open a queue with R_QMOpenRemoteQueue and RemoteQMOpenQueue, as clients do."""
        opened = self.open_remote(queue, access)
        assert opened["Return"] == 0, hex(opened["Return"])
        session = self.open_queue(opened["phQueue"])
        assert session["Return"] == 0
        return Opened(opened["phQueue"], opened["pphContext"], session["phContext"])

    def desc(self, **change: Any) -> dict[str, Any]:
        """Return a REMOTEREADDESC."""
        return {**DESC, **change}

    def begin_read(self, handle: int, method: str = "RemoteQMStartReceive", **change: Any) -> int:
        """Begin a read; return the call id. ``change``: fields of REMOTEREADDESC, and LookupId."""
        lookup = {"LookupId": change.pop("LookupId")} if "LookupId" in change else {}
        desc = self.desc(**{"hRemoteQueue": handle, "dwQueue": handle, **change})
        if method == "RemoteQMStartReceive":
            return self.begin(method, lpRemoteReadDesc=desc)
        return self.begin(method, lpRemoteReadDesc2={"pRemoteReadDesc": desc, "SequentialId": 0}, **lookup)

    def read(self, handle: int, method: str = "RemoteQMStartReceive", **change: Any) -> dict[str, Any]:
        """Make a read that is answered at once; return the results."""
        results = self.answer(self.begin_read(handle, method, **change))
        assert results is not None, "the read waits"
        return results

    def end(self, context: UUID | None, ack: int) -> int:
        """Call RemoteQMEndReceive; return its status."""
        results = self.call("RemoteQMEndReceive", pphContext=context, dwAck=ack)
        assert results["pphContext"] is None
        return int(results["Return"])
