from __future__ import annotations

from collections.abc import Callable

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

CANCELED_STATUS = Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT


class RemoteReadEnding(QueueManagerPart):
    """Ends and cancels remote reads. Spec: MS-MQQP 3.1.4.2, 3.1.4.6, 3.1.6.2.

    The document leaves two points open, which this class resolves as follows. The status of a cancelled read is
    MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT (3.1.4.6), although 3.1.4.1 requires a failure HRESULT. A read whose queue
    was closed has no descriptor, so the read cannot end as the document specifies. In this case, the message stays in
    the queue, and the call returns MQ_ERROR_INVALID_PARAMETER for any dwAck.
    """

    __slots__ = ()

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        """End a receive. Spec: MS-MQQP 3.1.4.2."""
        if call.handle is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE, pphContext=None))
            return

        def answer_end(status: Status) -> None:
            self.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=None))

        delete_message = self.is_message_delivered(call.arguments["dwAck"])
        self.end_remote_read(call.handle.state, delete_message, answer_end)

    def is_message_delivered(self, ack: int) -> bool:
        """Return the iDeleteMessage for a dwAck. The value is true if the client received the message. Spec: MS-MQQP
        3.1.4.2.
        """
        return ack == RemoteReadAck.RR_ACK

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        """Raise the event Dequeue Message End. ``ended`` is called with rStatus. Spec: MS-MQQP 3.1.4.2.

        The read always ends. If the message cannot be deleted, it becomes available again, because no later call
        could unlock it.
        """
        entry.ended = True
        position = entry.UserMessagePacket
        assert position is not None
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None:
            self.qm.message_positions.unlock_message(position)
            ended(Status.MQ_ERROR_INVALID_PARAMETER)
            return

        def settle_end(status: Status) -> None:
            if status is Status.MQ_ERROR_MESSAGE_STORAGE_FAILED:
                self.qm.message_positions.unlock_message(position)
            ended(status)

        self.qm.two_phase_reading.dequeue_message_end(descriptor, position, delete_message, settle_end)

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        """End a receive whose client has disconnected, as if the client had sent RR_NACK. Spec: MS-MQQP 3.1.6.2.

        If the client has already ended the receive and only the disk has not confirmed the change, the outcome does
        not change.
        """
        if not entry.ended:
            self.end_remote_read(entry, self.get_rundown_ack(), _ignore_status)

    def get_rundown_ack(self) -> bool:
        """Return the iDeleteMessage that ends a read whose client has disconnected. Spec: MS-MQQP 3.1.6.2."""
        return self.is_message_delivered(RemoteReadAck.RR_NACK)

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        """Cancel a waiting read. Spec: MS-MQQP 3.1.4.6."""
        given = call.arguments
        status = self.check_cancel_queue(given["hQueue"], given["pQueue"])
        if not status:
            status, entry = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])
            if entry is not None:
                status = self.cancel_remote_read(entry, CANCELED_STATUS)
        self.qm.remote.carry_out_outputs(call.respond(Return=status))

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        """Return an error status if pQueue is 0 or differs from hQueue, otherwise MQ_OK. Spec: MS-MQQP 3.1.4.6."""
        return Status.MQ_OK if 0 != p_queue == h_queue else Status.MQ_ERROR_INVALID_PARAMETER

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        """Return MQ_OK and the read with the given queue handle and RequestId, or an error status and None. Spec:
        MS-MQQP 3.1.4.6.
        """
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        if not entries:
            return Status.MQ_ERROR_INVALID_HANDLE, None
        found = next((entry for entry in entries if entry.RequestId == request_id), None)
        return (Status.MQ_ERROR, None) if found is None else (Status.MQ_OK, found)

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        """Raise the event Cancel Waiting Message Read Request, and remove the read. Spec: MS-MQQP 3.1.4.6.

        The reads of a deleted queue have already been answered, so there is no read to cancel.
        """
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        cancelled = Status.STATUS_NOT_FOUND
        if queue is not None:
            cancelled = self.qm.waiting_reads.cancel_waiting_read(queue, entry.tag, status)
        self.qm.remote_reads.remove_remote_read_entry(entry)
        return cancelled

    def end_read_of_cancelled_call(self, call: Call) -> None:
        """End a read whose call the client cancelled, and answer the call with a fault. Spec: C706 12.6.4.6, 6.1.8."""
        entry = self.qm.remote.reads.get(call)
        if entry is not None:
            entry.cancelled = True
            self.cancel_remote_read(entry, CANCELED_STATUS)

    def end_read_of_orphaned_call(self, call: Call) -> None:
        """End a read whose client no longer waits for an answer. Spec: C706 12.6.4.8, MS-RPCE 3.3.3.7.1."""
        entry = self.qm.remote.reads.get(call)
        if entry is not None:
            self.cancel_remote_read(entry, CANCELED_STATUS)


def _ignore_status(status: Status) -> None:
    """Ignore the status of a read that ended because its client has disconnected. There is no client to which the
    status could be returned.
    """
