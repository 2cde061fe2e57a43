"""Faults of MS-MQQP 3.1.4.1 RemoteQMStartReceive that concern only one of several reads, handles, cursors or kinds of
message.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call

ReadDescriptionFields = dict[str, Any]


@fault("server-peek-by-lookup-id-sees-message-of-unfinished-receive", breaks="MQQP-3.1.4.1-01", blind=True)
class ServerPeekByLookupIdSeesMessageOfUnfinishedReceive(MessageSearch):
    """A message of a receive that has not ended is hidden from other reads, but not from a peek by LookupIdentifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        if position is not None and position.State is MessagePositionState.LOCKED and peek_operation:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-hides-only-newest-message-of-unfinished-receives", breaks="MQQP-3.1.4.1-01", blind=True)
class ServerHidesOnlyNewestMessageOfUnfinishedReceives(MessageSearch):
    """Of the messages of several receives that have not ended, only the message that was received last is hidden from
    peeks.
    """

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        if super().is_message_readable(position, peek_operation):
            return True
        if not peek_operation or position.State is not MessagePositionState.LOCKED:
            return False
        later = position.Next
        while isinstance(later, MessagePosition):
            if later.State is MessagePositionState.LOCKED:
                return True
            later = later.Next
        return False


@fault("server-cancel-receive-of-any-read-cancels-oldest-read-of-handle", breaks="MQQP-3.1.4.1-02", blind=True)
class ServerCancelReceiveOfAnyReadCancelsOldestReadOfHandle(RemoteReadEnding):
    """RemoteQMCancelReceive with the dwRequestID of a waiting read cancels the oldest read of its queue handle."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return status, None if found is None else self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(
            h_queue
        )[0]


@fault(
    "server-start-receive-accepts-dw-request-id-of-waiting-peek",
    breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.1-D08"),
    blind=True,
)
class ServerStartReceiveAcceptsDwRequestIdOfWaitingPeek(RemoteReadStarting):
    """RemoteQMStartReceive accepts the dwRequestID of a waiting peek."""

    def check_request_id(self, desc: ReadDescriptionFields) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        same = [one for one in pending if one.RequestId == desc["dwRequestID"]]
        if same and all(one.Action not in RECEIVE_ACTIONS for one in same):
            return Status.MQ_OK
        return super().check_request_id(desc)


@fault("server-request-id-in-use-by-other-handle-refused", breaks="MQQP-3.1.4.1-D08", blind=True)
class ServerRequestIdInUseByOtherHandleRefused(RemoteReadStarting):
    """RemoteQMStartReceive refuses a dwRequestID that a waiting read of another handle has."""

    def check_request_id(self, desc: ReadDescriptionFields) -> Status:
        if any(one.RequestId == desc["dwRequestID"] for one in self.qm.remote.RemoteReadEntryCollection):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_request_id(desc)


@fault("server-request-id-of-timed-out-read-stays-in-use", breaks="MQQP-3.1.4.1-D18", blind=True)
class ServerRequestIdOfTimedOutReadStaysInUse(RemoteReads):
    """The server keeps the entry of a RemoteQMStartReceive whose ulTimeout expired while it waited."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_IO_TIMEOUT and entry.Timeout:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-dw-queue-checked-for-receives-only", breaks="MQQP-3.1.4.1-D07", blind=True)
class ServerDwQueueCheckedForReceivesOnly(RemoteReadStarting):
    """RemoteQMStartReceive checks dwQueue only with the action RECEIVE."""

    def check_dw_queue(self, desc: ReadDescriptionFields) -> Status:
        return super().check_dw_queue(desc) if desc["ulAction"] in RECEIVE_ACTIONS else Status.MQ_OK


@fault("server-cursor-of-other-handle-of-queue-accepted", breaks="MQQP-3.1.4.1-D12", blind=True)
class ServerCursorOfOtherHandleOfQueueAccepted(RemoteReadStarting):
    """RemoteQMStartReceive accepts a cursor that belongs to another handle of the same queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        queue = descriptor.QueueReference
        others = [] if queue is None else queue.OpenQueueDescriptorCollection.values()
        found = (one.CursorCollection.get(handle) for one in others)
        return next((one for one in found if one is not None), None)


@fault("server-arriving-message-answers-first-waiting-read-only", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerArrivingMessageAnswersFirstWaitingReadOnly(WaitingReads):
    """An arriving message answers only the first waiting read of a queue, even if this read is a peek."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                found = self._find_message_for_reader(reader, position)
                if found is not None:
                    self.pass_message_to_waiting_reader(reader, found)
                return


@fault("server-receive-by-cursor-removes-message-after-cursor", breaks="MQQP-3.1.4.1-D03", blind=True)
class ServerReceiveByCursorRemovesMessageAfterCursor(QueueCursors):
    """A receive with a cursor that has read a message removes the message after the cursor, if there is one."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        if cursor.CursorState is CursorState.READ:
            following = self.qm.message_search.seek_available(cursor.MessagePositionReference, False)
            if following is not None:
                cursor.CursorState = CursorState.UNREAD
                return CursorStatus.SUCCEEDED, following
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("server-third-peek-at-cursor-moves-cursor", breaks="MQQP-3.1.4.1-D04", blind=True)
class ServerThirdPeekAtCursorMovesCursor(QueueCursors):
    """The third PEEK_CURRENT with the same cursor moves the cursor to the next message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        peeked: dict[int, int] = self.__dict__.setdefault("peeked", {})
        peeked[cursor.Handle] = peeked.get(cursor.Handle, 0) + 1
        if peeked[cursor.Handle] == 3:
            return self.get_next_message_for_peek(cursor)
        return super().get_message_for_peek(cursor)


@fault("server-peek-next-restarts-if-current-message-was-removed", breaks="MQQP-3.1.4.1-D05", blind=True)
class ServerPeekNextRestartsIfCurrentMessageWasRemoved(QueueCursors):
    """PEEK_NEXT begins at the first message of the queue if the current message of the cursor was removed."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        current = cursor.MessagePositionReference
        if isinstance(current, MessagePosition) and current.State is MessagePositionState.DELETED:
            self.qm.queue_cursors.move_cursor_to_start(cursor)
        return super().get_next_message_for_peek(cursor)


@fault(
    "server-receive-that-waited-returns-null-context-handle", breaks=("MQQP-3.1.4.1-05", "MQQP-3.1.4.1-D19"), blind=True
)
class ServerReceiveThatWaitedReturnsNullContextHandle(RemoteReads):
    """A receive that waited for its message returns MQ_OK and the message, but the context handle NULL."""

    def remote_receive(self, entry: RemoteReadEntry, *arguments: Any) -> None:
        super().remote_receive(entry, *arguments)
        if entry.call in self.qm.remote.reads:
            entry.Action = ReadAction.MQ_ACTION_PEEK_CURRENT


@fault("server-timed-out-read-with-cursor-returns-mq-ok", breaks="MQQP-3.1.4.1-D20", blind=True)
class ServerTimedOutReadWithCursorReturnsMqOk(RemoteReads):
    """A RemoteQMStartReceive with a cursor that finds no message returns MQ_OK without a message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        desc = call.arguments.get("lpRemoteReadDesc")
        if desc is not None and desc["hCursor"] and status is Status.MQ_ERROR_IO_TIMEOUT:
            status = Status.MQ_OK
        super().answer_read(call, status, entry)
