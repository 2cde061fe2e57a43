"""Faults that break the rule MQQP-3.1.4.6-D01."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status


@fault("server-cancelled-endless-read-not-answered", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledEndlessReadNotAnswered(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_OK for a read without a timeout, but the read ends only when a
    message arrives.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        if entry.Timeout == INFINITE_MS:
            self.qm.remote_reads.remove_remote_read_entry(entry)
            return Status.MQ_OK
        return super().cancel_remote_read(entry, status)


@fault("server-cancelled-read-still-takes-next-message", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledReadStillTakesNextMessage(WaitingReads):
    """The server answers a cancelled receive, but the receive still takes the next message of its queue."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().end_wait_without_message(reader, status)
        if status is CANCELED_STATUS and reader.DestructiveRead:
            reader.answered = lambda *_: None
            self.qm.readers[reader.number] = reader
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("server-cancelled-peek-answered-with-next-message", breaks="MQQP-3.1.4.6-D01")
class ServerCancelledPeekAnsweredWithNextMessage(WaitingReads):
    """The server does not end the wait of a cancelled peek: the response follows with the next message."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if status is not CANCELED_STATUS or reader.DestructiveRead:
            super().end_wait_without_message(reader, status)


@fault("server-cancel-of-any-read-ends-first-read-of-handle", breaks="MQQP-3.1.4.6-D01")
class ServerCancelOfAnyReadEndsFirstReadOfHandle(WaitingReads):
    """The server ends the wait of the first read of the handle when any read of the handle is cancelled."""

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        first = next(iter(reader.descriptor.WaitingMessageReadOperationCollection))
        super().end_wait_without_message(first if status is CANCELED_STATUS else reader, status)


@fault("server-cancelled-start-receive2-waits-on", breaks="MQQP-3.1.4.6-D01", blind=True)
class ServerCancelledStartReceive2WaitsOn(RemoteReadEnding):
    """RemoteQMCancelReceive returns MQ_OK for a waiting RemoteQMStartReceive2, but this call
    continues to wait.
    """

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        if entry.call.method.name != "RemoteQMStartReceive2" or entry.cancelled:
            return super().cancel_remote_read(entry, status)
        self.qm.remote_reads.remove_remote_read_entry(entry)
        return Status.MQ_OK
