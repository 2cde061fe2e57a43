"""The SUT as a reader of a queue of the peer: the peer serves qmcomm and qm2qm, and the check says what it answers.

The numbers that the peer hands out cannot be mistaken for each other. Spec: MS-MQQP 3.2; MS-MQMP 3.1.4.2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.peer.rpc_server import RpcServer, ServedCall
from harness.sut.releases import LackedByRelease, lacks_method
from harness.sut.sut import Sut
from harness.wire import user_message
from harness.wire.rpc_qm2qm import LOOKUP_RECEIVE_CURRENT, RECEIVE, REMOTEREADDESC, desc2
from harness.wire.rpc_stub import NULL_HANDLE, buffer

FAR = "private$\\mqc-far"
"""The queue of the peer that the SUT reads."""
QUEUE_HANDLE, QUEUE_DESCRIPTOR, OPEN_CONTEXT, CURSOR = 0x1011, 0x2022, 0x3033, 0x4044
"""phQueue, dwpQueue and pdwContext of R_QMOpenRemoteQueue, three values (MS-MQMP note <27>), and phCursor."""
SEQUENTIAL_ID = 0x0011_2233_4455_6677
ARRIVED = 1_700_000_123
WINDOWS_7, WINDOWS_2003, WINDOWS_2000 = (6, 1, 7600), (5, 2, 3790), (5, 0, 2195)
"""Versions that RemoteQmGetVersion returns (notes <22> to <24>)."""
START, START2 = "RemoteQMStartReceive", "RemoteQMStartReceive2"
CANCELED = 0x400E_03E9
"""MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT. Spec: MS-MQQP 3.1.4.6."""
ANSWER_MS = 10_000
SUCCESS, NO_SUCCESS, NO_ANSWER = "success", "no success", "no answer"
BODY, LABEL = b"read from afar", "far"

Answer = Callable[[ServedCall], None]


def context(number: int) -> bytes:
    """Return a context handle as it is in a stub."""
    return bytes(4) + UUID(int=0x6D71_636F << 96 | number).bytes_le


OPEN_HANDLE, SESSION_HANDLE = context(0x0BE7), context(0x5E55)
OTHER_QUEUE, OTHER_SESSION = 0x1077, context(0x5E77)


def message(peer: Peer, body: bytes = BODY) -> bytes:
    """Make a UserMessage Packet that lies in the peer's queue."""
    user = {"SourceQueueManager": peer.identifier, "MessageID": peer.message_id(), "SentTime": ARRIVED - 100}
    destination = f"TCP:{peer.address}\\{FAR}"
    return bytes(user_message(destination=destination, user=user, body=body, label=LABEL))


def description(call: ServedCall) -> Any:
    """Return the REMOTEREADDESC of a request, a scapy packet; ConformanceFailure when it has none."""
    if call.into is None:
        raise ConformanceFailure(f"the stub of {call.name} cannot be read: {call.malformed}")
    if call.name == START:
        return call.into.lpRemoteReadDesc
    behind = call.into.lpRemoteReadDesc2.pRemoteReadDesc
    if behind is None:
        raise ConformanceFailure(f"{call.name} came with pRemoteReadDesc NULL")
    return behind.value


def give(call: ServedCall, data: bytes | None, status: int = 0) -> None:
    """Answer a StartReceive with a message, or with a status."""
    asked = description(call)
    receives = asked.ulAction in (RECEIVE, *range(LOOKUP_RECEIVE_CURRENT, LOOKUP_RECEIVE_CURRENT + 3))
    handle = context(0x4EAD_0000 + asked.dwRequestID) if receives and data else NULL_HANDLE
    names = ("hRemoteQueue", "hCursor", "ulAction", "ulTimeout", "dwQueue", "dwRequestID")
    answer = REMOTEREADDESC(
        **{name: getattr(asked, name) for name in names},
        dwSize=len(data or b""),
        Reserved=1,
        dwArriveTime=ARRIVED if data else 0,
        lpBuffer=buffer(data),
    )
    if call.name == START:
        call.respond(pphContext=handle, lpRemoteReadDesc=answer, Return=status)
    else:
        call.respond(pphContext=handle, lpRemoteReadDesc2=desc2(answer, SEQUENTIAL_ID if data else 0), Return=status)


