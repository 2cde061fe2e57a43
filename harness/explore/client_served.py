"""Serve qmcomm and qm2qm to a system that reads queues of the peer, and describe the system's calls in the terms of
the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.model.client.area import (
    ERROR_STATUS_ANSWER,
    INVALID_PARAMETER_ANSWER,
    MESSAGE_OF_RECEIVE_THAT_CANNOT_END,
    PEEK_ACTION,
    PEEK_NEXT_ACTION,
    RECEIVE_ACTION,
    TIMEOUT_ANSWER,
)
from harness.peer.peer import Peer
from harness.peer.rpc_server import RpcServer, ServedCall
from harness.wire.rpc_qm2qm import REMOTEREADDESC, Ack, Action, Method, build_desc2, takes_message
from harness.wire.rpc_stub import NULL_HANDLE, build_byte_array_pointer, octets

CANCELED_STATUS, IO_TIMEOUT_STATUS, ARBITRARY_ERROR_STATUS = 0x400E_03E9, 0xC00E_001B, 0xC00E_001D
"""The statuses MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT (MS-MQQP 3.1.4.6), MQ_ERROR_IO_TIMEOUT, and one further
status.
"""
INVALID_PARAMETER_STATUS, QUEUE_NOT_FOUND_STATUS = 0xC00E_0006, 0xC00E_0003
SEQUENTIAL_ID_OF_ANSWERS = 0x0011_2233_4455_6677
_READ_METHODS = (Method.START_RECEIVE, Method.START_RECEIVE2, Method.START_RECEIVE_BY_LOOKUP_ID)
_READ_ACTION_NAMES: dict[int, str] = {
    **{int(action): name.removeprefix("LOOKUP_") for name, action in Action.__members__.items()},
    int(Action.RECEIVE): RECEIVE_ACTION,
    int(Action.PEEK_CURRENT): PEEK_ACTION,
    int(Action.PEEK_NEXT): PEEK_NEXT_ACTION,
}
_LOOKUP_DIRECTION_NAMES = {"CURRENT": "current", "NEXT": "next", "PREV": "previous"}
_METHODS_WITH_DESCRIBED_CALLS = frozenset(
    {*Method.__members__.values(), "R_QMCreateRemoteCursor"} - {Method.GET_SERVER_PORT}
)
"""The calls that the model describes. RemoteQMGetQMQMServerPort is not one of them, because only some releases of
Windows call it (note <5>).
"""


def build_context_handle(number: int) -> bytes:
    """Return the bytes of a context handle in a stub."""
    return bytes(4) + UUID(int=0x6D71_636F << 96 | number).bytes_le


class PeerServingRemoteReads:
    """The peer as a server of remote reads. The handles that it returns for different queues differ in both halves of
    their value.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._names: dict[tuple[str, int | bytes], str] = {}
        """The names that the model gives to objects, by the kind of the object and the value of its handle."""
        self._last_handle_number = 0
        self.opening: tuple[str, bool] = ("", False)
        """The queue that the system opens in the current step, and whether the peer refuses to open it."""
        self.cursor = ""
        """The cursor that the system creates in the current step."""
        self.reading: tuple[str, Callable[[ServedCall], None] | None] = ("", None)
        """The read that the system begins in the current step, and the function that answers it."""
        self.reads: dict[str, ServedCall] = {}
        self._request_id_by_read: dict[str, int] = {}
        """The RequestIds of the unanswered reads."""
        self._described_calls: list[dict[str, Any]] = []
        self.server = RpcServer(peer, {})
        self.is_close_refused = False
        """Whether the peer refuses RemoteQMCloseQueue in the current step."""
        self._receives_with_refused_end: set[bytes] = set()
        """The handles of the receives whose RemoteQMEndReceive the peer refuses."""
        ended = (Method.CLOSE_CURSOR, Method.PURGE_QUEUE)
        self.server.answers |= {str(one): self._begin_read for one in _READ_METHODS}
        self.server.answers |= {str(one): self._record_and_respond for one in ended}
        self.server.answers |= {
            "R_QMGetRTQMServerPort": lambda call: call.respond(Return=self.server.port),
            "R_QMOpenRemoteQueue": self._open_remote,
            "R_QMCloseRemoteQueueContext": lambda call: call.respond(),
            "R_QMCreateRemoteCursor": self._create_cursor,
            Method.GET_SERVER_PORT: lambda call: call.respond(Return=self.server.read_port),
            Method.OPEN_QUEUE: self._open_queue,
            Method.CLOSE_QUEUE: self._close_queue,
            Method.END_RECEIVE: self._end_receive,
            Method.CANCEL_RECEIVE: self._cancel,
        }
        self.set_version((6, 1, 7_600))

    def set_version(self, version: tuple[int, ...]) -> None:
        """Let the peer return a given version from RemoteQmGetVersion."""

        def answer(call: ServedCall) -> None:
            self._record_shown_call(call)
            call.respond(**dict(zip(("pMajor", "pMinor", "pBuildNumber"), version, strict=True)))

        self.server.answers[Method.GET_VERSION] = answer

    def take_calls(self) -> list[dict[str, Any]]:
        """Return the calls that the system has made since the previous call of this method."""
        shown, self._described_calls = self._described_calls, []
        return shown

    def count_bindings(self) -> int:
        """Return the number of open connections to the port of qm2qm."""
        return sum(one.port == self.server.read_port and not one.over for one in self.server.associations)

    def answer_read(self, read: str, served: str, data: bytes | None, arrived_s: int) -> None:
        """Answer a waiting read."""
        status = {
            TIMEOUT_ANSWER: IO_TIMEOUT_STATUS,
            ERROR_STATUS_ANSWER: ARBITRARY_ERROR_STATUS,
            INVALID_PARAMETER_ANSWER: INVALID_PARAMETER_STATUS,
        }.get(served, 0)
        call = self.reads[read]
        handle = self._build_read_answer(call, read, None if served == TIMEOUT_ANSWER else data, status, arrived_s)
        if served == MESSAGE_OF_RECEIVE_THAT_CANNOT_END:
            self._receives_with_refused_end.add(handle)

    # -- answers ------------------------------------------------------------------------------------------------------

    def _make_handle(self, kind: str, name: str, base: int) -> int:
        """Return a new value for a handle of 32 bits."""
        self._last_handle_number += 1
        value = base + self._last_handle_number * 0x0001_0101
        self._names[kind, value] = name
        return value

    def _open_remote(self, call: ServedCall) -> None:
        name, _ = self.opening
        call.respond(
            pphContext=build_context_handle(0x0BE7_0000 + self._last_handle_number),
            phQueue=self._make_handle("queue", name, 0x91A1_1011),
            dwpQueue=self._make_handle("descriptor", name, 0xA2B2_2022),
            pdwContext=self._make_handle("context", name, 0xB3C3_3033),
        )

    def _open_queue(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        name, fails = self.opening
        if fails:
            call.respond(phContext=NULL_HANDLE, Return=QUEUE_NOT_FOUND_STATUS)
            return
        handle = build_context_handle(0x5E55_0000 + self._last_handle_number)
        self._names["session", handle] = name
        call.respond(phContext=handle)

    def _create_cursor(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        call.respond(phCursor=self._make_handle("cursor", self.cursor, 0xC4D4_4044))

    def _record_and_respond(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        call.respond()

    def _close_queue(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        call.respond(Return=ARBITRARY_ERROR_STATUS if self.is_close_refused else 0)

    def _end_receive(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        call.respond(
            Return=ARBITRARY_ERROR_STATUS
            if bytes(call.decoded_request.pphContext) in self._receives_with_refused_end
            else 0
        )

    def _cancel(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        call.respond()
        for read, request in list(self._request_id_by_read.items()):
            if request == call.decoded_request.dwRequestID and not self.reads[read].answered:
                self._build_read_answer(self.reads[read], read, None, CANCELED_STATUS, 0)

    def _begin_read(self, call: ServedCall) -> None:
        self._record_shown_call(call)
        read, answer = self.reading
        self.reads[read] = call
        self._request_id_by_read[read] = _find_remote_read_description(call).dwRequestID
        if answer is not None:
            answer(call)

    def _build_read_answer(self, call: ServedCall, read: str, data: bytes | None, status: int, arrived_s: int) -> bytes:
        """Send the answer to a read, and return the context handle that the answer contains."""
        asked = _find_remote_read_description(call)
        self._request_id_by_read.pop(read, None)
        names = ("hRemoteQueue", "hCursor", "ulAction", "ulTimeout", "dwQueue", "dwRequestID")
        described = REMOTEREADDESC(
            **{name: getattr(asked, name) for name in names},
            dwSize=len(data or b""),
            dwArriveTime=arrived_s if data else 0,
            lpBuffer=build_byte_array_pointer(data),
            Reserved=1,
        )
        handle = NULL_HANDLE
        if data and takes_message(asked.ulAction):
            handle = build_context_handle(0x4EAD_0000 + len(self.server.calls))
            self._names["read", handle] = read
        if call.name == Method.START_RECEIVE:
            call.respond(lpRemoteReadDesc=described, pphContext=handle, Return=status)
        else:
            wide = build_desc2(described, SEQUENTIAL_ID_OF_ANSWERS if data else 0)
            call.respond(lpRemoteReadDesc2=wide, pphContext=handle, Return=status)
        return handle

    # -- descriptions of calls ----------------------------------------------------------------------------------------

    def _record_shown_call(self, call: ServedCall) -> None:
        if call.name in _METHODS_WITH_DESCRIBED_CALLS:
            self._described_calls.append({"call": str(call.name), **self._describe_call(call)})

    def _get_name_in_model(self, kind: str, value: Any) -> str:
        return self._names.get((kind, value), str(value))

    def _describe_call(self, call: ServedCall) -> dict[str, Any]:
        into = call.decoded_request
        if call.name == Method.OPEN_QUEUE:
            return {
                "hQueue": self._get_name_in_model("queue", into.hQueue),
                "pQueue": self._get_name_in_model("descriptor", into.pQueue),
                "dwpContext": self._get_name_in_model("context", into.dwpContext),
                "pLicGuid": "own" if into.pLicGuid == self._peer.sut.guid.bytes_le else into.pLicGuid.hex(),
                "dwMQS": into.dwMQS,
                "bound": call.port == self.server.read_port,
            }
        if call.name in _READ_METHODS:
            return self._describe_read(call)
        described: dict[str, Any] = {}
        if call.name in (Method.CANCEL_RECEIVE, Method.PURGE_QUEUE, Method.CLOSE_CURSOR, "R_QMCreateRemoteCursor"):
            described["queue"] = self._get_name_in_model("queue", into.hQueue)
        if call.name == Method.CANCEL_RECEIVE:
            described["descriptor"] = self._get_name_in_model("descriptor", into.pQueue)
            named = [read for read, request in self._request_id_by_read.items() if request == into.dwRequestID]
            described["read"] = named[0] if named else f"request {into.dwRequestID}"
        if call.name == Method.CLOSE_CURSOR:
            described["cursor"] = self._get_name_in_model("cursor", into.hCursor)
        if call.name == Method.CLOSE_QUEUE:
            described["handle"] = self._get_name_in_model("session", bytes(into.pphContext))
        if call.name == Method.END_RECEIVE:
            described["handle"] = self._get_name_in_model("read", bytes(into.pphContext))
            described["ack"] = Ack(into.dwAck).name if into.dwAck in set(Ack) else into.dwAck
        return described

    def _describe_read(self, call: ServedCall) -> dict[str, Any]:
        asked = _find_remote_read_description(call)
        described = {
            "queue": self._get_name_in_model("queue", asked.hRemoteQueue),
            "descriptor": self._get_name_in_model("descriptor", asked.dwQueue),
            "cursor": self._get_name_in_model("cursor", asked.hCursor) if asked.hCursor else None,
            "action": _describe_action(asked.ulAction),
            "timeout_ms": asked.ulTimeout,
            "size": asked.dwSize,
            "buffer": octets(asked.lpBuffer),
            "sequential id": 0
            if call.name == Method.START_RECEIVE
            else call.decoded_request.lpRemoteReadDesc2.SequentialId,
            "reserved": asked.Reserved,
            "unused id": asked.dwRequestID not in self._request_id_by_read.values(),
        }
        if call.name == Method.START_RECEIVE_BY_LOOKUP_ID:
            described["lookup_id"] = call.decoded_request.LookupId
        return described


def _find_remote_read_description(call: ServedCall) -> Any:
    """Return the REMOTEREADDESC of a request."""
    if call.name == Method.START_RECEIVE:
        return call.decoded_request.lpRemoteReadDesc
    return call.decoded_request.lpRemoteReadDesc2.pRemoteReadDesc.value


def _describe_action(action: int) -> Any:
    name = _READ_ACTION_NAMES.get(action, action)
    if isinstance(name, str) and "_" in name:
        kind, _, way = name.partition("_")
        return f"{_LOOKUP_DIRECTION_NAMES[way]} {kind.lower()}"
    return name
