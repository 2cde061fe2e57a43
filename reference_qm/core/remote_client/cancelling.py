"""Pending reads are cancelled; cursors are opened and closed. Spec: MS-MQQP 3.2.4.7, 3.2.4.8, MS-MQMP 3.2.4.8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_qm.core.remote_client.binding import call_application_method, call_method
from reference_qm.core.remote_client.model import PendingRemoteReadEntry, RemoteError, RemoteQueue, Sequence
from reference_qm.rpc.interfaces.qmcomm_types import zeroed_transfer_buffer

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager


def cancel_pending_read(qm: QueueManager, queue: RemoteQueue, request_id: int) -> Sequence:
    """Canceling a Pending Peek or Receive. Spec: MS-MQQP 3.2.4.7."""
    entry = qm.procedures.find_pending_read(qm, queue, request_id)
    try:
        yield from qm.procedures.call_cancel_receive(qm, entry)
    except RemoteError:
        qm.procedures.remove_cancelled_read(qm, entry)
        raise
    qm.procedures.remove_cancelled_read(qm, entry)


def find_pending_read(qm: QueueManager, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
    """Find the entry of a read that is pending; RemoteError when there is none. Spec: MS-MQQP 3.2.4.7.

    By QueueHandle, by RequestId and by server: two servers may give the same handle.
    """
    for entry in qm.remote_client.PendingRemoteReadEntryCollection:
        meant = entry.OpenQueueDescriptorHandle, entry.RequestId
        if entry.queue is queue and meant == (queue.QueueHandle, request_id):
            return entry
    raise RemoteError(f"no read {request_id} of {queue.FormatName!a} is pending (MS-MQQP 3.2.4.7)")


def call_cancel_receive(qm: QueueManager, entry: PendingRemoteReadEntry) -> Sequence:
    """Call RemoteQMCancelReceive. Spec: MS-MQQP 3.2.4.7."""
    assert entry.queue.binding is not None
    arguments = qm.procedures.build_cancel_receive(qm, entry)
    yield from call_method(qm, entry.queue.binding, "RemoteQMCancelReceive", **arguments)


def build_cancel_receive(qm: QueueManager, entry: PendingRemoteReadEntry) -> dict[str, Any]:
    """Give the parameters of RemoteQMCancelReceive. Spec: MS-MQQP 3.2.4.7."""
    return {
        "hQueue": entry.OpenQueueDescriptorHandle,
        "pQueue": entry.queue.QueueDescriptor,
        "dwRequestID": entry.RequestId,
    }


def cancel_every_pending_read(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Cancel what is pending before the queue is closed; the document allows it. Spec: MS-MQQP 3.2.4.9.

    What cannot be cancelled, because it ended meanwhile, does not keep the queue from being closed.
    """
    for entry in list(qm.remote_client.PendingRemoteReadEntryCollection):
        if entry.queue is queue:
            try:
                yield from qm.procedures.cancel_pending_read(qm, queue, entry.RequestId)
            except RemoteError:
                continue


def create_remote_cursor(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Create a cursor at the server. Returns its handle, u32. Spec: MS-MQMP 3.2.4.8, 3.1.4.4."""
    arguments = {"ptb1": zeroed_transfer_buffer(), "hQueue": queue.QueueHandle}
    results = yield from call_application_method(qm, queue.RemoteServer, "R_QMCreateRemoteCursor", **arguments)
    return results["phCursor"]


def close_remote_cursor(qm: QueueManager, queue: RemoteQueue, cursor: int) -> Sequence:
    """Closing a Cursor. Spec: MS-MQQP 3.2.4.8."""
    assert queue.binding is not None
    arguments = qm.procedures.build_close_cursor(qm, queue, cursor)
    yield from call_method(qm, queue.binding, "RemoteQMCloseCursor", **arguments)


def build_close_cursor(qm: QueueManager, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
    """Give the parameters of RemoteQMCloseCursor. Spec: MS-MQQP 3.2.4.8."""
    return {"hQueue": queue.QueueHandle, "hCursor": cursor}
