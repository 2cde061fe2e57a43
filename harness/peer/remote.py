"""Read the SUT's queues remotely, with one function for each step. Spec: MS-MQMP 3.1.4.2 to 3.1.4.4; MS-MQQP 3.1.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.association import Association, Call
from harness.peer.peer import Peer
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.sut.releases import does_release_lack_method
from harness.sut.sut import Sut
from harness.wire.rpc import EPT, NDR, NDR64, QM2QM, QMCOMM, Syntax
from harness.wire.rpc_ept import build_map_arguments, read_ports
from harness.wire.rpc_qm2qm import REMOTEREADDESC, Ack, Action, Method, PortType, build_desc2
from harness.wire.rpc_qmcomm import DENY_NONE, DIRECT, RECEIVE_ACCESS, queue_format, transfer_buffer
from harness.wire.rpc_stub import NULL_HANDLE, build_pointer, encode_guid
from harness.wire.wire_error import WireError

DW_MQS_WINDOWS_SERVER = 0x0000_0500
"""The value of dwMQS in R_QMOpenRemoteQueue for a client that runs on Windows Server. Such a client needs no license.
"""
START_RECEIVE_METHODS, LOOKUP_METHOD = Method.START_RECEIVE, Method.START_RECEIVE_BY_LOOKUP_ID
BODY_OF_MESSAGES_FROM_PEER = b"of the peer"
"""int bytes: the size of the message bodies that a check reads."""
LABELS_BEYOND_ANY_QUEUE = 32
"""A number that is greater than the number of messages in any queue of a check. If a cursor returns as many messages,
it does not advance.
"""

_DIRECT_PREFIX = "DIRECT="
_ENDPOINT_MAPPER_PORT = 135
_HIGHEST_PORT_NUMBER = 0xFFFF


class RemoteReaderOfSut:
    """The SUT's interfaces qmcomm and qm2qm, as one test uses them."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.peer = peer
        self.sut = sut
        self._request_id = 0
        self._emptied: set[str] = set()
        self._read_port = sut.file.driver.rpc_read_port
        """The port of qm2qm, or 0 while it is unknown."""

    def associate(
        self,
        *interfaces: Syntax,
        transfers: tuple[Syntax, ...] = (NDR, NDR64),
        port: int | None = None,
        group: int = 0,
    ) -> Association:
        """Connect to the SUT and bind, by default to both interfaces, each at the port where the SUT serves the
        interface (MS-MQQP 3.1.4.8).

        ``port``: the only port at which to bind. ``group``: the association group to join.
        """
        wanted = interfaces or (QMCOMM, QM2QM)
        if port is None and self._read_port not in (0, self.sut.rpc_port) and QM2QM in wanted:
            return self._associate_at_two_ports(wanted, transfers, group)
        association = self.connect(port)
        refused, said = association.bind_and_list_rejected_interfaces(*wanted, transfers=transfers, group=group)
        if port is None and QM2QM in refused and said == "bind_ack":
            association.close()
            self._read_port = self._find_read_port()
            return self._associate_at_two_ports(wanted, transfers, group)
        if refused:
            raise ConformanceFailure(f"the SUT did not accept the interface {refused[0].uuid}: the answer was {said}")
        return association

    def get_read_port(self) -> int:
        """Return the port at which the SUT serves qm2qm. A check can then bind to any interface at this port."""
        if not self._read_port:
            refused, said = self.connect().bind_and_list_rejected_interfaces(QM2QM)
            self._read_port = self._find_read_port() if refused and said == "bind_ack" else self.sut.rpc_port
        return self._read_port

    def _associate_at_two_ports(
        self, wanted: tuple[Syntax, ...], transfers: tuple[Syntax, ...], group: int
    ) -> Association:
        """Bind to qm2qm at its separate port, and to all other interfaces at ``sut.rpc_port``."""
        reading = self.connect(self._read_port).bind(QM2QM, transfers=transfers, group=group)
        others = tuple(one for one in wanted if one != QM2QM)
        if others:
            at_rpc_port = self.connect().bind(*others, transfers=transfers)
            reading.elsewhere = dict.fromkeys(others, at_rpc_port)
        return reading

    def _find_read_port(self) -> int:
        """Find the port of qm2qm through a call to qmcomm (MS-MQMP 3.1.4.24) or, if the call fails, through the
        endpoint mapper (C706 O).

        Only privileged programs can listen at the endpoint mapper's usual port. An unprivileged SUT serves the endpoint
        mapper at the port of qmcomm.
        """
        mappers = (_ENDPOINT_MAPPER_PORT, self.sut.rpc_port)
        asking: list[Callable[[], int]] = [self._ask_qmcomm_for_port]
        asking += [partial(self._ask_endpoint_mapper, port) for port in mappers]
        for ask in asking:
            found = ask()
            if found and self._serves_qm2qm(found):
                return found
        raise ConformanceFailure(
            f"the SUT does not serve qm2qm at port {self.sut.rpc_port}, "
            "and neither R_QMGetRTQMServerPort nor the endpoint "
            "mapper returns its port: give driver.rpc_read_port in the SUT file"
        )

    def _ask_qmcomm_for_port(self) -> int:
        association = self.connect()
        refused, _ = association.bind_and_list_rejected_interfaces(QMCOMM)
        call = None if refused else association.call("R_QMGetRTQMServerPort", fIP=PortType.IP_READ)
        association.close()
        port = call.status if call is not None else None
        return port if port is not None and port <= _HIGHEST_PORT_NUMBER else 0

    def _serves_qm2qm(self, port: int) -> bool:
        try:
            association = self.connect(port)
        except SutUnavailable:
            return False
        refused, _ = association.bind_and_list_rejected_interfaces(QM2QM)
        association.close()
        return not refused

    def _ask_endpoint_mapper(self, port: int) -> int:
        try:
            association = self.connect(port)
        except SutUnavailable:
            return 0
        refused, _ = association.bind_and_list_rejected_interfaces(EPT)
        call = None if refused else association.call("ept_map", **build_map_arguments(QM2QM))
        association.close()
        try:
            found = read_ports(call.out) if call is not None and call.out is not None else []
        except WireError:  # no endpoint mapper listens at the port, or its answer is malformed
            found = []
        return found[0] if found else 0

    def connect(self, port: int | None = None) -> Association:
        """Connect to an RPC interface of the SUT without sending a bind."""
        association = Association(self.peer).connect(self.sut.rpc_port if port is None else port)
        self.peer.register_conversation(association)
        return association

    def open(
        self, queue: str = "plain", association: Association | None = None, client: UUID | None = None, **how: Any
    ) -> RemoteQueue:
        """Open a queue of the SUT for reading; raise ConformanceFailure if the SUT refuses. ``client``: the pLicGuid of
        RemoteQMOpenQueue. ``how``: arguments of ``open_remote``.
        """
        self.empty_queue(queue)
        association = association or self.associate()
        opened = self.open_remote(association, queue, **how).expect_success()
        return RemoteQueue(self, association, opened, client=client)

    def open_with_messages(self, *labels: str, **how: Any) -> RemoteQueue:
        """Open the plain queue, and send messages with the given labels to it, in the given order. ``how``:
        arguments of ``open``.
        """
        queue = self.open(**how)
        self.deliver(labels)
        return queue

    filled = open_with_messages

    def deliver(self, labels: Iterable[str], queue: str = "plain", **user: Any) -> None:
        """Send messages to a queue of the SUT; raise ConformanceFailure if the SUT does not acknowledge them."""
        self.send_messages_and_require_acks(
            [
                self.peer.recoverable_message(user, queue=queue, label=label, body=BODY_OF_MESSAGES_FROM_PEER)
                for label in labels
            ]
        )

    def send_messages_and_require_acks(self, packets: Sequence[Any]) -> None:
        """Send messages to queues of the SUT; raise ConformanceFailure if the SUT does not acknowledge them."""
        if not packets:
            return
        connection = self.peer.open_raw()
        for packet in packets:
            connection.send(packet)
        within_ms = self.sut.duration_ms(ACK_TIMEOUT_MS) + self.sut.slack_ms(ACK_TIMEOUT_MS)
        for _ in packets:  # one SessionAck may acknowledge several messages
            frame = connection.poll("SessionAck", within_ms=within_ms)
            if frame is None:
                raise ConformanceFailure("the SUT did not acknowledge the messages that the check reads next")
            if frame["SessionHeader"].AckSequenceNumber >= len(packets):
                break
        connection.close()

    def empty_queue(self, queue: str = "plain") -> None:
        """Empty a queue of the SUT as ``Sut.queue`` does. If the SUT does not have the facility queue_control, purge
        the queue remotely instead, but only once per test.
        """
        if self.sut.has("queue_control") or queue in self._emptied:
            return
        self._emptied.add(queue)
        association = self.associate()
        RemoteQueue(self, association, self.open_remote(association, queue).expect_success()).purge().expect_success()
        association.close()

    def open_remote(
        self,
        association: Association,
        queue: str = "plain",
        *,
        access: int = RECEIVE_ACCESS,
        share: int = DENY_NONE,
        form: Any = None,
        **arguments: Any,
    ) -> Call:
        """Call R_QMOpenRemoteQueue. ``queue``: plain, transactional or admin. ``form``: a QUEUE_FORMAT that
        replaces the QUEUE_FORMAT of the queue.
        """
        if form is None:
            form = queue_format(DIRECT, self.sut.format_name(queue).removeprefix(_DIRECT_PREFIX))
        given: dict[str, Any] = {
            "pQueueFormat": build_pointer(form),
            "dwDesiredAccess": access,
            "dwShareMode": share,
            "pLicGuid": encode_guid(self.peer.identifier),
            "dwMQS": DW_MQS_WINDOWS_SERVER,
        }
        return association.call("R_QMOpenRemoteQueue", **(given | arguments))

    def request_id(self) -> int:
        """Return a dwRequestID that no earlier call in this test has used."""
        self._request_id += 1
        return self._request_id


