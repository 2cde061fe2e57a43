"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10: refused reads, and reads of another queue."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

ReadDescriptionFields = dict[str, Any]
UNKNOWN_CURSOR_RULES = ("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17")
CURSOR_OF_OTHER_QUEUE_RULES = ("MQQP-3.1.4.1-D11", "MQQP-3.1.4.10-20")


# -- queues that RemoteQMOpenQueue has not opened


@fault("server-peek-of-queue-without-remote-qm-open-queue-accepted", breaks="MQQP-3.1.4.10-18", blind=True)
class ServerPeekOfQueueWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """The server accepts a peek with a handle of R_QMOpenRemoteQueue for which RemoteQMOpenQueue was not called."""

    def check_open_queue(self, desc: ReadDescriptionFields) -> Status:
        peek = desc["ulAction"] == ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK if peek else super().check_open_queue(desc)


@fault("server-read-by-cursor-without-remote-qm-open-queue-accepted", breaks="MQQP-3.1.4.10-18", blind=True)
class ServerReadByCursorWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """The server accepts a read by a cursor of a queue handle for which RemoteQMOpenQueue was not called."""

    def check_open_queue(self, desc: ReadDescriptionFields) -> Status:
        return Status.MQ_OK if desc["hCursor"] else super().check_open_queue(desc)


@fault(
    "server-accepts-second-handle-without-remote-qm-open-queue",
    breaks=("MQQP-3.1.4.10-18", "MQQP-3.1.4.11-25"),
    blind=True,
)
class ServerAcceptsSecondHandleWithoutRemoteQmOpenQueue(RemoteReadStarting):
    """The server accepts a handle for which RemoteQMOpenQueue was not called, if another handle of the same queue was
    opened by RemoteQMOpenQueue.
    """

    def check_open_queue(self, desc: ReadDescriptionFields) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        for other in [] if queue is None else list(queue.OpenQueueDescriptorCollection.values()):
            if other.RemoteReadState is RemoteReadState.READY_FOR_READ:
                return Status.MQ_OK
        return super().check_open_queue(desc)


