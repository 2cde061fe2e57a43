"""The SUT as the reader of a queue of the peer.

The peer serves qmcomm and qm2qm, and the check sets its responses. The handles that the peer returns are all different.
Spec: MS-MQQP 3.2; MS-MQMP 3.1.4.2 to 3.1.4.4.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.peer.rpc_server import RpcServer, ServedCall
from harness.sut.releases import LackedByRelease, does_release_lack_method
from harness.sut.sut import Sut
from harness.wire import user_message
from harness.wire.rpc_qm2qm import REMOTEREADDESC, Action, Method, build_desc2, takes_message
from harness.wire.rpc_stub import NULL_HANDLE, build_byte_array_pointer

READ_ANSWER_TIMEOUT_MS = 10_000


def build_context_handle(number: int) -> bytes:
    """Return the bytes of a context handle in a stub."""
    return bytes(4) + UUID(int=0x6D71_636F << 96 | number).bytes_le


class CommandOutcome(StrEnum):
    """The outcomes of a command to the SUT."""

    SUCCESS = "success"
    NO_SUCCESS = "no success"
    NO_ANSWER = "no answer"


class Request:
    """A command that was sent on the SUT's control channel, and the reply once it has arrived."""

    def __init__(self, reader: Reader, number: int) -> None:
        self.reader = reader
        self.number = number
        self._reply: dict[str, Any] | None = None

    @property
    def is_answered(self) -> bool:
        """Return whether the reply has arrived."""
        if self._reply is None:
            self._reply = self.reader.sut.control.answer(self.number)
        return self._reply is not None

    def outcome(self) -> CommandOutcome:
        """Wait for the reply to the command; return whether the command succeeded."""
        self.reader.peer.environment.run_until(lambda: self.is_answered, READ_ANSWER_TIMEOUT_MS)
        if not self.is_answered:
            return CommandOutcome.NO_ANSWER
        return CommandOutcome.SUCCESS if self.wait().get("ok") else CommandOutcome.NO_SUCCESS

    def wait(self, within_ms: int = READ_ANSWER_TIMEOUT_MS) -> dict[str, Any]:
        """Wait for the reply and return it; raise ConformanceFailure if no reply arrives."""
        self.reader.peer.environment.run_until(lambda: self.is_answered, within_ms)
        if self._reply is None:
            raise ConformanceFailure("the SUT's control channel did not answer")
        return self._reply


class Reading(Enum):
    """The ways in which a client reads. Each way has a verb of the control channel and a ulAction, and may use a
    cursor.

    Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.
    """

    PEEK = ("remote_peek", False, Action.PEEK_CURRENT)
    RECEIVE = ("remote_receive", False, Action.RECEIVE)
    PEEK_NEXT_BY_CURSOR = ("remote_peek", True, Action.PEEK_NEXT)
    PEEK_CURRENT_BY_CURSOR = ("remote_peek", True, Action.PEEK_CURRENT)
    RECEIVE_BY_CURSOR = ("remote_receive", True, Action.RECEIVE)

    def __init__(self, verb: str, by_cursor: bool, action: Action) -> None:
        self.verb = verb
        self.by_cursor = by_cursor
        self.action = action


class OpenQueueHandles(NamedTuple):
    """The values that the peer returns when the SUT opens a queue.

    ``queue``, ``descriptor``, ``context``: phQueue, dwpQueue and pdwContext of R_QMOpenRemoteQueue, which are three
    different values (MS-MQMP note <27>). ``session``: phContext of RemoteQMOpenQueue.
    """

    queue: int
    descriptor: int
    context: int
    session: bytes


def build_numbered_handles(number: int) -> OpenQueueHandles:
    """Build the handles of a queue; ``number``: the number of queues that the SUT has opened before.

    The values need all 32 bits. They differ from the values of other queues both in the upper and in the lower half.
    """
    step = number * 0x0001_0101
    return OpenQueueHandles(
        0x91A1_1011 + step, 0xA2B2_2022 + step, 0xB3C3_3033 + step, build_context_handle(0x5E55 + step)
    )


