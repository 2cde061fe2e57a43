"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10 at the start of a remote read, which only special cases reveal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import parse_packet
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


def _is_second(entry: RemoteReadEntry) -> bool:
    return entry.call.method.name == "RemoteQMStartReceive2"


@fault("server-start-receive-dwqueue-compared-in-low-16-bits", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"))
class ServerStartReceiveDwqueueComparedInLow16Bits(RemoteStarting):
    """The server accepts a read whose dwQueue differs from hRemoteQueue only in the upper 16 bits."""

    def check_dw_queue(self, desc: Desc) -> Status:
        low = desc["dwQueue"] != 0 and desc["dwQueue"] & 0xFFFF == desc["hRemoteQueue"] & 0xFFFF
        return Status.MQ_OK if low else super().check_dw_queue(desc)


@fault("server-start-receive-dwqueue-of-other-open-queue-accepted", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"))
class ServerStartReceiveDwqueueOfOtherOpenQueueAccepted(RemoteStarting):
    """The server accepts a read whose dwQueue is the handle of a different open queue."""

    def check_dw_queue(self, desc: Desc) -> Status:
        status = super().check_dw_queue(desc)
        return Status.MQ_OK if self.qm.remote.OpenQueueEntryCollection.of(desc["dwQueue"]) else status


@fault("server-duplicate-request-id-of-waiting-peek-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateRequestIdOfWaitingPeekAccepted(RemoteStarting):
    """The server accepts a read with the dwRequestID of a peek that waits on the same handle."""

    def check_request_id(self, desc: Desc) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])
        used = any(one.RequestId == desc["dwRequestID"] and one.Action in RECEIVE_ACTIONS for one in pending)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-request-id-with-same-low-16-bits-refused", breaks=("MQQP-3.1.4.1-D08", "MQQP-3.1.4.10-16"))
class ServerRequestIdWithSameLow16BitsRefused(RemoteStarting):
    """The server refuses a read whose dwRequestID has the same low 16 bits as the different dwRequestID of a waiting
    read.
    """

    def check_request_id(self, desc: Desc) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])
        used = any(not (one.RequestId ^ desc["dwRequestID"]) & 0xFFFF for one in pending)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-duplicate-request-id-of-first-waiting-read-only", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateRequestIdOfFirstWaitingReadOnly(RemoteStarting):
    """The server accepts a read with the dwRequestID of the second read that waits on the same handle."""

    def check_request_id(self, desc: Desc) -> Status:
        first = self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"])[:1]
        used = any(one.RequestId == desc["dwRequestID"] for one in first)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-refused-duplicate-request-id-cancels-first-read", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerRefusedDuplicateRequestIdCancelsFirstRead(RemoteStarting):
    """The server refuses a read whose dwRequestID is in use, and also cancels the waiting read with
    this dwRequestID.
    """

    def check_request_id(self, desc: Desc) -> Status:
        status = super().check_request_id(desc)
        if status:
            for one in self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"]):
                if one.RequestId == desc["dwRequestID"]:
                    self.qm.remote_ending.cancel_remote_read(one, Status.MQ_ERROR_OPERATION_CANCELLED)
        return status


class _HandleOfWaitedRead(RemoteReads):
    """Remember whether a read had to wait for its message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            entry.Timeout |= 1 << 40


@fault("server-start-receive-that-waited-context-handle-null", breaks="MQQP-3.1.4.1-05")
class ServerStartReceiveThatWaitedContextHandleNull(_HandleOfWaitedRead):
    """The server returns the context handle NULL for a RemoteQMStartReceive that waited for its message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.Timeout >> 40 and not _is_second(entry):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("server-start-receive2-that-waited-context-handle-null", breaks="MQQP-3.1.4.10-02")
