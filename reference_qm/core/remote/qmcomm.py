"""The methods of qmcomm that lead to remote reading. Spec: MS-MQMP 3.1.4.2 to 3.1.4.4, 3.1.4.24, 3.1.7.2.

Readings. A sharing violation is STATUS_SHARING_VIOLATION as MS-MQMP prints it, not MQ_ERROR_SHARING_VIOLATION of
MS-MQDMPR. pdwContext, dwpQueue and phQueue all are the handle of the descriptor, as on every Windows since XP (<28>).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_qm.core.queueing.commanding import OPEN_LIMIT
from reference_qm.core.queueing.opening import Opened
from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.core.remote.model import RemoteQueueOpenContextHandle
from reference_qm.core.remote.queue_formats import format_name_of
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.security import QueueAccess, is_granted
from reference_qm.security.sid import ANONYMOUS, EVERYONE

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Queue
    from reference_qm.model.elements import OpenQueueDescriptor
    from reference_qm.rpc import Call
    from reference_qm.surface.clock import Now

ACCESS: dict[int, QueueAccessType] = {
    DesiredAccess.MQ_RECEIVE_ACCESS: QueueAccessType.RECEIVE,
    DesiredAccess.MQ_PEEK_ACCESS: QueueAccessType.PEEK,
}
SHARE: dict[int, QueueShareMode] = {
    ShareMode.MQ_DENY_NONE: QueueShareMode.DENY_NONE,
    ShareMode.MQ_DENY_RECEIVE_SHARE: QueueShareMode.DENY_RECEIVE,
}
CURSOR_LIMIT = 1_024
"""Cursors of one handle: whoever has thousands of handles must not have millions of cursors."""
NOBODY_KNOWN = frozenset({EVERYONE, ANONYMOUS})
"""Whose rights a client has: no security context is spoken here, so that every client is anonymous."""


def r_qm_open_remote_queue(qm: QueueManager, call: Call, now: Now) -> None:
    """Open a queue to read from it. Spec: MS-MQMP 3.1.4.2."""
    status, descriptor = qm.procedures.open_remote_queue(qm, call.arguments, now)
    if descriptor is None:
        status = qm.procedures.get_open_failure(qm, status)
        qm.remote.note(call.respond(Return=status, pphContext=None, pdwContext=0, dwpQueue=0, phQueue=0))
        return
    descriptor.RemoteReadState = RemoteReadState.OPENED
    context = RemoteQueueOpenContextHandle(descriptor)
    qm.remote.RemoteQueueOpenContextHandleTable[context] = None
    values = qm.procedures.get_open_values(qm, descriptor)
    qm.remote.note(call.respond(Return=Status.MQ_OK, pphContext=call.new_handle(context), **values))


def open_remote_queue(qm: QueueManager, given: dict[str, Any], now: Now) -> Opened:
    """Check what a client gives, and raise Open Queue. Spec: MS-MQMP 3.1.4.2.

    dwCallingProcessID, pLicGuid and dwMQS are ignored (notes <15> to <25>). More descriptors than a queue manager has
    room for are refused with MQ_ERROR_INSUFFICIENT_RESOURCES.
    """
    if given["dwDesiredAccess"] not in ACCESS or given["dwShareMode"] not in SHARE or given["pQueueFormat"] is None:
        return Status.MQ_ERROR_INVALID_PARAMETER, None
    format_name = format_name_of(qm, given["pQueueFormat"])
    if format_name is None:
        return Status.MQ_ERROR_ILLEGAL_FORMATNAME, None
    if len(qm.descriptors) >= OPEN_LIMIT:
        return Status.MQ_ERROR_INSUFFICIENT_RESOURCES, None
    access = ACCESS[given["dwDesiredAccess"]]
    status, descriptor = qm.procedures.open_queue(qm, format_name, access, SHARE[given["dwShareMode"]], now)
    if descriptor is None or descriptor.QueueReference is None:
        return status, None
    queue = descriptor.QueueReference
    refused = Status.MQ_ERROR_QUEUE_NOT_FOUND if isinstance(queue, OutgoingQueue) else Status.MQ_OK
    refused = refused or qm.procedures.check_reader(qm, queue, access)
    if refused:
        qm.procedures.close_queue(qm, descriptor)
        return refused, None
    return Status.MQ_OK, descriptor


def check_reader(qm: QueueManager, queue: Queue, access: QueueAccessType) -> Status:
    """Refuse who may not read from a queue. Spec: MS-MQMP 2.1, MS-MQMQ 2.2.24, MS-DTYP 2.5.3.2."""
    wanted = QueueAccess.MQSEC_PEEK_MESSAGE
    if access is QueueAccessType.RECEIVE:
        is_journal = queue.Pathname.lower().endswith(";journal")
        wanted = QueueAccess.MQSEC_RECEIVE_JOURNAL_MESSAGE if is_journal else QueueAccess.MQSEC_RECEIVE_MESSAGE
    granted = is_granted(qm.procedures.find_queue_security(qm, queue), NOBODY_KNOWN, wanted)
    return Status.MQ_OK if granted else Status.MQ_ERROR_ACCESS_DENIED


def get_open_failure(qm: QueueManager, status: Status) -> Status:
    """Give the status under which Open Queue failed, as this interface returns it. Spec: MS-MQMP 3.1.4.2."""
    return Status.STATUS_SHARING_VIOLATION if status is Status.MQ_ERROR_SHARING_VIOLATION else status


def get_open_values(qm: QueueManager, descriptor: OpenQueueDescriptor) -> dict[str, int]:
    """Give the values that stand for a descriptor, u32 each. Spec: MS-MQMP 3.1.4.2."""
    return dict.fromkeys(("pdwContext", "dwpQueue", "phQueue"), descriptor.Handle)


def r_qm_close_remote_queue_context(qm: QueueManager, call: Call, now: Now) -> None:
    """Close what R_QMOpenRemoteQueue opened. Spec: MS-MQMP 3.1.4.3."""
    if call.handle is not None:
        qm.procedures.close_open_context(qm, call.handle.state)
    qm.remote.note(call.respond(pphContext=None))


def close_open_context(qm: QueueManager, context: RemoteQueueOpenContextHandle) -> None:
    """Close a descriptor that RemoteQMOpenQueue has not taken over, and forget the context. Spec: MS-MQMP 3.1.4.3."""
    if context not in qm.remote.RemoteQueueOpenContextHandleTable:
        return
    del qm.remote.RemoteQueueOpenContextHandleTable[context]
    descriptor = context.OpenQueueDescriptorReference
    if descriptor.RemoteReadState is RemoteReadState.OPENED:
        qm.procedures.close_queue(qm, descriptor)


def run_down_open_remote(qm: QueueManager, context: RemoteQueueOpenContextHandle) -> None:
    """Close what a client left behind. Spec: MS-MQMP 3.1.7.2."""
    qm.procedures.close_open_context(qm, context)


def r_qm_create_remote_cursor(qm: QueueManager, call: Call, now: Now) -> None:
    """Make a cursor. Spec: MS-MQMP 3.1.4.4."""
    descriptor = qm.procedures.find_remote_descriptor(qm, call.arguments["hQueue"])
    status, handle = Status.MQ_ERROR_INVALID_HANDLE, 0
    if descriptor is not None and len(descriptor.CursorCollection) >= CURSOR_LIMIT:
        status = Status.MQ_ERROR_INSUFFICIENT_RESOURCES
    elif descriptor is not None and (cursor := qm.procedures.open_cursor(qm, descriptor)) is not None:
        status, handle = Status.MQ_OK, cursor.Handle
    qm.remote.note(call.respond(Return=status, phCursor=handle))


def r_qm_get_rtqm_server_port(qm: QueueManager, call: Call, now: Now) -> None:
    """Tell a port. Spec: MS-MQMP 3.1.4.24."""
    qm.remote.note(call.respond(Return=qm.procedures.get_server_port(qm, call.arguments["fIP"])))
