"""Faults of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive that affect only one kind of read or one state."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction


class _CancelledLocally(ClientReading):
    """The client does not call RemoteQMCancelReceive when its application cancels certain reads."""

    def is_ignored(self, read: RemoteRead) -> bool:
        """Return whether the client cancels a read without a call of RemoteQMCancelReceive."""
        return False

    def start_receive2(self, read: RemoteRead) -> Sequence:
        if read.entry is not None and self.is_ignored(read):
            read.entry.is_known = False
        return (yield from super().start_receive2(read))

    def start_receive(self, read: RemoteRead) -> Sequence:
        if read.entry is not None and self.is_ignored(read):
            read.entry.is_known = False
        return (yield from super().start_receive(read))


@fault("client-cancel-of-peek-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfPeekNotSent(_CancelledLocally):
    """The client does not call RemoteQMCancelReceive when its application cancels a peek without a cursor."""

    def is_ignored(self, read: RemoteRead) -> bool:
        return read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT and not read.CursorHandle


@fault("client-cancel-of-receive-by-cursor-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfReceiveByCursorNotSent(_CancelledLocally):
    """The client does not call RemoteQMCancelReceive when its application cancels a receive by a cursor."""

    def is_ignored(self, read: RemoteRead) -> bool:
        return read.receives and bool(read.CursorHandle)


@fault("client-cancel-of-endless-read-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfEndlessReadNotSent(_CancelledLocally):
    """The client does not call RemoteQMCancelReceive when its application cancels a read without a time limit."""

    def is_ignored(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-cancel-of-read-by-start-receive-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfReadByStartReceiveNotSent(ClientReading):
    """The client does not call RemoteQMCancelReceive for a read that it began with RemoteQMStartReceive."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        if read.entry is not None:
            read.entry.is_known = False
        return (yield from super().start_receive(read))


@fault("client-entry-of-refused-cancel-kept", breaks="MQQP-3.2.4.7-07", blind=True)
class ClientEntryOfRefusedCancelKept(ClientCancelling):
    """The client keeps the PendingRemoteReadEntry of a read if RemoteQMCancelReceive returned a failure."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> Sequence:
        entry = self.find_pending_read(queue, request_id)
        try:
            yield from super().cancel_pending_read(queue, request_id)
        except RemoteError:
            self.qm.remote_client.PendingRemoteReadEntryCollection.append(entry)
            raise


@fault("client-cancel-finds-read-of-other-queue", breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-04"), blind=True)
class ClientCancelFindsReadOfOtherQueue(ClientCancelling):
    """When the client cancels a read of a queue, it cancels the pending read of the queue that it opened first."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        found = super().find_pending_read(queue, request_id)
        first = next(iter(self.qm.remote_client.queues.values()))
        for one in self.qm.remote_client.PendingRemoteReadEntryCollection:
            if one.queue is first and one.is_known:
                return one
        return found