class RemoteQueue:
    """A queue of the SUT that the peer has opened for remote reading.

    ``opened``: the call of R_QMOpenRemoteQueue. ``session``: the call of RemoteQMOpenQueue, which must succeed
    unless ``settled`` is False.
    """

    UNKNOWN_HANDLE = 0x7F6D_7163
    """A handle that belongs to no queue or cursor. The handles of real systems are small numbers, or differ from this
    number in many bits.
    """
    NULL_HANDLE = NULL_HANDLE

    def __init__(
        self,
        remote: RemoteReaderOfSut,
        association: Association,
        opened: Call,
        *,
        settled: bool = True,
        client: UUID | None = None,
    ) -> None:
        self.remote = remote
        self.association = association
        self.opened = opened
        self.handle: int = opened.out.phQueue
        self.pointer: int = opened.out.dwpQueue
        self.context: int = opened.out.pdwContext
        self.session = self.open_session(client=client)
        if settled:
            self.session.expect_success()

    def open_session(self, *, client: UUID | None = None, **arguments: Any) -> Call:
        """Call RemoteQMOpenQueue with the handles that R_QMOpenRemoteQueue returned. ``client``: the argument
        pLicGuid.
        """
        given: dict[str, Any] = {
            "pLicGuid": encode_guid(client or self.remote.peer.identifier),
            "hQueue": self.handle,
            "pQueue": self.pointer,
            "dwpContext": self.context,
        }
        return self.association.call("RemoteQMOpenQueue", **(given | arguments))

    # -- reading ------------------------------------------------------------------------------------------------

    def description(self, action: int, **fields: Any) -> REMOTEREADDESC:
        """Build the REMOTEREADDESC argument of a call."""
        given = {"hRemoteQueue": self.handle, "dwQueue": self.pointer, "ulAction": action}
        if "dwRequestID" not in fields:
            given["dwRequestID"] = self.remote.request_id()
        return REMOTEREADDESC(**(given | fields))

    def begin(self, action: int = Action.RECEIVE, *, by: str | None = None, lookup_id: int = 0, **fields: Any) -> Call:
        """Call RemoteQMStartReceive, RemoteQMStartReceive2 or RemoteQMStartReceiveByLookupId without waiting for the
        answer.

        ``by``: the method, by default the newest one that the SUT's release supports. ``fields``: fields of
        REMOTEREADDESC.
        """
        old, new = Method.START_RECEIVE, Method.START_RECEIVE2
        by = by or (old if does_release_lack_method(self.remote.sut, new) else new)
        description = self.description(action, **fields)
        if by == old:
            return self.association.begin(by, lpRemoteReadDesc=description)
        arguments: dict[str, Any] = {"lpRemoteReadDesc2": build_desc2(description)}
        if by == LOOKUP_METHOD:
            arguments["LookupId"] = lookup_id
        return self.association.begin(by, **arguments)

    def read(self, action: int = Action.RECEIVE, **how: Any) -> Call:
        """Begin a read and wait for its answer."""
        return self.begin(action, **how).wait()

    def peek(self, **how: Any) -> Call:
        """Read the current message with the action PEEK_CURRENT."""
        return self.read(Action.PEEK_CURRENT, **how)

    def peek_next(self, **how: Any) -> Call:
        """Read the next message with the action PEEK_NEXT."""
        return self.read(Action.PEEK_NEXT, **how)

    def begin_receive(self, **how: Any) -> Call:
        """Begin a read with the action RECEIVE, without waiting for its answer."""
        return self.begin(Action.RECEIVE, **how)

    def start_receive(self, **how: Any) -> Call:
        """Begin a read with the action RECEIVE, and wait for its answer. The receive is not ended, so the message stays
        locked.
        """
        return self.read(Action.RECEIVE, **how)

    def look_up(self, action: int, lookup_id: int, **fields: Any) -> Call:
        """Read a message with RemoteQMStartReceiveByLookupId, and wait for the answer."""
        return self.read(action, by=Method.START_RECEIVE_BY_LOOKUP_ID, lookup_id=lookup_id, **fields)

    def acknowledge(self, receive: Call) -> Call:
        """End a receive with RR_ACK, which removes the message from the queue."""
        return self.end(receive, Ack.RR_ACK)

    def put_message_back(self, receive: Call) -> Call:
        """End a receive with RR_NACK, which returns the message to the queue."""
        return self.end(receive, Ack.RR_NACK)

    def end(self, read: Call, acknowledge: int = Ack.RR_ACK) -> Call:
        """Call RemoteQMEndReceive for a receive that the SUT has answered; raise ConformanceFailure if the receive
        returned no handle.
        """
        if read.out is None:
            raise ConformanceFailure(
                f"the check cannot end the receive, because the receive returned no handle: {read.outcome}"
            )
        return self.association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=acknowledge)

    def receive(self, action: int = Action.RECEIVE, **how: Any) -> Call:
        """Receive a message and acknowledge it; raise ConformanceFailure if the receive or the acknowledgment
        fails.
        """
        read = self.read(action, **how).expect_success()
        self.acknowledge(read).expect_success()
        return read

    def cancel(self, request_id: int) -> Call:
        """Call RemoteQMCancelReceive."""
        arguments = {"hQueue": self.handle, "pQueue": self.pointer, "dwRequestID": request_id}
        return self.association.call("RemoteQMCancelReceive", **arguments)

    def labels(self) -> list[str | None]:
        """Read the messages in the queue with a cursor; return their labels in order, at most
        ``LABELS_BEYOND_ANY_QUEUE``.
        """
        cursor = self.open_cursor()
        found: list[str | None] = []
        read = self.peek(hCursor=cursor)
        while read.outcome == "MQ_OK" and len(found) < LABELS_BEYOND_ANY_QUEUE:
            found.append(read.label)
            read = self.peek_next(hCursor=cursor)
        self.close_cursor(cursor).expect_success()
        return found

    # -- cursors and ends ---------------------------------------------------------------------------------------

    def open_cursor(self) -> int:
        """Open a cursor; return its phCursor, or raise ConformanceFailure if the SUT refuses."""
        return int(self.cursor().expect_success().out.phCursor)

    def cursor(self, **arguments: Any) -> Call:
        """Call R_QMCreateRemoteCursor."""
        given: dict[str, Any] = {"ptb1": transfer_buffer(), "hQueue": self.handle}
        return self.association.call("R_QMCreateRemoteCursor", **(given | arguments))

    def close_cursor(self, cursor: int, **arguments: Any) -> Call:
        """Call RemoteQMCloseCursor."""
        return self.association.call("RemoteQMCloseCursor", **({"hQueue": self.handle, "hCursor": cursor} | arguments))

    def purge(self) -> Call:
        """Call RemoteQMPurgeQueue."""
        return self.association.call("RemoteQMPurgeQueue", hQueue=self.handle)

    def close(self) -> Call:
        """Call RemoteQMCloseQueue."""
        return self.association.call("RemoteQMCloseQueue", pphContext=self.session.out.phContext)

    def close_context(self) -> Call:
        """Call R_QMCloseRemoteQueueContext."""
        return self.association.call("R_QMCloseRemoteQueueContext", pphContext=self.opened.out.pphContext)


def get_read_description(read: Call) -> Any:
    """Return the REMOTEREADDESC in an answer, or None if the answer has no REMOTEREADDESC."""
    return read.description