class Reader:
    """The peer as the server of one check's remote reads.

    ``version``: the version that RemoteQmGetVersion returns.
    """

    PEER_QUEUE_NAME = "private$\\mqc-far"
    """The queue of the peer that the SUT reads."""
    FIRST_QUEUE_HANDLES, SECOND_QUEUE_HANDLES, THIRD_QUEUE_HANDLES = map(build_numbered_handles, range(3))
    """The handles of the queues that the SUT opens, in order."""
    FIRST_CURSOR_HANDLE, SECOND_CURSOR_HANDLE = 0xC4D4_4044, 0xC4D5_4145
    """The phCursor of the first cursor and of the second cursor."""
    MESSAGE_SEQUENTIAL_ID = 0x0011_2233_4455_6677
    MESSAGE_ARRIVAL_TIME_S = 1_700_000_123
    MESSAGE_BODY, MESSAGE_LABEL = b"read from afar", "far"
    WINDOWS_7_VERSION, WINDOWS_2003_VERSION, WINDOWS_2000_VERSION = (6, 1, 7600), (5, 2, 3790), (5, 0, 2195)
    """Versions that RemoteQmGetVersion returns (notes <22> to <24>)."""
    READ_TIMEOUT_MS, LONG_TIMEOUT_MS = 1_500, 60_000
    """The timeout in ms of reads that the peer answers, and of reads that wait for the check."""
    CANCELED_BY_CLIENT_STATUS = 0x400E_03E9
    """The status MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT. Spec: MS-MQQP 3.1.4.6."""

    def __init__(self, peer: Peer, sut: Sut, version: tuple[int, int, int] = WINDOWS_7_VERSION) -> None:
        self.peer = peer
        self.sut = sut
        self._opened = self._cursors = 0
        """The numbers of queues and cursors that the SUT has opened."""
        self.remotes: list[int] = []
        """The queues that the SUT opened, by the numbers that its verbs use."""
        self.server = RpcServer(peer, {})
        self.server.answers |= {
            "R_QMGetRTQMServerPort": lambda call: call.respond(Return=self.server.port),
            "R_QMOpenRemoteQueue": self._answer_open_remote,
            "R_QMCloseRemoteQueueContext": lambda call: call.respond(),
            "R_QMCreateRemoteCursor": self._answer_create_cursor,
            Method.GET_SERVER_PORT: lambda call: call.respond(Return=self.server.read_port),
            Method.OPEN_QUEUE: lambda call: call.respond(phContext=build_numbered_handles(self._opened - 1).session),
            Method.CLOSE_QUEUE: lambda call: call.respond(),
            Method.END_RECEIVE: lambda call: call.respond(),
            Method.CANCEL_RECEIVE: self.answer_cancel_receive,
            Method.CLOSE_CURSOR: lambda call: call.respond(),
            Method.PURGE_QUEUE: lambda call: call.respond(),
            Method.START_RECEIVE: self.answer_with_message,
            Method.START_RECEIVE2: self.answer_with_message,
            Method.START_RECEIVE_BY_LOOKUP_ID: self.answer_with_message,
        }
        self.set_version(*version)

    # -- the peer ---------------------------------------------------------------------------------------------

    def _answer_open_remote(self, call: ServedCall) -> None:
        handles = build_numbered_handles(self._opened)
        self._opened += 1
        call.respond(
            pphContext=build_context_handle(0x0BE7 + self._opened),
            pdwContext=handles.context,
            dwpQueue=handles.descriptor,
            phQueue=handles.queue,
        )

    def _answer_create_cursor(self, call: ServedCall) -> None:
        call.respond(
            phCursor=self.FIRST_CURSOR_HANDLE + self._cursors * (self.SECOND_CURSOR_HANDLE - self.FIRST_CURSOR_HANDLE)
        )
        self._cursors += 1

    def set_version(self, major: int, minor: int, build: int) -> None:
        """Let the peer return the given version from RemoteQmGetVersion."""
        self.server.answers[Method.GET_VERSION] = lambda call: call.respond(
            pMajor=major, pMinor=minor, pBuildNumber=build
        )

    def build_message(self, body: bytes = MESSAGE_BODY) -> bytes:
        """Build a new UserMessage packet, addressed to the peer's queue."""
        user = {
            "SourceQueueManager": self.peer.identifier,
            "MessageID": self.peer.next_message_id(),
            "SentTime": self.MESSAGE_ARRIVAL_TIME_S - 100,
        }
        return bytes(user_message(destination=self.destination, user=user, body=body, label=self.MESSAGE_LABEL))

    def answer_with_message(self, call: ServedCall, /, **fields: Any) -> None:
        """Answer a StartReceive with a new message; ``fields`` replaces values in REMOTEREADDESC."""
        self.answer_read(call, self.build_message(), **fields)

    def answer_read(self, call: ServedCall, data: bytes | None, status: int = 0, **fields: Any) -> None:
        """Answer a StartReceive with a packet, or with a failure status; ``fields`` replaces values in
        REMOTEREADDESC.
        """
        asked = self.get_read_description(call)
        receives = data and takes_message(asked.ulAction)
        names = ("hRemoteQueue", "hCursor", "ulAction", "ulTimeout", "dwQueue", "dwRequestID")
        answer = REMOTEREADDESC(
            **{name: getattr(asked, name) for name in names},
            dwSize=len(data or b""),
            dwArriveTime=self.MESSAGE_ARRIVAL_TIME_S if data else 0,
            lpBuffer=build_byte_array_pointer(data),
            **{"Reserved": 1, **fields},
        )
        results: dict[str, Any] = {
            "pphContext": self.get_receive_handle(call) if receives else NULL_HANDLE,
            "Return": status,
        }
        if call.name == Method.START_RECEIVE:
            call.respond(lpRemoteReadDesc=answer, **results)
        else:
            call.respond(lpRemoteReadDesc2=build_desc2(answer, self.MESSAGE_SEQUENTIAL_ID if data else 0), **results)

    def answer_cancel_receive(self, call: ServedCall) -> None:
        """Answer RemoteQMCancelReceive, and the waiting read that it cancels, if any. Spec: MS-MQQP 3.1.4.6."""
        call.respond()
        for read in self.reads():
            if not read.answered and self.get_read_description(read).dwRequestID == call.decoded_request.dwRequestID:
                self.answer_read(read, None, self.CANCELED_BY_CLIENT_STATUS)

    def answer_start_receives_with_message(self, data: bytes | None = None) -> None:
        """Let the peer answer each StartReceive with a packet, by default with a new message."""
        for name in (Method.START_RECEIVE, Method.START_RECEIVE2):
            self.server.answers[name] = lambda call: self.answer_read(call, data or self.build_message())

    def leave_start_receives_unanswered(self) -> None:
        """Let the peer not answer any StartReceive."""
        for name in (Method.START_RECEIVE, Method.START_RECEIVE2):
            self.server.answers.pop(name, None)

    def get_read_description(self, call: ServedCall) -> Any:
        """Return the REMOTEREADDESC of a request as a scapy packet; raise ConformanceFailure if the
        request has none.
        """
        if call.decoded_request is None:
            raise ConformanceFailure(f"the stub of {call.name} cannot be read: {call.malformed}")
        if call.name == Method.START_RECEIVE:
            return call.decoded_request.lpRemoteReadDesc
        described = call.decoded_request.lpRemoteReadDesc2.pRemoteReadDesc
        if described is None:
            raise ConformanceFailure(f"pRemoteReadDesc of {call.name} is NULL")
        return described.value

    def get_receive_handle(self, call: ServedCall) -> bytes:
        """Return the context handle that the peer returns for a receive."""
        return build_context_handle(0x4EAD_0000 + self.server.calls.index(call))

    def reads(self) -> list[ServedCall]:
        """Return every StartReceive and StartReceive2 of the SUT, in order."""
        return [call for call in self.server.calls if call.name in (Method.START_RECEIVE, Method.START_RECEIVE2)]

    def await_start_receives(self, count: int = 1) -> list[ServedCall]:
        """Wait for ``count`` StartReceives and return them; raise ConformanceFailure if fewer arrive."""
        self.run_until_start_receives(count)
        if len(self.reads()) < count:
            came = ", ".join(call.name for call in self.server.calls) or "none"
            raise ConformanceFailure(f"only {len(self.reads())} of {count} reads arrived; the calls were: {came}")
        return self.reads()

    def run_until_start_receives(self, count: int) -> None:
        """Wait for ``count`` StartReceives, at most for the time that the SUT may take to answer."""
        self.peer.environment.run_until(lambda: len(self.reads()) >= count, self.sut.response_timeout_ms)

    def await_first_call(self, name: str) -> ServedCall:
        """Wait for the first call of a method and return it.

        Raises ConformanceFailure if no call arrives or its stub cannot be read, and LackedByRelease if the SUT's
        release does not have the method.
        """
        found = self.server.wait(name)
        if not found and does_release_lack_method(self.sut, name):
            raise LackedByRelease(f"the client does not implement {name}")
        if not found:
            came = ", ".join(call.name for call in self.server.calls) or "none"
            raise ConformanceFailure(f"the SUT did not call {name}; its calls: {came}")
        if found[0].decoded_request is None:
            raise ConformanceFailure(f"the stub of {name} cannot be read: {found[0].malformed}")
        return found[0]

    def await_call_after_count(self, count: int, name: str) -> bool:
        """Wait for a call of a method after the first ``count`` calls; return whether such a call arrived."""
        return self.peer.wait(lambda: any(call.name == name for call in self.server.calls[count:]), None, name)

    # -- the SUT ----------------------------------------------------------------------------------------------

    @property
    def destination(self) -> str:
        """The direct name of the peer's queue."""
        return f"TCP:{self.peer.address}\\{self.PEER_QUEUE_NAME}"

    @property
    def format_name(self) -> str:
        """The format name of the peer's queue."""
        return f"DIRECT={self.destination}"

    def begin(self, verb: str, **arguments: Any) -> Request:
        """Send a command to the SUT, and do not wait for the reply."""
        return Request(self, self.sut.control.begin(verb, **arguments))

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send a command to the SUT and return the reply; raise ConformanceFailure if the SUT refuses the command."""
        reply = self.begin(verb, **arguments).wait()
        if not reply.get("ok"):
            raise ConformanceFailure(f"the SUT refused {verb}: {reply.get('error', 'no reason was given')}")
        return reply

    def begin_open_queue(self, queue: str | None = None) -> Request:
        """Let the SUT open a queue, by default the queue of the peer, and do not wait for the SUT's reply."""
        return self.begin("remote_open", queue=queue or self.format_name)

    def open(self, **how: Any) -> int:
        """Let the SUT open the peer's queue; return the number by which later verbs identify the queue."""
        remote = int(self.ask("remote_open", queue=self.format_name, **how)["remote"])
        self.remotes.append(remote)
        self.peer.call_at_end_of_test(lambda: self._begin_close(remote))
        return remote

    def _begin_close(self, remote: int) -> None:
        """Let the SUT close a queue, and do not wait for the SUT's reply."""
        self.sut.control.begin("remote_close", remote=remote)

    def open_cursor(self, remote: int) -> int:
        """Let the SUT open a cursor; return the number by which later verbs identify the cursor."""
        return int(self.ask("remote_open_cursor", remote=remote)["cursor"])

    def begin_read(
        self, reading: Reading, remote: int, timeout_ms: int = READ_TIMEOUT_MS, cursor: int | None = None
    ) -> Request:
        """Let the SUT begin a read; do not wait for the SUT's reply. ``cursor``: an open cursor, or None for a new
        cursor.
        """
        where = {"remote": remote}
        if reading.by_cursor:
            where = {"cursor": self.open_cursor(remote) if cursor is None else cursor}
        more = {"next": True} if reading.action == Action.PEEK_NEXT else {}
        return self.begin(reading.verb, **where, timeout_ms=timeout_ms, **more)

    def begin_reads_with_long_timeout(
        self, reading: Reading, remote: int, count: int, cursor: int | None = None
    ) -> list[Request]:
        """Let the SUT begin ``count`` reads with a long timeout, each after the peer has received
        the previous read.
        """
        requests = []
        for number in range(1, count + 1):
            requests.append(self.begin_read(reading, remote, self.LONG_TIMEOUT_MS, cursor))
            self.await_start_receives(number)
        return requests

    def list_pending_read_entries(self) -> list[dict[str, Any]]:
        """Return rPendingRemoteReadEntryCollection. Its entries do not identify the application whose request caused
        them.
        """
        self.sut.require_running_alone("there are pending reads")
        return list(self.sut.inspect()["PendingRemoteReadEntryCollection"])

    def list_open_queue_entries(self) -> list[dict[str, Any]]:
        """Return rRemoteOpenQueueEntryCollection. Its entries do not identify the application whose request caused
        them.
        """
        self.sut.require_running_alone("there are open queues")
        return list(self.sut.inspect()["RemoteOpenQueueEntryCollection"])