@fault(
    "server-refuses-reads-of-first-queue-after-second-open-queue",
    breaks=("MQQP-3.1.4.10-18", "MQQP-3.1.4.11-25"),
    blind=True,
)
class ServerRefusesReadsOfFirstQueueAfterSecondOpenQueue(RemoteQueueOpening):
    """The server refuses reads of the queue that a client opened first, after the client opened a second queue."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        opened = self.qm.remote.OpenQueueEntryCollection
        for other in list(opened):
            if other is not entry and other.ClientId == entry.ClientId:
                opened.remove(other)


# -- PEEK_NEXT without a cursor


@fault("server-peek-next-without-cursor-uses-open-cursor-of-handle", breaks=UNKNOWN_CURSOR_RULES, blind=True)
class ServerPeekNextWithoutCursorUsesOpenCursorOfHandle(RemoteReadStarting):
    """A PEEK_NEXT whose hCursor is 0 uses the cursor of its queue handle, if the handle has an open cursor."""

    def check_peek_next_cursor(self, desc: ReadDescriptionFields) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        if descriptor is not None and descriptor.CursorCollection and not desc["hCursor"]:
            desc["hCursor"] = next(iter(descriptor.CursorCollection))
        return super().check_peek_next_cursor(desc)


@fault("server-peek-next-without-cursor-of-empty-queue-times-out", breaks=UNKNOWN_CURSOR_RULES, blind=True)
class ServerPeekNextWithoutCursorOfEmptyQueueTimesOut(RemoteReadStarting):
    """A PEEK_NEXT whose hCursor is 0 returns MQ_ERROR_IO_TIMEOUT if the queue is empty."""

    def check_peek_next_cursor(self, desc: ReadDescriptionFields) -> Status:
        status = super().check_peek_next_cursor(desc)
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        empty = queue is not None and not list(queue.MessagePositionList)
        return Status.MQ_ERROR_IO_TIMEOUT if status and empty else status


@fault("server-timed-peek-next-without-cursor-returns-invalid-parameter", breaks=UNKNOWN_CURSOR_RULES, blind=True)
class ServerTimedPeekNextWithoutCursorReturnsInvalidParameter(RemoteReadStarting):
    """A PEEK_NEXT whose hCursor is 0 returns MQ_ERROR_INVALID_PARAMETER if its ulTimeout is not 0."""

    def check_peek_next_cursor(self, desc: ReadDescriptionFields) -> Status:
        status = super().check_peek_next_cursor(desc)
        return Status.MQ_ERROR_INVALID_PARAMETER if status and desc["ulTimeout"] else status


@fault("server-peek-handle-next-without-cursor-returns-invalid-parameter", breaks=UNKNOWN_CURSOR_RULES, blind=True)
class ServerPeekHandleNextWithoutCursorReturnsInvalidParameter(RemoteReadStarting):
    """A PEEK_NEXT whose hCursor is 0 returns MQ_ERROR_INVALID_PARAMETER if its handle was opened to peek."""

    def check_peek_next_cursor(self, desc: ReadDescriptionFields) -> Status:
        status = super().check_peek_next_cursor(desc)
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        peeks = descriptor is not None and descriptor.AccessType is QueueAccessType.PEEK
        return Status.MQ_ERROR_INVALID_PARAMETER if status and peeks else status


# -- reads of another queue


@fault("server-read-by-cursor-of-other-queue-reads-other-queue", breaks=CURSOR_OF_OTHER_QUEUE_RULES, blind=True)
class ServerReadByCursorOfOtherQueueReadsOtherQueue(RemoteReadStarting):
    """A read whose hCursor is a cursor of another queue handle reads the queue of that handle."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        for other in self.qm.descriptors.values():
            if handle in other.CursorCollection:
                return other.CursorCollection[handle]
        return super().find_remote_cursor(descriptor, handle)


@fault("server-waiting-read-answered-by-message-of-other-queue", breaks=CURSOR_OF_OTHER_QUEUE_RULES, blind=True)
class ServerWaitingReadAnsweredByMessageOfOtherQueue(WaitingReads):
    """A waiting read of a queue returns a message that arrives in another queue."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        super().pass_new_message_to_waiting_readers(position)
        for descriptor in list(self.qm.descriptors.values()):
            if descriptor.RemoteReadState is RemoteReadState.NONE:
                continue
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers and self.qm.message_search.is_message_readable(position, True):
                    self.pass_message_to_waiting_reader(reader, position)


@fault("server-peek-of-empty-queue-reads-other-open-queue", breaks=CURSOR_OF_OTHER_QUEUE_RULES, blind=True)
class ServerPeekOfEmptyQueueReadsOtherOpenQueue(RemoteReads):
    """A peek without a cursor at an empty queue returns a message of another queue that is open for remote reading."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        queue = descriptor.QueueReference
        if queue is not None and cursor is None and not list(queue.MessagePositionList):
            for other in self.qm.descriptors.values():
                remote = other.RemoteReadState is not RemoteReadState.NONE and other.QueueReference is not None
                if remote and list(other.QueueReference.MessagePositionList):  # type: ignore[union-attr]
                    descriptor = other
        super().remote_peek(entry, descriptor, cursor, now)


# -- a description that is NULL


@fault("server-later-null-read-desc-returns-invalid-parameter", breaks="MQQP-3.1.4.10-13", blind=True)
class ServerLaterNullReadDescReturnsInvalidParameter(RemoteReadStarting):
    """After an earlier read, RemoteQMStartReceive2 returns MQ_ERROR_INVALID_PARAMETER if pRemoteReadDesc is NULL."""

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        super().remote_qm_start_receive2(call, now)
        self.__dict__["reads"] = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"] is not None

    def check_read_description(self, desc: ReadDescriptionFields | None) -> Status:
        status = super().check_read_description(desc)
        return Status.MQ_ERROR_INVALID_PARAMETER if status and self.__dict__.get("reads") else status


