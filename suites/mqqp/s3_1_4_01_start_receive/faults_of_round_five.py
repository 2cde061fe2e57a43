"""Faults of round five that break rules of MS-MQQP 3.1.4.1 RemoteQMStartReceive, and 3.1.4.10."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-start-receive-dw-queue-of-other-open-queue-accepted", breaks="MQQP-3.1.4.1-D07", blind=True)
class ServerStartReceiveDwQueueOfOtherOpenQueueAccepted(RemoteReadStarting):
    """The server accepts a RemoteQMStartReceive whose dwQueue is the handle of another open queue than hRemoteQueue."""

    is_first_method = False

    def remote_qm_start_receive(self, call: Call, now: Now) -> None:
        self.is_first_method = True
        try:
            super().remote_qm_start_receive(call, now)
        finally:
            self.is_first_method = False

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        is_open = bool(self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(desc["dwQueue"]))
        return Status.MQ_OK if self.is_first_method and is_open else super().check_dw_queue(desc)


@fault("server-start-receive2-peek-next-from-front-after-removal", breaks="MQQP-3.1.4.10-D04", blind=True)
class ServerStartReceive2PeekNextFromFrontAfterRemoval(RemoteReads):
    """If the current message of a cursor has been removed from the queue, RemoteQMStartReceive2 with PEEK_NEXT returns
    the first message of the queue.
    """

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and entry.call.method.name == "RemoteQMStartReceive2":
            current = cursor.MessagePositionReference
            has_read = cursor.CursorState is CursorState.READ and isinstance(current, MessagePosition)
            if has_read and current.State is MessagePositionState.DELETED:  # type: ignore[union-attr]
                self.qm.queue_cursors.move_cursor_to_start(cursor)
        super().remote_peek_next(entry, descriptor, cursor, now)


@fault("server-start-receive2-request-id-of-start-receive-not-in-use", breaks="MQQP-3.1.4.10-16", blind=True)
class ServerStartReceive2RequestIdOfStartReceiveNotInUse(RemoteReadStarting):
    """RemoteQMStartReceive2 accepts a dwRequestID that a waiting read of the same queue handle has, if that read was
    begun with RemoteQMStartReceive.
    """

    is_second_method = False

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        self.is_second_method = True
        try:
            super().remote_qm_start_receive2(call, now)
        finally:
            self.is_second_method = False

    def check_request_id(self, desc: ReadDescription) -> Status:
        if not self.is_second_method:
            return super().check_request_id(desc)
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        in_use = any(
            entry.RequestId == desc["dwRequestID"] and entry.call.method.name == "RemoteQMStartReceive2"
            for entry in pending
        )
        return Status.MQ_ERROR_INVALID_PARAMETER if in_use else Status.MQ_OK


@fault("server-start-receive-peek-next-that-waited-returns-first-message", breaks="MQQP-3.1.4.1-13", blind=True)
class ServerStartReceivePeekNextThatWaitedReturnsFirstMessage(RemoteReads):
    """If a RemoteQMStartReceive with PEEK_NEXT had to wait for its message, the server returns the first message of
    the queue instead of the message that was read.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.waiting_entries: list[RemoteReadEntry] = []

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek_next(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads and entry.call.method.name == "RemoteQMStartReceive":
            self.waiting_entries.append(entry)

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        if entry in self.waiting_entries:
            self.waiting_entries.remove(entry)
            if position is not None:
                start = position.QueueReference.MessagePositionList.Start
                position = self.qm.message_search.seek_available(start, True) or position
        super().complete_remote_read(entry, status, position)


@fault("client-start-receive-peek-next-with-closed-first-cursor", breaks="MQQP-3.1.4.1-09", blind=True)
class ClientStartReceivePeekNextWithClosedFirstCursor(ClientMessageReading):
    """In a RemoteQMStartReceive with PEEK_NEXT, the client sets hCursor to the first cursor that it used with the
    queue, even if this cursor is closed.
    """

    uses_second_method = False

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.first_cursor_by_queue: dict[int, int] = {}

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        self.uses_second_method = True
        try:
            return super().build_start_receive2_description(read)
        finally:
            self.uses_second_method = False

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        if read.CursorHandle and not self.uses_second_method:
            first = self.first_cursor_by_queue.setdefault(read.queue.number, read.CursorHandle)
            if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
                described["hCursor"] = first
        return described
