"""Take the steps of the area `remote` on a system with qm2qm clients and with applications on the system."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Set
from itertools import count
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.explore.queues_driven import LOOKUP_ID_NOT_SHOWN_BY_SYSTEM, DrivenQueues
from harness.explore.wire_seen import get_class_name
from harness.model.agreement import ExpectedRefusal
from harness.model.queues.reading import PEEK_READ_KIND, RECEIVE_READ_KIND
from harness.model.remote import misuse as wrong
from harness.model.remote.area import JOURNALED_QUEUE_NAME, QUEUE_NAMES, TRANSACTIONAL_QUEUE_NAME
from harness.peer.association import Association, Call
from harness.peer.peer import Peer
from harness.peer.remote import (
    LOOKUP_METHOD,
    START_RECEIVE_METHODS,
    RemoteQueue,
    RemoteReaderOfSut,
    get_read_description,
)
from harness.sut.releases import does_release_lack_method
from harness.wire import rpc_qm2qm as wire
from harness.wire.rpc import NDR, QM2QM, Proposal, bind
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RR_ACK, RR_NACK, Method, PortType
from harness.wire.rpc_qm2qm import RECEIVE as TAKE
from harness.wire.rpc_qmcomm import (
    DENY_NONE,
    DENY_RECEIVE,
    DIRECT,
    MULTICAST,
    PEEK_ACCESS,
    RECEIVE_ACCESS,
    queue_format,
)
from harness.wire.rpc_stub import octets
from reference_qm.codec import FormatError, UserMessagePacket, parse_packet

_READ_ACTIONS = {RECEIVE_READ_KIND: TAKE, PEEK_READ_KIND: PEEK_CURRENT, "next": PEEK_NEXT}
_SUCCESS_OUTCOMES = ("MQ_OK", "returned")
_MULTICAST_ADDRESS = bytes((224, 1, 2, 3)) + (4_567).to_bytes(4, "little")
"""The bytes of a multicast address with a port, 224.1.2.3:4567."""
_HIGHEST_U64 = 0xFFFF_FFFF_FFFF_FFFF
_SEEK_ACTIONS = {
    "current": ("current", None),
    "next": ("next", None),
    "previous": ("previous", None),
    "first": ("next", 0),
    "last": ("previous", _HIGHEST_U64),
}
"""For each kind of lookup in the model, the LookupAction and the LookupId of the call (MS-MQQP 3.1.4.11)."""
_LOOKUP_ACTIONS = {
    ("current", False): wire.LOOKUP_PEEK_CURRENT,
    ("next", False): wire.LOOKUP_PEEK_NEXT,
    ("previous", False): wire.LOOKUP_PEEK_PREV,
    ("current", True): wire.LOOKUP_RECEIVE_CURRENT,
    ("next", True): wire.LOOKUP_RECEIVE_NEXT,
    ("previous", True): wire.LOOKUP_RECEIVE_PREV,
}
_PORT_TYPE_BY_INTERFACE = {"qmcomm": PortType.IP_HANDSHAKE, "qm2qm": PortType.IP_READ}
_BYTES_BY_GARBLED_REQUEST = {
    "a version that does not exist": b"\xff" + bytes(bind(1, [Proposal(0, QM2QM, (NDR,))]))[1:],
    "bytes of another protocol": b"GET / HTTP/1.0\r\n\r\n",
    "half of a request": bytes(bind(1, [Proposal(0, QM2QM, (NDR,))]))[:20],
}
_REACTION_WAIT_MS = 20
"""int ms: how long to wait, in virtual time, for an answer that the system should send immediately."""


class OpenedQueue(RemoteQueue):
    """A queue that a client has opened. ``fields``: the fields of RemoteQMOpenQueue that the system ignores."""

    def __init__(
        self, remote: RemoteReaderOfSut, association: Association, opened: Call, fields: dict[str, Any]
    ) -> None:
        self._fields = fields
        super().__init__(remote, association, opened)

    def open_session(self, *, client: UUID | None = None, **arguments: Any) -> Call:
        """Call RemoteQMOpenQueue."""
        return super().open_session(client=client, **(self._fields | arguments))


class DrivenRemoteQueues(DrivenQueues):
    """A system with two queues, with remote clients that read the queues, and with applications."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer.sut)
        self._peer = peer
        self._remote = RemoteReaderOfSut(peer, peer.sut)
        for name in QUEUE_NAMES:
            self._perform_create(
                name, journaling=name == JOURNALED_QUEUE_NAME, transactional=name == TRANSACTIONAL_QUEUE_NAME
            )
        self._clients: dict[str, Association] = {}
        self._opened: dict[str, RemoteQueue] = {}
        self._remote_cursors: dict[str, tuple[str, int]] = {}
        """The handles of the cursors, by the name of the cursor in the model."""
        self._calls: dict[str, tuple[str, Call]] = {}
        """The calls of reads, including answered calls, by the name of the read in the model."""
        self._reads_by_cursor: dict[str, set[str]] = defaultdict(set)
        self._request_ids: dict[str, int] = {}
        self._used_request_ids: dict[str, dict[str, int]] = defaultdict(dict)
        """The dwRequestIDs of the reads of each handle that have not ended."""
        self._waiting: set[str] = set()
        self._version: tuple[int, int, int] | None = None
        self._ports: dict[str, int | None] = {}

    def _await_answers(self, awaited: Set[str]) -> None:
        self._peer.environment.run_until(lambda: False, _REACTION_WAIT_MS)
        super()._await_answers(awaited)
        for read in sorted(self._waiting):
            handle, call = self._calls[read]
            if call.answered:
                self._waiting.remove(read)
                self._came[read] = self._describe_read_answer(call)
                if call.outcome not in _SUCCESS_OUTCOMES or call.has_null_handle:
                    self._used_request_ids[handle].pop(read, None)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_associate(self, client: str) -> str:
        try:
            self._clients[client] = self._remote.associate()
        except ConformanceFailure as refusal:
            return str(refusal)
        return "done"

    def _perform_vanish(self, client: str) -> str:
        association = self._clients.pop(client)
        association.close()
        for handle in [name for name, one in self._opened.items() if one.association is association]:
            del self._opened[handle]
            self._waiting -= {read for read, (of, _) in self._calls.items() if of == handle}
        return "done"

    def _perform_open_remote(
        self, handle: str, client: str, queue: str, access: str, deny_receive: bool, ignored: str, reserved: int
    ) -> Any:
        name = self._format_direct_name(self._get_queue_path(queue)).removeprefix("DIRECT=")
        form = queue_format(DIRECT, name, reserved=reserved)
        opened = self._remote.open_remote(
            self._clients[client],
            access=RECEIVE_ACCESS if access == RECEIVE_READ_KIND else PEEK_ACCESS,
            share=DENY_RECEIVE if deny_receive else DENY_NONE,
            form=form,
        ).wait()
        if opened.outcome not in _SUCCESS_OUTCOMES:
            return ExpectedRefusal((opened.outcome_whether_thrown_or_returned,))
        others = [one.handle for one in self._opened.values()]
        own = {"hQueue": opened.out.phQueue}
        fields = {"zero": {"hQueue": 0}, "other": {"hQueue": others[0]} if others else own}.get(ignored, own)
        self._opened[handle] = OpenedQueue(self._remote, self._clients[client], opened, fields)
        return "done"

    def _perform_close_remote(self, handle: str) -> Any:
        return self._await_outcome(self._opened.pop(handle).close())

    def _perform_create_cursor(self, cursor: str, handle: str) -> Any:
        made = self._opened[handle].cursor().wait()
        if made.outcome in _SUCCESS_OUTCOMES:
            self._remote_cursors[cursor] = (handle, made.out.phCursor)
        return self._await_outcome(made)

    def _perform_drop_cursor(self, cursor: str) -> Any:
        handle, number = self._remote_cursors[cursor]
        self._waiting -= self._reads_by_cursor[cursor]
        return self._await_outcome(self._opened[handle].close_cursor(number))

    def _perform_read_remote(self, read: str, handle: str, receives: bool, method: str, wait_ms: int) -> None:
        by = START_RECEIVE_METHODS if does_release_lack_method(self._sut, method) else method
        self._start_remote_read(read, handle, TAKE if receives else PEEK_CURRENT, by=by, ulTimeout=wait_ms)

    def _perform_read_remote_at(self, read: str, cursor: str, action: str, wait_ms: int) -> None:
        handle, number = self._remote_cursors[cursor]
        self._reads_by_cursor[cursor].add(read)
        self._start_remote_read(read, handle, _READ_ACTIONS[action], hCursor=number, ulTimeout=wait_ms)

    def _perform_look_up_remote(self, read: str, handle: str, message: str, seek: str, receives: bool) -> None:
        way, given = _SEEK_ACTIONS[seek]
        place = self._lookup_ids.get(message, LOOKUP_ID_NOT_SHOWN_BY_SYSTEM) if given is None else given
        self._start_remote_read(read, handle, _LOOKUP_ACTIONS[way, receives], by=LOOKUP_METHOD, lookup_id=place)

    def _perform_end_read(self, read: str, acknowledge: bool) -> Any:
        handle, call = self._calls[read]
        ended = self._opened[handle].end(call, RR_ACK if acknowledge else RR_NACK).wait()
        self._used_request_ids[handle].pop(read, None)
        return (
            "the handle was not set to null"
            if ended.outcome in _SUCCESS_OUTCOMES and not ended.has_null_handle
            else self._await_outcome(ended)
        )

    def _perform_cancel_remote(self, read: str) -> Any:
        handle, _ = self._calls[read]
        return self._await_outcome(self._opened[handle].cancel(self._request_ids[read]))

    def _perform_cancel_nothing(self, handle: str) -> Any:
        return self._await_outcome(self._opened[handle].cancel(self._find_free_request_id(handle)))

    def _perform_purge_remote(self, handle: str) -> Any:
        return self._await_outcome(self._opened[handle].purge())

    def _perform_ask_version(self, client: str) -> str:
        call = self._clients[client].call(Method.GET_VERSION).wait()
        version = (call.out.pMajor, call.out.pMinor, call.out.pBuildNumber)
        self._version = self._version or version
        return "the same version" if version == self._version else f"version {version}, not {self._version}"

    def _perform_ask_port(self, client: str, interface: str, at_read_port: bool) -> str:
        association = self._clients[client]
        if at_read_port:
            found = association.call(Method.GET_SERVER_PORT, dwPortType=PortType.IP_READ).wait().status
            association = self._remote.connect(found or None)
            association.bind_and_list_rejected_interfaces(QM2QM)
        asked = association.call(Method.GET_SERVER_PORT, dwPortType=_PORT_TYPE_BY_INTERFACE[interface]).wait()
        if at_read_port:
            association.close()
        port = self._ports.setdefault(interface, asked.status)
        return "the same port" if asked.status == port and port else f"port {asked.status}, not {port}"

    def _perform_garble(self, how: str) -> str:
        association = self._remote.connect(self._remote.get_read_port())
        association.send(_BYTES_BY_GARBLED_REQUEST[how])
        association.wait_closed(_REACTION_WAIT_MS)
        if not association.over:
            association.close()
        return "done"

    def _perform_misuse(self, handle: str, other: str | None, how: str) -> Any:
        queue = self._opened[handle]
        if how in (wrong.OPEN_WITH_DIFFERENT_POINTERS, wrong.OPEN_WITH_ZERO_POINTERS):
            fields: dict[str, Any] = (
                {"pQueue": queue.pointer + 1}
                if how == wrong.OPEN_WITH_DIFFERENT_POINTERS
                else {"pQueue": 0, "dwpContext": 0}
            )
            return self._await_outcome(queue.open_session(**fields))
        if how == wrong.CLOSE_CURSOR_OF_OTHER_QUEUE:
            return self._await_outcome(queue.close_cursor(self._remote_cursors[str(other)][1]))
        if how in (wrong.READ_BY_OTHER_CURSOR, wrong.READ_BY_CLOSED_CURSOR):
            number = self._remote_cursors[str(other)][1]
            request_id = self._find_free_request_id(handle)
            return self._await_outcome(queue.begin(PEEK_CURRENT, hCursor=number, dwRequestID=request_id))
        if how == wrong.OPEN_MULTICAST_NAME:
            form = queue_format(MULTICAST, _MULTICAST_ADDRESS)
            return self._await_outcome(self._remote.open_remote(queue.association, access=PEEK_ACCESS, form=form))
        if how == wrong.CLOSE_UNKNOWN_CURSOR:
            return self._await_outcome(queue.close_cursor(RemoteQueue.UNKNOWN_HANDLE))
        purged = queue.association.call(Method.PURGE_QUEUE, hQueue=RemoteQueue.UNKNOWN_HANDLE)
        return self._await_outcome(purged)

    def _perform_misuse_lookup(self, handle: str, how: str) -> Any:
        fields = {
            wrong.LOOK_UP_WITH_TIMEOUT: {"ulTimeout": 1},
            wrong.LOOK_UP_WITHOUT_TIME_LIMIT: {"ulTimeout": wire.INFINITE_TIMEOUT_MS},
            wrong.LOOK_UP_WITH_CURSOR: {"hCursor": 1},
        }
        action = PEEK_CURRENT if how == wrong.LOOK_UP_WITH_OTHER_ACTION else wire.LOOKUP_PEEK_NEXT
        call = self._opened[handle].begin(action, by=LOOKUP_METHOD, lookup_id=0, **fields.get(how, {}))
        return self._await_outcome(call)

    # -- answers --------------------------------------------------------------------------------------------------

    def _start_remote_read(self, read: str, handle: str, action: int, **how: Any) -> None:
        self._request_ids[read] = self._used_request_ids[handle][read] = self._find_free_request_id(handle)
        call = self._opened[handle].begin(action, dwRequestID=self._request_ids[read], **how)
        self._calls[read] = (handle, call)
        self._waiting.add(read)

    def _find_free_request_id(self, handle: str) -> int:
        """Return the least dwRequestID that no read of a handle uses. Reads of other handles may use the same value."""
        used = self._used_request_ids[handle].values()
        return next(number for number in count(1) if number not in used)

    def _await_outcome(self, call: Call) -> Any:
        call.wait()
        return (
            "done" if call.outcome in _SUCCESS_OUTCOMES else ExpectedRefusal((call.outcome_whether_thrown_or_returned,))
        )

    def _describe_read_answer(self, call: Call) -> Any:
        if call.outcome == "MQ_ERROR_IO_TIMEOUT":
            return {"message": None, "handle": not call.has_null_handle}
        if call.outcome not in _SUCCESS_OUTCOMES:
            return ExpectedRefusal((call.outcome_whether_thrown_or_returned,))
        description = get_read_description(call)
        data = None if description is None else octets(description.lpBuffer)
        packet = None if data is None else _parse_read_packet(bytes(data))
        message = self._describe_read_message(packet) if isinstance(packet, UserMessagePacket) else "no packet"
        return {"message": message, "handle": not call.has_null_handle}

    def _describe_read_message(self, packet: UserMessagePacket) -> dict[str, Any]:
        """Describe a message that a client read, in the terms of the model."""
        user, properties = packet.UserHeader, packet.MessagePropertiesHeader
        identifier = f"{{{user.SourceQueueManager}}}\\{user.MessageID}"
        return {
            "message": self._messages.get(identifier, "?"),
            "class": get_class_name(properties.MessageClass),
            "priority": packet.BaseHeader.Flags & 7,
            "delivery": "transactional" if packet.TransactionHeader else "recoverable" if user.DM == 1 else "express",
            "size": len(properties.MessageBody),
            "acks": sorted(name for name, flag in _ACK_FLAGS.items() if getattr(properties, flag)),
            "journal": sorted(name for name, flag in _JOURNAL_FLAGS.items() if getattr(user, flag)),
            "application_tag": properties.ApplicationTag,
            "time_to_be_received_s": user.TimeToBeReceived,
            "body_type": properties.BodyType,
            "correlation_id": properties.CorrelationID.hex(),
            "extension_base64": base64.b64encode(properties.ExtensionData).decode(),
        }


def _parse_read_packet(data: bytes) -> object:
    try:
        return parse_packet(data)
    except FormatError:
        return None


_ACK_FLAGS = {"positive_arrival": "PA", "positive_receive": "PR", "negative_arrival": "NA", "negative_receive": "NR"}
_JOURNAL_FLAGS = {"positive": "JP", "negative": "JN"}
