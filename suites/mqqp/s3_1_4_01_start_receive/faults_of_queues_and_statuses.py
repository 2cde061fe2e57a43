"""Faults of RemoteQMStartReceive and RemoteQMStartReceive2 with unopened queues, thrown statuses, request numbers and
cursors.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


class StartReceiveMethodRecorder(RemoteReadStarting):
    """A part of the queue manager that knows which method starts the current read."""

    method = ""

    def remote_qm_start_receive(self, call: Call, now: Now) -> None:
        self.method = call.method.name
        super().remote_qm_start_receive(call, now)

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        self.method = call.method.name
        super().remote_qm_start_receive2(call, now)


@fault("server-start-receive-reads-unopened-queue-if-other-queue-is-open", breaks="MQQP-3.1.4.1-D10", blind=True)
class ServerStartReceiveReadsUnopenedQueueIfOtherQueueIsOpen(StartReceiveMethodRecorder):
    """RemoteQMStartReceive reads from an unopened queue if RemoteQMOpenQueue has opened any other queue."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.method == "RemoteQMStartReceive" and len(self.qm.remote.OpenQueueEntryCollection):
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-start-receive-by-cursor-reads-unopened-queue", breaks="MQQP-3.1.4.1-D10", blind=True)
class ServerStartReceiveByCursorReadsUnopenedQueue(StartReceiveMethodRecorder):
    """RemoteQMStartReceive with a cursor reads from a queue that RemoteQMOpenQueue has not opened."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.method == "RemoteQMStartReceive" and desc["hCursor"]:
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-start-receive2-reads-unopened-queue-if-other-queue-is-open", breaks="MQQP-3.1.4.10-19", blind=True)
class ServerStartReceive2ReadsUnopenedQueueIfOtherQueueIsOpen(StartReceiveMethodRecorder):
    """RemoteQMStartReceive2 reads from an unopened queue if RemoteQMOpenQueue has opened any other queue."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.method == "RemoteQMStartReceive2" and len(self.qm.remote.OpenQueueEntryCollection):
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-start-receive2-returns-invalid-handle-for-closed-queue", breaks="MQQP-3.1.4.10-19", blind=True)
class ServerStartReceive2ReturnsInvalidHandleForClosedQueue(StartReceiveMethodRecorder):
    """RemoteQMStartReceive2 returns MQ_ERROR_INVALID_HANDLE for a queue that was opened and is closed again."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        status = super().check_open_queue(desc)
        opened: set[int] = self.__dict__.setdefault("opened", set())
        if not status:
            opened.add(desc["hRemoteQueue"])
        elif self.method == "RemoteQMStartReceive2" and desc["hRemoteQueue"] in opened:
            return Status.MQ_ERROR_INVALID_HANDLE
        return status


class StatusThrownByRemoteQMStartReceive(RemoteReads):
    """A part of the queue manager that throws one status of RemoteQMStartReceive as an RPC fault."""

    thrown: Status

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is self.thrown and call.method.name == "RemoteQMStartReceive":
            self.qm.remote.carry_out_outputs(call.fault(status))
        else:
            super().answer_read(call, status, entry)


@fault("server-start-receive-throws-io-timeout", breaks="MQQP-3.1.4.1-D21", blind=True)
class ServerStartReceiveThrowsIoTimeout(StatusThrownByRemoteQMStartReceive):
    """RemoteQMStartReceive throws the status MQ_ERROR_IO_TIMEOUT of a read that finds no message in time."""

    thrown = Status.MQ_ERROR_IO_TIMEOUT


@fault("server-start-receive-throws-message-already-received", breaks="MQQP-3.1.4.1-D21", blind=True)
class ServerStartReceiveThrowsMessageAlreadyReceived(StatusThrownByRemoteQMStartReceive):
    """RemoteQMStartReceive throws the status MQ_ERROR_MESSAGE_ALREADY_RECEIVED of a read by a cursor."""

    thrown = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED


@fault("server-start-receive2-accepts-dw-request-id-of-waiting-peek", breaks="MQQP-3.1.4.10-15", blind=True)
class ServerStartReceive2AcceptsDwRequestIdOfWaitingPeek(RemoteReadStarting):
    """RemoteQMStartReceive2 accepts the dwRequestID of a waiting peek of the same queue handle."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        taken = {entry.RequestId for entry in pending if entry.Action in RECEIVE_ACTIONS}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in taken else Status.MQ_OK


@fault("server-start-receive2-refuses-dw-request-id-of-other-handle", breaks="MQQP-3.1.4.10-16", blind=True)
class ServerStartReceive2RefusesDwRequestIdOfOtherHandle(RemoteReadStarting):
    """RemoteQMStartReceive2 refuses the dwRequestID of a read that waits with another queue handle."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        taken = {entry.RequestId for entry in self.qm.remote.RemoteReadEntryCollection}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in taken else Status.MQ_OK


@fault("server-start-receive2-accepts-h-cursor-of-other-queue-handle", breaks="MQQP-3.1.4.10-21", blind=True)
class ServerStartReceive2AcceptsHCursorOfOtherQueueHandle(RemoteReadStarting):
    """RemoteQMStartReceive2 reads by a cursor that was created with another handle of the queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        if descriptor.QueueReference is not None:
            for other in descriptor.QueueReference.OpenQueueDescriptorCollection.values():
                if handle in other.CursorCollection:
                    return other.CursorCollection[handle]
        return super().find_remote_cursor(descriptor, handle)


@fault("server-start-receive2-accepts-h-cursor-of-closed-cursor", breaks="MQQP-3.1.4.10-21", blind=True)
class ServerStartReceive2AcceptsHCursorOfClosedCursor(StartReceiveMethodRecorder):
    """RemoteQMStartReceive2 with the handle of a cursor that was closed reads without a cursor."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        known: set[int] = self.__dict__.setdefault("known", set())
        found = super().find_remote_cursor(descriptor, handle)
        if found is not None:
            known.add(handle)
        elif handle in known and self.method == "RemoteQMStartReceive2":
            found = self.qm.queue_cursors.open(descriptor)
        return found


@fault("server-start-receive2-sequential-id-of-waiting-read-is-zero", breaks="MQQP-3.1.4.10-D01", blind=True)
class ServerStartReceive2SequentialIdOfWaitingReadIsZero(RemoteReads):
    """RemoteQMStartReceive2 returns the SequentialId 0 for a message that arrives while the read waits."""

    started_read_entry: RemoteReadEntry | None = None
    has_waited = False

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.started_read_entry = entry
        super().remote_receive(entry, descriptor, cursor, now)
        self.started_read_entry = None

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.started_read_entry = entry
        super().remote_peek(entry, descriptor, cursor, now)
        self.started_read_entry = None

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        self.has_waited = self.started_read_entry is not entry and entry.Timeout > 0
        super().complete_remote_read(entry, status, position)
        self.has_waited = False

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.has_waited else super().get_sequential_id(position)


@fault("server-start-receive2-ignores-ul-timeout-of-peek", breaks="MQQP-3.1.4.10-D01", blind=True)
class ServerStartReceive2IgnoresUlTimeoutOfPeek(RemoteReads):
    """RemoteQMStartReceive2, unlike RemoteQMStartReceive, does not wait for a message to peek at."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.call.method.name == "RemoteQMStartReceive2":
            entry.Timeout = 0
        super().remote_peek(entry, descriptor, cursor, now)
