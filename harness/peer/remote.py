"""Reading queues of the SUT from afar, step by step, as a check does it. Spec: MS-MQMP 3.1.4.2 to 4; MS-MQQP 3.1.4."""

from __future__ import annotations

from typing import Any

from harness.peer.association import Association, Call
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from harness.wire import dissect
from harness.wire.rpc import NDR, NDR64, QM2QM, QMCOMM, Syntax
from harness.wire.rpc_qm2qm import PEEK_CURRENT, PEEK_NEXT, RECEIVE, REMOTEREADDESC, RR_ACK, desc2
from harness.wire.rpc_qmcomm import DENY_NONE, DIRECT, RECEIVE_ACCESS, queue_format, transfer_buffer
from harness.wire.rpc_stub import NULL_HANDLE, guid, octets, pointer
from harness.wire.wire_error import WireError

WINDOWS_SERVER = 0x0000_0500
"""dwMQS of R_QMOpenRemoteQueue: no licence is counted for it."""
START, START2, LOOKUP = "RemoteQMStartReceive", "RemoteQMStartReceive2", "RemoteQMStartReceiveByLookupId"

_DIRECT = "DIRECT="


class Remote:
    """One test's view of the SUT's interfaces qmcomm and qm2qm."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.peer = peer
        self.sut = sut
        self._request_id = 0
        self._emptied: set[str] = set()

    def associate(
        self,
        *interfaces: Syntax,
        transfers: tuple[Syntax, ...] = (NDR, NDR64),
        port: int | None = None,
        group: int = 0,
    ) -> Association:
        """Connect and bind: both interfaces by default. ``group``: an association group to join."""
        association = self.connect(port)
        return association.bind(*(interfaces or (QMCOMM, QM2QM)), transfers=transfers, group=group)

    def connect(self, port: int | None = None) -> Association:
        """Connect only; nothing is bound."""
        association = Association(self.peer).connect(self.sut.rpc_port if port is None else port)
        self.peer.watch(association)
        return association

    def open(self, queue: str = "plain", association: Association | None = None, **how: Any) -> RemoteQueue:
        """Open a queue for reading; ConformanceFailure when the SUT refuses. ``how``: see ``open_remote``."""
        self.empty(queue)
        association = association or self.associate()
        opened = self.open_remote(association, queue, **how).settled()
        return RemoteQueue(self, association, opened)

    def empty(self, queue: str = "plain") -> None:
        """Empty a queue as ``Sut.queue`` does: from afar, once a test, where there is no queue control."""
        if self.sut.has("queue_control") or queue in self._emptied:
            return
        self._emptied.add(queue)
        association = self.associate()
        RemoteQueue(self, association, self.open_remote(association, queue).settled()).purge().settled()
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
        """Call R_QMOpenRemoteQueue. ``queue``: plain, transactional, admin; ``form``: the QUEUE_FORMAT instead."""
        if form is None:
            form = queue_format(DIRECT, self.sut.format_name(queue).removeprefix(_DIRECT))
        given: dict[str, Any] = {
            "pQueueFormat": pointer(form),
            "dwDesiredAccess": access,
            "dwShareMode": share,
            "pLicGuid": guid(self.peer.identifier),
            "dwMQS": WINDOWS_SERVER,
        }
        return association.call("R_QMOpenRemoteQueue", **(given | arguments))

    def request_id(self) -> int:
        """Return a dwRequestID that no call of this test has had."""
        self._request_id += 1
        return self._request_id


class RemoteQueue:
    """A queue of the SUT that is opened for remote reading.

    ``opened``: R_QMOpenRemoteQueue; ``session``: RemoteQMOpenQueue, which has to succeed unless ``settled`` is False.
    """

    def __init__(self, remote: Remote, association: Association, opened: Call, *, settled: bool = True) -> None:
        self.remote = remote
        self.association = association
        self.opened = opened
        self.handle: int = opened.out.phQueue
        self.pointer: int = opened.out.dwpQueue
        self.context: int = opened.out.pdwContext
        self.session = self.open_session()
        if settled:
            self.session.settled()

    def open_session(self, **arguments: Any) -> Call:
        """Call RemoteQMOpenQueue with what R_QMOpenRemoteQueue gave."""
        given: dict[str, Any] = {
            "pLicGuid": guid(self.remote.peer.identifier),
            "hQueue": self.handle,
            "pQueue": self.pointer,
            "dwpContext": self.context,
        }
        return self.association.call("RemoteQMOpenQueue", **(given | arguments))

    # -- reading ------------------------------------------------------------------------------------------------

    def description(self, action: int, **fields: Any) -> REMOTEREADDESC:
        """Make the REMOTEREADDESC of a call."""
        given = {"hRemoteQueue": self.handle, "dwQueue": self.pointer, "ulAction": action}
        if "dwRequestID" not in fields:
            given["dwRequestID"] = self.remote.request_id()
        return REMOTEREADDESC(**(given | fields))

    def begin(self, action: int = RECEIVE, *, by: str = START2, lookup_id: int = 0, **fields: Any) -> Call:
        """Call RemoteQMStartReceive, ...2 or ...ByLookupId (``by``) and do not wait; ``fields``: of REMOTEREADDESC."""
        description = self.description(action, **fields)
        if by == START:
            return self.association.begin(by, lpRemoteReadDesc=description)
        arguments: dict[str, Any] = {"lpRemoteReadDesc2": desc2(description)}
        if by == LOOKUP:
            arguments["LookupId"] = lookup_id
        return self.association.begin(by, **arguments)

    def read(self, action: int = RECEIVE, **how: Any) -> Call:
        """Begin a read and wait for its answer."""
        return self.begin(action, **how).wait()

    def end(self, read: Call, acknowledge: int = RR_ACK) -> Call:
        """Call RemoteQMEndReceive for a receive that was answered."""
        return self.association.call("RemoteQMEndReceive", pphContext=read.out.pphContext, dwAck=acknowledge)

    def receive(self, **how: Any) -> Call:
        """Receive a message and acknowledge it; ConformanceFailure when one of both fails."""
        read = self.read(RECEIVE, **how).settled()
        self.end(read).settled()
        return read

    def cancel(self, request_id: int) -> Call:
        """Call RemoteQMCancelReceive."""
        arguments = {"hQueue": self.handle, "pQueue": self.pointer, "dwRequestID": request_id}
        return self.association.call("RemoteQMCancelReceive", **arguments)

    def labels(self) -> list[str | None]:
        """Return the labels of the messages in the queue, by peeking along a cursor."""
        cursor = self.cursor().settled().out.phCursor
        found = []
        read = self.read(PEEK_CURRENT, hCursor=cursor)
        while read.outcome == "MQ_OK":
            found.append(label(read))
            read = self.read(PEEK_NEXT, hCursor=cursor)
        self.close_cursor(cursor).settled()
        return found

    # -- cursors and ends ---------------------------------------------------------------------------------------

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


def described(read: Call) -> Any:
    """Return the REMOTEREADDESC of an answer; None when it has none."""
    if read.out is None:
        return None
    if hasattr(read.out, "lpRemoteReadDesc"):
        return read.out.lpRemoteReadDesc
    behind = read.out.lpRemoteReadDesc2.pRemoteReadDesc
    return None if behind is None else behind.value


def packet_of(read: Call) -> Any:
    """Return the UserMessage that an answer brought, dissected; None when it brought none, or no packet."""
    description = described(read)
    data = octets(description.lpBuffer) if description is not None else None
    try:
        return dissect(data) if data else None
    except WireError:
        return None


def label(read: Call) -> str | None:
    """Return the label of the message that an answer brought; None when it brought none."""
    packet = packet_of(read)
    return None if packet is None else str(packet["MessagePropertiesHeader"].Label)


def no_handle(read: Call) -> bool:
    """Return whether the context handle of an answer is NULL."""
    return read.out is not None and bytes(read.out.pphContext) == NULL_HANDLE