class ServerStartReceive2ThatWaitedContextHandleNull(_HandleOfWaitedRead):
    """The server returns the context handle NULL for a RemoteQMStartReceive2 that waited for its message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.Timeout >> 40 and _is_second(entry):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("server-receive-by-cursor-context-handle-null", breaks=("MQQP-3.1.4.1-05", "MQQP-3.1.4.10-02"))
class ServerReceiveByCursorContextHandleNull(RemoteReads):
    """The server returns the context handle NULL for a receive by a cursor."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        if desc is not None and desc["hCursor"]:
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault(
    "server-peek-next-context-handle-set",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
)
class ServerPeekNextContextHandleSet(RemoteReads):
    """The server returns a context handle for a PEEK_NEXT."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            call = change_answer_values(call, pphContext=call.new_handle(entry))
        super().answer_read(call, status, entry)


@fault(
    "server-timed-out-receive-context-handle-set",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
)
class ServerTimedOutReceiveContextHandleSet(RemoteReads):
    """The server returns a context handle for a receive whose timeout expired after a wait."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and status is Status.MQ_ERROR_IO_TIMEOUT and entry.Timeout:
            call = change_answer_values(call, pphContext=call.new_handle(entry))
        super().answer_read(call, status, entry)


@fault("server-start-receive-unknown-cursor-thrown", breaks="MQQP-3.1.4.1-D21")
class ServerStartReceiveUnknownCursorThrown(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive with an unknown hCursor."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.STATUS_INVALID_PARAMETER and call.method.name == "RemoteQMStartReceive":
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().answer_read(call, status, entry)


@fault("server-start-receive2-timeout-thrown", breaks="MQQP-3.1.4.10-D05")
class ServerStartReceive2TimeoutThrown(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive2 that finds no message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and call.method.name == "RemoteQMStartReceive2":
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().answer_read(call, status, entry)


@fault("server-start-receive-deleted-queue-ends-wait-with-mq-ok", breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"))
class ServerStartReceiveDeletedQueueEndsWaitWithMqOk(Waiting):
    """If a queue is deleted while a read waits for its messages, the server returns MQ_OK without a message for the
    read.
    """

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        ok = status is not Status.MQ_ERROR_IO_TIMEOUT and status >> 31
        super().stop_reader(reader, Status.MQ_OK if ok else status)


@fault("server-entry-of-timed-out-read-not-removed", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerEntryOfTimedOutReadNotRemoved(RemoteReads):
    """The server keeps the entry of a read whose timeout expired, so the dwRequestID stays in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_IO_TIMEOUT:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-entry-of-failed-cursor-read-not-removed", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerEntryOfFailedCursorReadNotRemoved(RemoteReads):
    """The server keeps the entry of a read by a cursor that fails because the message was already received."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-entry-of-finished-peek-not-removed", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerEntryOfFinishedPeekNotRemoved(RemoteReads):
    """The server keeps the entry of a finished PEEK_NEXT, so the dwRequestID stays in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-waited-receive-deletes-message-at-once", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerWaitedReceiveDeletesMessageAtOnce(Waiting):
    """When a receive had to wait for its message, the server deletes the message at once instead of locking it until
    RemoteQMEndReceive.
    """

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().satisfy_reader(reader, position)
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-received-message-visible-to-lookup-peek", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToLookupPeek(Seeking):
    """The server returns the message of an unfinished receive to a peek by LookupIdentifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: Any
    ) -> tuple[Status, MessagePosition | None]:
        found = queue.MessagePositionList.find(lookup_id)
        if peek_operation and found is not None and found.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, found
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-received-message-visible-to-peek-next", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToPeekNext(Cursors):
    """The server returns the message of an unfinished receive to a PEEK_NEXT."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        after = cursor.MessagePositionReference.Next
        if not isinstance(after, Boundary) and after is not None and after.State is MessagePositionState.LOCKED:
            return CursorStatus.SUCCEEDED, after
        return super().get_next_message_for_peek(cursor)


@fault("server-received-message-visible-to-peek-current", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToPeekCurrent(Seeking):
    """The server returns the message of an unfinished receive to a PEEK_CURRENT without a cursor."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        locked = position.State is MessagePositionState.LOCKED
        return (peek_operation and locked) or super().is_readable(position, peek_operation)


@fault("server-peek-current-by-cursor-moves-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class ServerPeekCurrentByCursorMovesCursor(Cursors):
    """The server moves the cursor to the next message after the second PEEK_CURRENT of the same message."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        from_entry = cursor.MessagePositionReference
        got = super().get_message_for_peek(cursor)
        if got[1] is from_entry and not isinstance(from_entry.Next, Boundary | None):
            cursor.MessagePositionReference = from_entry.Next
            from_entry.Next.held += 1
            from_entry.held -= 1
        return got


@fault("server-receive-by-cursor-takes-first-message-after-receive", breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"))
class ServerReceiveByCursorTakesFirstMessageAfterReceive(Cursors):
    """The server starts the second receive by a cursor at the front of the queue instead of at the cursor."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        queue = cursor.OpenQueueDescriptorReference.QueueReference
        entry = cursor.MessagePositionReference
        if queue is not None and not isinstance(entry, Boundary) and entry.State is not MessagePositionState.AVAILABLE:
            position = self.qm.seeking.seek_available(queue.MessagePositionList.Start, False)
            if position is not None and cursor.CursorState.name != "READ":
                return CursorStatus.SUCCEEDED, position
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("server-peek-next-at-last-message-does-not-wait", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40"))
class ServerPeekNextAtLastMessageDoesNotWait(RemoteReads):
    """The server does not let a PEEK_NEXT wait when the cursor is at the last message of the queue."""

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if descriptor.QueueReference is not None and len(descriptor.QueueReference.MessagePositionList):
            entry.Timeout = 0
        super().remote_peek_next(entry, descriptor, cursor, now)


@fault("server-receive-by-cursor-waits-without-timeout", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerReceiveByCursorWaitsWithoutTimeout(RemoteReads):
    """The server ignores the timeout of a receive by a cursor: the receive waits without a time limit."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and entry.Timeout:
            entry.Timeout = 0xFFFFFFFF
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-peek-current-timeout-in-seconds", breaks=("MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-36"))
class ServerPeekCurrentTimeoutInSeconds(RemoteReads):
    """The server treats ulTimeout of a PEEK_CURRENT as a number of seconds."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout *= 1000
        super().remote_peek(entry, descriptor, cursor, now)


@fault("server-timeout-rounded-to-seconds", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"))
class ServerTimeoutRoundedToSeconds(RemoteStarting):
    """The server rounds ulTimeout up to a whole number of seconds."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = -(-entry.Timeout // 1000) * 1000
        return entry


@fault("server-timeout-of-low-16-bits", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.2-03"))
class ServerTimeoutOfLow16Bits(RemoteStarting):
    """The server uses only the low 16 bits of ulTimeout."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout &= 0xFFFF
        return entry


@fault("server-timeout-with-high-bit-not-waited-for", breaks="MQQP-3.1.4.1-D02")
class ServerTimeoutWithHighBitNotWaitedFor(RemoteStarting):
    """The server treats an ulTimeout with the highest bit set, except 0xFFFFFFFF, as 0."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout >> 31 and entry.Timeout != 0xFFFFFFFF:
            entry.Timeout = 0
        return entry


@fault("server-read-packet-transaction-header-missing", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerReadPacketTransactionHeaderMissing(RemoteReads):
    """The server returns a transactional message without its TransactionHeader."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        if packet.TransactionHeader is None:
            return packet.build()
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 20))
        base = replace(packet.BaseHeader, PacketSize=0)
        return replace(packet, BaseHeader=base, UserHeader=flags, TransactionHeader=None).build()


@fault("server-read-packet-of-more-than-64-kb-cut-off", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerReadPacketOfMoreThan64KbCutOff(RemoteReads):
    """The server returns only the first 65,536 bytes of the packet of a longer message."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position)[:0x10000]


@fault("server-peeked-packet-without-extension", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerPeekedPacketWithoutExtension(RemoteReads):
    """The server omits the extension of a message in the answer to a read."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        changes = {"BaseHeader.PacketSize": 0, "MessagePropertiesHeader.ExtensionData": b""}
        return set_fields(packet, changes).build()


@fault("server-start-receive2-sequential-id-of-first-message", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"))
class ServerStartReceive2SequentialIdOfFirstMessage(RemoteReads):
    """The server returns the SequentialId of the first message of the queue, even if it read another message."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        head = position.QueueReference.MessagePositionList.Head
        return super().get_sequential_id(position if isinstance(head, Boundary) else head)


@fault("server-start-receive2-sequential-id-missing-in-peek-next", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"))
class ServerStartReceive2SequentialIdMissingInPeekNext(RemoteReads):
    """The server returns SequentialId 0 in the answer to a PEEK_NEXT."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = "lpRemoteReadDesc2" in call.arguments
        if second and entry is not None and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            call = change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": 0})
        super().answer_read(call, status, entry)


@fault("server-start-receive2-sequential-id-with-priority-byte", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"))
class ServerStartReceive2SequentialIdWithPriorityByte(RemoteReads):
    """The server returns all eight bytes of the LookupIdentifier in SequentialId."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return position.LookupIdentifier


@fault("server-start-receive2-null-description-returns-invalid-parameter", breaks="MQQP-3.1.4.10-13")
class ServerStartReceive2NullDescriptionReturnsInvalidParameter(RemoteStarting):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a NULL pRemoteReadDesc."""

    def check_description(self, desc: Desc | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else Status.MQ_OK


@fault("server-read-without-remote-qm-open-queue-accepted", breaks=("MQQP-3.1.4.1-D10", "MQQP-3.1.4.10-19"))
class ServerReadWithoutRemoteQmOpenQueueAccepted(RemoteStarting):
    """The server accepts reads through a queue handle for which only R_QMOpenRemoteQueue, but not RemoteQMOpenQueue,
    was called.
    """

    def check_open_queue(self, desc: Desc) -> Status:
        opened = self.find_remote_descriptor(desc["hRemoteQueue"]) is not None
        return Status.MQ_OK if opened else super().check_open_queue(desc)


@fault("server-hcursor-compared-in-low-16-bits", breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"))
class ServerHcursorComparedInLow16Bits(RemoteStarting):
    """The server compares only the low 16 bits of hCursor with the handles of open cursors."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = [one for key, one in descriptor.CursorCollection.items() if not (key ^ handle) & 0xFFFF]
        return found[0] if found else None


@fault("server-read-without-cursor-continues-after-cursor", breaks=("MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-23"))
class ServerReadWithoutCursorContinuesAfterCursor(Reading):
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


@fault("server-receive-by-cursor-reads-other-cursor", breaks="MQQP-3.1.4.10-21")
class ServerReceiveByCursorReadsOtherCursor(RemoteStarting):
    """The server reads by the cursor that was opened last, even if the read names another open cursor."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else list(descriptor.CursorCollection.values())[-1]


@fault("server-read-of-first-opened-queue", breaks=("MQQP-3.1.4.1-D11", "MQQP-3.1.4.10-20"))
class ServerReadOfFirstOpenedQueue(RemoteStarting):
    """When several queues are open, the server reads the queue that was opened first."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        others = [
            one
            for entry in self.qm.remote.OpenQueueEntryCollection
            if (
                one := super(ServerReadOfFirstOpenedQueue, self).find_remote_descriptor(entry.OpenQueueDescriptorHandle)
            )
        ]
        return others[0] if found in others else found


@fault("server-cancel-receive-takes-newest-read", breaks="MQQP-3.1.4.1-02")
class ServerCancelReceiveTakesNewestRead(RemoteEnding):
    """When several reads wait, RemoteQMCancelReceive cancels the newest waiting read of the queue, regardless of
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return status, None if found is None else self.qm.remote.RemoteReadEntryCollection.of(h_queue)[-1]


@fault("server-peek-keeps-message-locked", breaks=("MQQP-3.1.4.1-D01", "MQQP-3.1.4.1-D04"))
class ServerPeekKeepsMessageLocked(RemoteReads):
    """If a PEEK_CURRENT had to wait for its message, the server locks the message until the connection of the client is
    lost.
    """

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            entry.Timeout |= 1 << 40

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if entry.Timeout >> 40 and position is not None:
            position.State = MessagePositionState.LOCKED