@fault("server-start-receive2-second-null-description-faults", breaks="MQQP-3.1.4.10-13", blind=True)
class ServerStartReceive2SecondNullDescriptionFaults(RemoteReadStarting):
    """RemoteQMStartReceive2 answers the second call in which pRemoteReadDesc is NULL with a fault."""

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        null = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"] is None
        if null and self.__dict__.get("seen"):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
            return
        self.__dict__["seen"] = null
        super().remote_qm_start_receive2(call, now)


@fault("server-start-receive2-null-description-with-sequential-id-accepted", breaks="MQQP-3.1.4.10-13", blind=True)
class ServerStartReceive2NullDescriptionWithSequentialIdAccepted(RemoteReadStarting):
    """RemoteQMStartReceive2 returns MQ_OK if pRemoteReadDesc is NULL and SequentialId is not 0."""

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        given = call.arguments["lpRemoteReadDesc2"]
        if given["pRemoteReadDesc"] is None and given["SequentialId"]:
            self.qm.remote_reads.answer_read(call, Status.MQ_OK)
            return
        super().remote_qm_start_receive2(call, now)


# -- exceptions


class RefusalFaultSender(RemoteReads):
    """Answer some refused calls of RemoteQMStartReceive2 with a fault; a subclass selects which."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        """Return whether a refused call is answered with a fault."""
        raise NotImplementedError

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.method.name == "RemoteQMStartReceive2"
        if second and status is not Status.MQ_OK and self.is_answered_by_fault(call, status, entry):
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().answer_read(call, status, entry)


@fault("server-start-receive2-faults-for-unknown-cursor", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsForUnknownCursor(RefusalFaultSender):
    """RemoteQMStartReceive2 with an unknown hCursor raises an exception."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.STATUS_INVALID_PARAMETER


@fault("server-start-receive2-faults-after-timeout", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsAfterTimeout(RefusalFaultSender):
    """RemoteQMStartReceive2 raises an exception when its ulTimeout has passed."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.MQ_ERROR_IO_TIMEOUT and entry is not None and entry.Timeout > 0


@fault("server-start-receive2-faults-for-empty-queue", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsForEmptyQueue(RefusalFaultSender):
    """RemoteQMStartReceive2 with ulTimeout 0 raises an exception if the queue is empty."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.MQ_ERROR_IO_TIMEOUT and entry is not None and entry.Timeout == 0


@fault("server-start-receive2-faults-for-receive-with-peek-handle", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsForReceiveWithPeekHandle(RefusalFaultSender):
    """RemoteQMStartReceive2 with RECEIVE raises an exception if the handle was opened to peek."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.MQ_ERROR_ACCESS_DENIED


@fault("server-start-receive2-faults-for-illegal-cursor-action", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsForIllegalCursorAction(RefusalFaultSender):
    """RemoteQMStartReceive2 with a PEEK_NEXT by a cursor that has read no message raises an exception."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.MQ_ERROR_ILLEGAL_CURSOR_ACTION


@fault("server-start-receive2-faults-for-deleted-queue", breaks="MQQP-3.1.4.10-D05", blind=True)
class ServerStartReceive2FaultsForDeletedQueue(RefusalFaultSender):
    """RemoteQMStartReceive2 raises an exception if the queue of its handle was deleted."""

    def is_answered_by_fault(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> bool:
        return status is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE and not self.qm.readers


# -- peeks that are not complete


@fault("server-keeps-remote-read-entry-of-answered-peek-by-cursor", breaks="MQQP-3.1.4.1-D01", blind=True)
class ServerKeepsRemoteReadEntryOfAnsweredPeekByCursor(RemoteReads):
    """The server keeps the RemoteReadEntry of a peek by a cursor after the answer to the peek."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        by_cursor = entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        if not by_cursor:
            super().remove_remote_read_entry(entry)