class Request:
    """A verb that was asked of the SUT, and its answer once it has come."""

    def __init__(self, reader: Reader, number: int) -> None:
        self.reader = reader
        self.number = number
        self._answer: dict[str, Any] | None = None

    @property
    def answered(self) -> bool:
        """Return whether the answer has come."""
        if self._answer is None:
            self._answer = self.reader.sut.control.answer(self.number)
        return self._answer is not None

    def outcome(self) -> str:
        """Wait for the answer; return whether it is a success, ``NO_ANSWER`` when none comes."""
        self.reader.peer.environment.run_until(lambda: self.answered, ANSWER_MS)
        if not self.answered:
            return NO_ANSWER
        return SUCCESS if self.wait().get("ok") else NO_SUCCESS

    def wait(self, within_ms: int = ANSWER_MS) -> dict[str, Any]:
        """Return the answer; ConformanceFailure when none comes."""
        self.reader.peer.environment.run_until(lambda: self.answered, within_ms)
        if self._answer is None:
            raise ConformanceFailure("the SUT's control channel gave no answer")
        return self._answer


class Reader:
    """The peer as the server of one check's remote reads. ``version``: what RemoteQmGetVersion returns."""

    def __init__(self, peer: Peer, sut: Sut, version: tuple[int, int, int] = WINDOWS_7) -> None:
        self.peer = peer
        self.sut = sut
        self.sent: list[bytes] = []
        """The packets that were given to it."""
        self.remotes: list[int] = []
        """What was opened, by the numbers that the SUT's verbs know."""
        self.server = RpcServer(peer, {})
        self.server.answers |= {
            "R_QMGetRTQMServerPort": lambda call: call.respond(Return=self.server.port),
            "R_QMOpenRemoteQueue": lambda call: call.respond(
                pphContext=OPEN_HANDLE, pdwContext=OPEN_CONTEXT, dwpQueue=QUEUE_DESCRIPTOR, phQueue=QUEUE_HANDLE
            ),
            "R_QMCloseRemoteQueueContext": lambda call: call.respond(),
            "R_QMCreateRemoteCursor": lambda call: call.respond(phCursor=CURSOR),
            "RemoteQMGetQMQMServerPort": lambda call: call.respond(Return=self.server.read_port),
            "RemoteQMOpenQueue": lambda call: call.respond(phContext=SESSION_HANDLE),
            "RemoteQMCloseQueue": lambda call: call.respond(),
            "RemoteQMEndReceive": lambda call: call.respond(),
            "RemoteQMCancelReceive": self.end_read,
            "RemoteQMCloseCursor": lambda call: call.respond(),
            "RemoteQMPurgeQueue": lambda call: call.respond(),
            START: self.give,
            START2: self.give,
            "RemoteQMStartReceiveByLookupId": self.give,
        }
        self.set_version(*version)

    # -- the peer ---------------------------------------------------------------------------------------------

    def open_as_another(self) -> None:
        """Give the next queues that are opened handles of their own."""
        self.server.answers |= {
            "R_QMOpenRemoteQueue": lambda call: call.respond(
                pphContext=context(2), pdwContext=OTHER_QUEUE, dwpQueue=OTHER_QUEUE, phQueue=OTHER_QUEUE
            ),
            "RemoteQMOpenQueue": lambda call: call.respond(phContext=OTHER_SESSION),
        }

    def set_version(self, major: int, minor: int, build: int) -> None:
        """Let RemoteQmGetVersion return this version."""
        self.server.answers["RemoteQmGetVersion"] = lambda call: call.respond(
            pMajor=major, pMinor=minor, pBuildNumber=build
        )

    def give(self, call: ServedCall) -> None:
        """Answer a StartReceive with a new message."""
        self.sent.append(message(self.peer))
        give(call, self.sent[-1])

    def end_read(self, call: ServedCall) -> None:
        """Answer RemoteQMCancelReceive, and the read that it cancels, if that waits. Spec: MS-MQQP 3.1.4.6."""
        call.respond()
        for read in self.reads():
            if not read.answered and description(read).dwRequestID == call.into.dwRequestID:
                give(read, None, CANCELED)

    def let_reads_wait(self) -> None:
        """Answer no StartReceive."""
        for name in (START, START2):
            self.server.answers.pop(name, None)

    def reads(self) -> list[ServedCall]:
        """Return every StartReceive and StartReceive2, in order."""
        return [call for call in self.server.calls if call.name in (START, START2)]

    def await_reads(self, count: int = 1) -> list[ServedCall]:
        """Wait for so many StartReceives; ConformanceFailure when fewer come."""
        self.peer.environment.run_until(lambda: len(self.reads()) >= count, self.sut.response_timeout_ms)
        if len(self.reads()) < count:
            came = ", ".join(call.name for call in self.server.calls) or "none"
            raise ConformanceFailure(f"{len(self.reads())} of {count} reads came; the calls were: {came}")
        return self.reads()

    def one(self, name: str) -> ServedCall:
        """Wait for the one call of a method; ConformanceFailure when there is none, or its stub cannot be read.

        LackedByRelease when the SUT's release has no such method.
        """
        found = self.server.wait(name)
        if not found and lacks_method(self.sut, name):
            raise LackedByRelease(f"the client has no {name}")
        if not found:
            came = ", ".join(call.name for call in self.server.calls) or "none"
            raise ConformanceFailure(f"the SUT did not call {name}; its calls: {came}")
        if found[0].into is None:
            raise ConformanceFailure(f"the stub of {name} cannot be read: {found[0].malformed}")
        return found[0]

    # -- the SUT ----------------------------------------------------------------------------------------------

    @property
    def format_name(self) -> str:
        """The format name of the peer's queue."""
        return f"DIRECT=TCP:{self.peer.address}\\{FAR}"

    def begin(self, verb: str, **arguments: Any) -> Request:
        """Ask the SUT for something that may take long."""
        return Request(self, self.sut.control.begin(verb, **arguments))

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Ask the SUT for something and wait; ConformanceFailure when it refuses."""
        reply = self.begin(verb, **arguments).wait()
        if not reply.get("ok"):
            raise ConformanceFailure(f"the SUT refused {verb}: {reply.get('error', 'without a reason')}")
        return reply

    def open(self, **how: Any) -> int:
        """Let the SUT open the peer's queue; return the number that its verbs know it by."""
        remote = int(self.ask("remote_open", queue=self.format_name, **how)["remote"])
        self.remotes.append(remote)
        self.peer.at_end(lambda: self._leave(remote))
        return remote

    def _leave(self, remote: int) -> None:
        """Let the SUT close a queue, unless it has; nobody waits for it."""
        self.sut.control.begin("remote_close", remote=remote)

    def open_cursor(self, remote: int) -> int:
        """Let the SUT make a cursor."""
        return int(self.ask("remote_open_cursor", remote=remote)["cursor"])

    def await_call(self, name: str, before: int) -> bool:
        """Wait for a call of a method after so many calls: it comes another way than what control answers."""
        return self.peer.wait(lambda: any(call.name == name for call in self.server.calls[before:]), None, name)

    def pending(self) -> list[dict[str, Any]]:
        """Read rPendingRemoteReadEntryCollection, whose entries do not say which application they are of."""
        self.sut.need_alone("there are pending reads")
        return list(self.sut.inspect()["PendingRemoteReadEntryCollection"])

    def opened(self) -> list[dict[str, Any]]:
        """Read rRemoteOpenQueueEntryCollection, likewise."""
        self.sut.need_alone("there are open queues")
        return list(self.sut.inspect()["RemoteOpenQueueEntryCollection"])
