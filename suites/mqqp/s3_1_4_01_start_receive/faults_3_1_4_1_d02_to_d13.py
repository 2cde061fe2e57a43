"""Faults that break the rules MQQP-3.1.4.1-D02 to MQQP-3.1.4.1-D13."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-waiting-read-ignores-transactional-message", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadIgnoresTransactionalMessage(WaitingReads):
    """The server does not deliver an arriving transactional message to a waiting read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().pass_new_message_to_waiting_readers(position)


@fault("server-rounds-ul-timeout-up-to-seconds", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"))
class ServerRoundsUlTimeoutUpToSeconds(RemoteReadStarting):
    """The server rounds ulTimeout up to a whole number of seconds."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = -(-entry.Timeout // 1000) * 1000
        return entry


@fault("server-uses-only-low-16-bits-of-ul-timeout", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.2-03"))
class ServerUsesOnlyLow16BitsOfUlTimeout(RemoteReadStarting):
    """The server uses only the low 16 bits of ulTimeout."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout &= 0xFFFF
        return entry


@fault("server-treats-ul-timeout-with-highest-bit-as-0", breaks="MQQP-3.1.4.1-D02")
class ServerTreatsUlTimeoutWithHighestBitAs0(RemoteReadStarting):
    """The server treats an ulTimeout with the highest bit set, except 0xFFFFFFFF, as 0."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout >> 31 and entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = 0
        return entry


@fault(
    "server-read-of-queue-with-only-locked-messages-not-waiting",
    breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-31"),
    blind=True,
)
class ServerReadOfQueueWithOnlyLockedMessagesNotWaiting(WaitingReads):
    """The server does not let a read wait when unfinished receives have locked all messages of the queue."""

    def wait_for_new_message(self, queue_desc, timeout_ms, destructive_read, answered, now, *rest, **more):
        queue = queue_desc.QueueReference
        if queue is not None and len(list(queue.MessagePositionList)):
            timeout_ms = 0
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, *rest, **more)


@fault("server-waiting-read-not-given-recoverable-message", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadNotGivenRecoverableMessage(WaitingReads):
    """The server does not deliver an arriving recoverable message to a waiting read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().pass_new_message_to_waiting_readers(position)


@fault("server-waiting-read-not-given-message-of-low-priority", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadNotGivenMessageOfLowPriority(WaitingReads):
    """The server does not deliver an arriving message of priority 0 to a waiting read."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.Priority:
            super().pass_new_message_to_waiting_readers(position)


@fault("server-arriving-message-completes-first-waiting-peek-only", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerArrivingMessageCompletesFirstWaitingPeekOnly(WaitingReads):
    """The server delivers an arriving message only to the first of several waiting peeks."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        self.__dict__["given"] = False
        super().pass_new_message_to_waiting_readers(position)

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader.DestructiveRead or not self.__dict__.get("given"):
            self.__dict__["given"] = True
            super().pass_message_to_waiting_reader(reader, position)


@fault("server-second-receive-by-cursor-starts-at-front-of-queue", breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"))
class ServerSecondReceiveByCursorStartsAtFrontOfQueue(QueueCursors):
    """The server starts the second receive by a cursor at the front of the queue instead of at the cursor."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        entry = cursor.MessagePositionReference
        if queue is not None and not isinstance(entry, Boundary) and entry.State is not MessagePositionState.AVAILABLE:
            position = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
            if position is not None and cursor.CursorState.name != "READ":
                return CursorStatus.SUCCEEDED, position
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault(
    "server-receive-by-cursor-returns-message-at-front", breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"), blind=True
)
class ServerReceiveByCursorReturnsMessageAtFront(QueueCursors):
    """The first receive by a cursor returns the first message, even if the cursor has peeked at the second message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.SUCCEEDED:
            queue = cursor.OpenQueueDescriptorReference.QueueReference
            assert queue is not None
            first = self.qm.message_search.seek_available(queue.MessagePositionList.Start, False)
            return (CursorStatus.SUCCEEDED, first) if first is not None else got
        return got


@fault(
    "server-receive-by-cursor-after-received-message-fails",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"),
    blind=True,
)
class ServerReceiveByCursorAfterReceivedMessageFails(QueueCursors):
    """A receive by a cursor finds no message if another receive has locked the message before the found message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        position = got[1]
        if position is not None and isinstance(position.Previous, MessagePosition):
            before = position.Previous
            if before.State.name == "LOCKED":
                return CursorStatus.NOT_FOUND, None
        return got


@fault(
    "server-receive-returns-oldest-not-highest-priority-message",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"),
    blind=True,
)
class ServerReceiveReturnsOldestNotHighestPriorityMessage(MessageSearch):
    """A receive without a cursor returns the oldest message instead of the message with the highest priority."""

    def seek_available(self, initial_position, peek_operation, *rest):
        found = super().seek_available(initial_position, peek_operation, *rest)
        if found is None or peek_operation or isinstance(initial_position, MessagePosition) or rest:
            return found
        low = (1 << 56) - 1
        readable = [one for one in found.QueueReference.MessagePositionList if self.is_message_readable(one, False)]
        return min(readable, key=lambda one: one.LookupIdentifier & low)


@fault("server-second-peek-current-moves-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"), blind=True)
class ServerSecondPeekCurrentMovesCursor(RemoteReads):
    """The server moves a cursor to the next message at the second PEEK_CURRENT by the cursor."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._peeked: set[int] = set()

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and cursor.Handle in self._peeked:
            super().remote_peek_next(entry, descriptor, cursor, now)
            return
        if cursor is not None:
            self._peeked.add(cursor.Handle)
        super().remote_peek(entry, descriptor, cursor, now)


@fault("server-peek-current-by-cursor-moves-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class ServerPeekCurrentByCursorMovesCursor(QueueCursors):
    """The server moves the cursor to the next message after the second PEEK_CURRENT of the same message."""

    def get_message_for_peek(self, cursor: Cursor) -> CursorResult:
        from_entry = cursor.MessagePositionReference
        got = super().get_message_for_peek(cursor)
        if got[1] is from_entry and not isinstance(from_entry.Next, Boundary | None):
            cursor.MessagePositionReference = from_entry.Next
            from_entry.Next.reader_hold_count += 1
            from_entry.reader_hold_count -= 1
        return got


@fault("server-hides-nacked-message-from-cursors-that-read-it", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class ServerHidesNackedMessageFromCursorsThatReadIt(MessagePositions):
    """If the receive of a message ends with RR_NACK, cursors that had read the message can no longer read it."""

    def unlock_message(self, position: MessagePosition) -> None:
        super().unlock_message(position)
        queue = position.QueueReference
        if position.State is MessagePositionState.AVAILABLE:
            for descriptor in queue.OpenQueueDescriptorCollection.values():
                for handle, cursor in list(descriptor.CursorCollection.items()):
                    if cursor.MessagePositionReference is position:
                        del descriptor.CursorCollection[handle]


@fault(
    "server-peek-returns-oldest-not-highest-priority-message",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"),
    blind=True,
)
class ServerPeekReturnsOldestNotHighestPriorityMessage(MessageSearch):
    """A PEEK_CURRENT without a cursor returns the oldest message instead of the message with the highest priority."""

    def seek_available(self, initial_position, peek_operation, *rest):
        found = super().seek_available(initial_position, peek_operation, *rest)
        if found is None or not peek_operation or isinstance(initial_position, MessagePosition) or rest:
            return found
        low = (1 << 56) - 1
        readable = [one for one in found.QueueReference.MessagePositionList if self.is_message_readable(one, True)]
        return min(readable, key=lambda one: one.LookupIdentifier & low)


@fault("server-second-peek-next-returns-same-message", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"))
class ServerSecondPeekNextReturnsSameMessage(QueueCursors):
    """The server leaves a cursor at its message in every second PEEK_NEXT."""

    peek_count_by_cursor: dict[int, int] = {}  # noqa: RUF012 - a fault keeps its count here

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        count = self.peek_count_by_cursor[cursor.Handle] = self.peek_count_by_cursor.get(cursor.Handle, 0) + 1
        if count % 2 == 0:
            return self.get_message_for_peek(cursor)
        return super().get_next_message_for_peek(cursor)


@fault("server-peek-next-after-received-message-fails", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"))
class ServerPeekNextAfterReceivedMessageFails(QueueCursors):
    """The server refuses a PEEK_NEXT if the current message of the cursor was received."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        entry = cursor.MessagePositionReference
        if not isinstance(entry, Boundary) and entry.State is not MessagePositionState.AVAILABLE:
            return CursorStatus.ALREADY_RECEIVED, None
        return super().get_next_message_for_peek(cursor)


@fault("server-peek-next-skips-message-of-other-priority", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"), blind=True)
class ServerPeekNextSkipsMessageOfOtherPriority(QueueCursors):
    """A PEEK_NEXT finds no message after the last message with the priority of the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        before = cursor.MessagePositionReference
        got = super().get_next_message_for_peek(cursor)
        found = got[1]
        if found is None or not isinstance(before, MessagePosition):
            return got
        same = found.MessageReference.Priority == before.MessageReference.Priority
        return got if same else (CursorStatus.NOT_FOUND, None)


@fault(
    "server-refuses-dw-request-id-used-by-other-handle",
    breaks=(
        "MQQP-3.1.4.10-16",
        "MQQP-3.1.4.1-D08",
    ),
)
class ServerRefusesDwRequestIdUsedByOtherHandle(RemoteReadStarting):
    """The server refuses a dwRequestID that a read through another queue handle uses."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        used = {read.RequestId for read in self.qm.remote.reads.values()}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK


@fault("server-refuses-dw-request-id-used-in-any-queue", breaks=("MQQP-3.1.4.10-16", "MQQP-3.1.4.1-D08"), blind=True)
class ServerRefusesDwRequestIdUsedInAnyQueue(RemoteReadStarting):
    """The server refuses a dwRequestID that a read of any queue uses."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection:
            if entry.RequestId == desc["dwRequestID"]:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("server-request-id-with-same-low-16-bits-refused", breaks=("MQQP-3.1.4.1-D08", "MQQP-3.1.4.10-16"))
class ServerRequestIdWithSameLow16BitsRefused(RemoteReadStarting):
    """The server refuses a read whose dwRequestID has the same low 16 bits as the different dwRequestID of a waiting
    read.
    """

    def check_request_id(self, desc: ReadDescription) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        used = any(not (one.RequestId ^ desc["dwRequestID"]) & 0xFFFF for one in pending)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-start-receive-dwrequestid-0-refused", breaks="MQQP-3.1.4.1-D08")
class ServerStartReceiveDwrequestid0Refused(RemoteReadStarting):
    """The server refuses a read whose dwRequestID is 0."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        return super().check_request_id(desc) if desc["dwRequestID"] else Status.MQ_ERROR_INVALID_PARAMETER


@fault("server-reads-first-opened-queue-instead-of-given-queue", breaks=("MQQP-3.1.4.1-D11", "MQQP-3.1.4.10-20"))
class ServerReadsFirstOpenedQueueInsteadOfGivenQueue(RemoteReadStarting):
    """When several queues are open, the server reads the queue that was opened first."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        others = [
            one
            for entry in self.qm.remote.OpenQueueEntryCollection
            if (
                one := super(ServerReadsFirstOpenedQueueInsteadOfGivenQueue, self).find_remote_descriptor(
                    entry.OpenQueueDescriptorHandle
                )
            )
        ]
        return others[0] if found in others else found


@fault(
    "server-read-without-cursor-refused",
    breaks=(
        "MQQP-3.1.4.10-23",
        "MQQP-3.1.4.1-D13",
    ),
)
class ServerReadWithoutCursorRefused(RemoteReadStarting):
    """The server refuses a read without a cursor."""

    def check_read_description(self, desc: ReadDescription | None) -> Status:
        if desc is not None and not desc["hCursor"]:
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_read_description(desc)


@fault("server-peek-without-cursor-uses-position-of-open-cursor", breaks=("MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-23"))
class ServerPeekWithoutCursorUsesPositionOfOpenCursor(MessageReading):
    """A PEEK_CURRENT that names no cursor reads from the position of an open cursor of the same handle."""

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Any,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Any = None,
    ) -> None:
        if cursor is None and queue_desc.CursorCollection:
            cursor = next(iter(queue_desc.CursorCollection.values()))
        super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)


@fault("server-receive-beside-cursor-reads-oldest-message", breaks=("MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-23"))
class ServerReceiveBesideCursorReadsOldestMessage(MessageReading):
    """While a cursor is open, a receive without a cursor returns the message that arrived first."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: Any, now: Now, *rest: Any, **more: Any
    ) -> None:
        queue = queue_desc.QueueReference
        found = []
        if queue is not None and queue_desc.CursorCollection and not (more.get("cursor") or any(rest[1:2])):
            found = [one for one in queue.MessagePositionList if one.State is MessagePositionState.AVAILABLE]
        if found:
            self.take_message_out(min(found, key=lambda one: one.order), None, True, answered)
        else:
            super().dequeue_message(queue_desc, answered, now, *rest, **more)
