from __future__ import annotations

from contextlib import suppress
from typing import Any

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.rpc.interfaces.qmcomm_types import build_zeroed_transfer_buffer


class ClientReadCancelling(QueueManagerPart):
    """Cancels pending reads, and opens and closes cursors. Spec: MS-MQQP 3.2.4.7, 3.2.4.8, MS-MQMP 3.2.4.8."""

    __slots__ = ()

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> RemoteCallSequence:
        """Cancel a pending peek or receive. Spec: MS-MQQP 3.2.4.7.

        The request of a read is sent after the server has returned its version. Until then, the server does not
        know the read, so the read is only removed locally.
        """
        entry = self.find_pending_read(queue, request_id)
        try:
            if entry.is_sent_to_server:
                yield from self.call_cancel_receive(entry)
            else:
                entry.is_cancelled_before_sending = True
        except RemoteError:
            self.remove_cancelled_read(entry)
            raise
        self.remove_cancelled_read(entry)

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        """Remove the entry of a cancelled read. Spec: MS-MQQP 3.2.4.7."""
        self.qm.client_message_reading.remove_pending_read(entry)

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        """Return the entry of a pending read; raise RemoteError if there is no such read. Spec: MS-MQQP 3.2.4.7.

        The search compares the server in addition to QueueHandle and RequestId, because two servers may return the
        same handle.
        """
        for entry in self.qm.remote_client.PendingRemoteReadEntryCollection:
            meant = entry.OpenQueueDescriptorHandle, entry.RequestId
            if entry.queue is queue and meant == (queue.QueueHandle, request_id):
                return entry
        raise RemoteError(f"{queue.FormatName!a} has no pending read {request_id} (MS-MQQP 3.2.4.7)")

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        """Call RemoteQMCancelReceive. Spec: MS-MQQP 3.2.4.7."""
        assert entry.queue.binding is not None
        arguments = self.build_cancel_receive_arguments(entry)
        yield from self.qm.server_bindings.call_method(entry.queue.binding, "RemoteQMCancelReceive", **arguments)

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        """Return the arguments for RemoteQMCancelReceive. Spec: MS-MQQP 3.2.4.7."""
        return {
            "hQueue": entry.OpenQueueDescriptorHandle,
            "pQueue": entry.queue.QueueDescriptor,
            "dwRequestID": entry.RequestId,
        }

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Cancel the pending reads of a queue before the queue is closed, as the document permits. Spec: MS-MQQP
        3.2.4.9.

        A read that has ended in the meantime cannot be cancelled, but does not prevent the close.
        """
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue:
                with suppress(RemoteError):
                    yield from self.cancel_pending_read(queue, entry.RequestId)

    def create_remote_cursor(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Create a cursor at the server, and return its handle, u32. Spec: MS-MQMP 3.2.4.8, 3.1.4.4."""
        arguments = {"ptb1": build_zeroed_transfer_buffer(), "hQueue": queue.QueueHandle}
        results = yield from self.qm.server_bindings.call_application_method(
            queue.RemoteServer, "R_QMCreateRemoteCursor", **arguments
        )
        return results["phCursor"]

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        """Close a cursor. Spec: MS-MQQP 3.2.4.8."""
        assert queue.binding is not None
        arguments = self.build_close_cursor_arguments(queue, cursor)
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMCloseCursor", **arguments)

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        """Return the arguments for RemoteQMCloseCursor. Spec: MS-MQQP 3.2.4.8."""
        return {"hQueue": queue.QueueHandle, "hCursor": cursor}
