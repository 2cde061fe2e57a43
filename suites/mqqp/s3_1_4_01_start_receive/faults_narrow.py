"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10 that affect only one clause, one kind of read or one kind of message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import parse_packet
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-receive-of-empty-body-context-handle-null", breaks=("MQQP-3.1.4.1-05", "MQQP-3.1.4.10-02"), blind=True)
class ServerReceiveOfEmptyBodyContextHandleNull(RemoteReads):
    """The server returns the context handle NULL for a receive of a message without a body."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        position = None if entry is None else entry.UserMessagePacket
        if position is not None and not position.MessageReference.Body:
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault(
    "server-peek-that-waited-context-handle-set",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
    blind=True,
)
class ServerPeekThatWaitedContextHandleSet(RemoteReads):
    """The server returns a context handle for a PEEK_CURRENT that waited for its message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            self.__dict__.setdefault("waited", set()).add(entry)

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry in self.__dict__.get("waited", ()) and not status:
            call = change_answer_values(call, pphContext=call.new_handle(entry))
        super().answer_read(call, status, entry)


@fault(
    "server-refused-duplicate-request-id-context-handle-set",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.10-03"),
    blind=True,
)
class ServerRefusedDuplicateRequestIdContextHandleSet(RemoteReads):
    """The server returns a context handle for a receive by a cursor that is not open."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is None and status is Status.STATUS_INVALID_PARAMETER:
            call = change_answer_values(call, pphContext=call.new_handle(object()))
        super().answer_read(call, status, entry)


@fault(
    "server-duplicate-request-id-of-read-by-cursor-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"), blind=True
)
class ServerDuplicateRequestIdOfReadByCursorAccepted(RemoteStarting):
    """The server accepts a read with the dwRequestID of a read by a cursor that waits on the same handle."""

    def check_request_id(self, desc: Desc) -> Status:
        readers = [one for one in self.qm.readers.values() if one.CursorReference is not None]
        if any(reader.Tag == (desc["hRemoteQueue"], desc["dwRequestID"]) for reader in readers):
            return Status.MQ_OK
        return super().check_request_id(desc)


@fault("server-duplicate-request-id-refused-with-mq-error", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"), blind=True)
class ServerDuplicateRequestIdRefusedWithMqError(RemoteStarting):
    """The server returns MQ_ERROR for a read whose dwRequestID is in use."""

    def check_request_id(self, desc: Desc) -> Status:
        return Status.MQ_ERROR if super().check_request_id(desc) else Status.MQ_OK


@fault("server-start-receive-dwqueue-0-accepted", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"), blind=True)
class ServerStartReceiveDwqueue0Accepted(RemoteStarting):
    """The server reads from hRemoteQueue when dwQueue is 0."""

    def check_dw_queue(self, desc: Desc) -> Status:
        return Status.MQ_OK if desc["dwQueue"] == 0 else super().check_dw_queue(desc)


@fault("server-peek-next-without-cursor-invalid-handle", breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"), blind=True)
class ServerPeekNextWithoutCursorInvalidHandle(RemoteStarting):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a PEEK_NEXT without a cursor."""

    def check_peek_next_cursor(self, desc: Desc) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if super().check_peek_next_cursor(desc) else Status.MQ_OK


@fault("server-read-of-closed-queue-invalid-handle", breaks=("MQQP-3.1.4.1-D10", "MQQP-3.1.4.10-19"), blind=True)
class ServerReadOfClosedQueueInvalidHandle(RemoteStarting):
    """The server returns MQ_ERROR_INVALID_HANDLE for a read through a closed handle."""

    def check_open_queue(self, desc: Desc) -> Status:
        status = super().check_open_queue(desc)
        seen = self.__dict__.setdefault("seen", set())
        if not status:
            seen.add(desc["hRemoteQueue"])
        return Status.MQ_ERROR_INVALID_HANDLE if status and desc["hRemoteQueue"] in seen else status


@fault("server-closed-cursor-readable", breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"), blind=True)
class ServerClosedCursorReadable(RemoteStarting):
    """The server reads by a closed cursor if another cursor of the same handle is open."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        known = self.__dict__.setdefault("known", {})
        if found is not None:
            known[handle] = found
        elif descriptor.CursorCollection:
            return known.get(handle)
        return found


@fault("server-unknown-cursor-mq-error-invalid-handle", breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"), blind=True)
class ServerUnknownCursorMqErrorInvalidHandle(RemoteReads):
    """The server returns MQ_ERROR_INVALID_HANDLE for a receive by a cursor that is not open."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        if status is Status.STATUS_INVALID_PARAMETER and desc["hCursor"] and desc["ulAction"] in RECEIVE_ACTIONS:
            status = Status.MQ_ERROR_INVALID_HANDLE
        super().answer_read(call, status, entry)


@fault(
    "server-read-of-queue-with-only-locked-messages-not-waiting",
    breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-31"),
    blind=True,
)
class ServerReadOfQueueWithOnlyLockedMessagesNotWaiting(Waiting):
    """The server does not let a read wait when unfinished receives have locked all messages of the queue."""

    def wait_for_new_message(self, queue_desc, timeout_ms, destructive_read, answered, now, *rest, **more):
        queue = queue_desc.QueueReference
        if queue is not None and len(list(queue.MessagePositionList)):
            timeout_ms = 0
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, *rest, **more)


@fault("server-waiting-read-not-given-recoverable-message", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadNotGivenRecoverableMessage(Waiting):
    """The server does not deliver an arriving recoverable message to a waiting read."""

    def release_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().release_readers(position)


@fault("server-waiting-read-not-given-message-of-low-priority", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadNotGivenMessageOfLowPriority(Waiting):
    """The server does not deliver an arriving message of priority 0 to a waiting read."""

    def release_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.Priority:
            super().release_readers(position)


@fault("server-waiting-peek-consumes-wake-of-second-reader", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingPeekConsumesWakeOfSecondReader(Waiting):
    """The server delivers an arriving message only to the first of several waiting peeks."""

    def release_readers(self, position: MessagePosition) -> None:
        self.__dict__["given"] = False
        super().release_readers(position)

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        if reader.DestructiveRead or not self.__dict__.get("given"):
            self.__dict__["given"] = True
            super().satisfy_reader(reader, position)


@fault(
    "server-receive-by-cursor-returns-message-at-front", breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"), blind=True
)
class ServerReceiveByCursorReturnsMessageAtFront(Cursors):
    """The first receive by a cursor returns the first message, even if the cursor has peeked at the second message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        if got[0] is CursorStatus.SUCCEEDED:
            queue = cursor.OpenQueueDescriptorReference.QueueReference
            assert queue is not None
            first = self.qm.seeking.seek_available(queue.MessagePositionList.Start, False)
            return (CursorStatus.SUCCEEDED, first) if first is not None else got
        return got


@fault(
    "server-receive-by-cursor-after-received-message-fails",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"),
    blind=True,
)
class ServerReceiveByCursorAfterReceivedMessageFails(Cursors):
    """A receive by a cursor finds no message if another receive has locked the message before the found message."""

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> Got:
        got = super().get_next_message_for_dequeue(cursor, no_wait)
        position = got[1]
        if position is not None and isinstance(position.Previous, MessagePosition):
            before = position.Previous
            if before.State.name == "LOCKED":
                return CursorStatus.NOT_FOUND, None
        return got


@fault("server-front-of-queue-by-arrival", breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.10-D02"), blind=True)
class ServerFrontOfQueueByArrival(Seeking):
    """A receive without a cursor returns the oldest message instead of the message with the highest priority."""

    def seek_available(self, initial_position, peek_operation, *rest):
        found = super().seek_available(initial_position, peek_operation, *rest)
        if found is None or peek_operation or isinstance(initial_position, MessagePosition) or rest:
            return found
        low = (1 << 56) - 1
        readable = [one for one in found.QueueReference.MessagePositionList if self.is_readable(one, False)]
        return min(readable, key=lambda one: one.LookupIdentifier & low)


@fault("server-peek-front-of-queue-by-arrival", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"), blind=True)
class ServerPeekFrontOfQueueByArrival(Seeking):
    """A PEEK_CURRENT without a cursor returns the oldest message instead of the message with the highest priority."""

    def seek_available(self, initial_position, peek_operation, *rest):
        found = super().seek_available(initial_position, peek_operation, *rest)
        if found is None or not peek_operation or isinstance(initial_position, MessagePosition) or rest:
            return found
        low = (1 << 56) - 1
        readable = [one for one in found.QueueReference.MessagePositionList if self.is_readable(one, True)]
        return min(readable, key=lambda one: one.LookupIdentifier & low)


@fault("server-peek-next-skips-message-of-other-priority", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"), blind=True)
class ServerPeekNextSkipsMessageOfOtherPriority(Cursors):
    """A PEEK_NEXT finds no message after the last message with the priority of the cursor's message."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        before = cursor.MessagePositionReference
        got = super().get_next_message_for_peek(cursor)
        found = got[1]
        if found is None or not isinstance(before, MessagePosition):
            return got
        same = found.MessageReference.Priority == before.MessageReference.Priority
        return got if same else (CursorStatus.NOT_FOUND, None)


@fault("server-message-locked-only-for-own-handle", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-01"), blind=True)
class ServerMessageLockedOnlyForOwnHandle(RemoteReads):
    """A receive by another handle of the queue returns the message of an unfinished receive."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        held = self.__dict__.setdefault("held", [])
        for other in held:
            position = other.UserMessagePacket
            if (
                position is not None
                and not other.ended
                and position.QueueReference is descriptor.QueueReference
                and position.State.name == "LOCKED"
                and other.OpenQueueDescriptorHandle != entry.OpenQueueDescriptorHandle
            ):
                self.complete_remote_read(entry, Status.MQ_OK, position)
                return
        held.append(entry)
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-entry-of-read-of-deleted-queue-not-removed", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"), blind=True)
class ServerEntryOfReadOfDeletedQueueNotRemoved(RemoteReads):
    """The server keeps the dwRequestID of a receive in use until RemoteQMEndReceive."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry.UserMessagePacket is None or entry.Action not in RECEIVE_ACTIONS or entry.ended:
            super().remove_remote_read_entry(entry)
        else:
            self.__dict__.setdefault("kept", []).append(entry)

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        for one in self.__dict__.get("kept", ()):
            if one.ended:
                super().remove_remote_read_entry(one)
        super().remote_receive(entry, descriptor, cursor, now)


@fault(
    "server-status-of-received-cursor-message-io-timeout", breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"), blind=True
)
class ServerStatusOfReceivedCursorMessageIoTimeout(RemoteReads):
    """The server returns MQ_ERROR_IO_TIMEOUT for a read by a cursor if another reader has received the cursor's
    message.
    """

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            status = Status.MQ_ERROR_IO_TIMEOUT
        super().answer_read(call, status, entry)


@fault("server-status-of-timeout-mq-error", breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"), blind=True)
class ServerStatusOfTimeoutMqError(RemoteReads):
    """The server returns MQ_ERROR for a PEEK_NEXT that finds no message within its timeout."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        next_message = entry is not None and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        if status is Status.MQ_ERROR_IO_TIMEOUT and next_message:
            status = Status.MQ_ERROR
        super().answer_read(call, status, entry)


@fault("server-start-receive-of-peek-handle-thrown", breaks="MQQP-3.1.4.1-D21", blind=True)
class ServerStartReceiveOfPeekHandleThrown(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive whose timeout expires."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and call.method.name == "RemoteQMStartReceive":
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().answer_read(call, status, entry)


class _Repacked(RemoteReads):
    """Change the packet that the server returns."""

    def change_packet(self, packet):
        raise NotImplementedError

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet = parse_packet(super().serialize_remote_message(position))
        changed = self.change_packet(packet)
        return replace(changed, BaseHeader=replace(changed.BaseHeader, PacketSize=0)).build()


_SERIALIZED = ("MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47")


@fault("server-answer-packet-without-security-header", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketWithoutSecurityHeader(_Repacked):
    """The server returns an authenticated message without its SecurityHeader."""

    def change_packet(self, packet):
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 19))
        return packet if packet.SecurityHeader is None else replace(packet, UserHeader=flags, SecurityHeader=None)


@fault("server-answer-packet-without-multi-queue-format-header", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketWithoutMultiQueueFormatHeader(_Repacked):
    """The server returns a message to several destinations without its MultiQueueFormatHeader."""

    def change_packet(self, packet):
        if packet.MultiQueueFormatHeader is None:
            return packet
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 23))
        return replace(packet, UserHeader=flags, MultiQueueFormatHeader=None)


@fault("server-answer-packet-without-debug-header", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketWithoutDebugHeader(_Repacked):
    """The server returns a traced message without its DebugHeader."""

    def change_packet(self, packet):
        if packet.DebugHeader is None:
            return packet
        return replace(
            packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~0x30), DebugHeader=None
        )


@fault("server-answer-packet-priority-3", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketPriority3(_Repacked):
    """The server returns every message with priority 3."""

    def change_packet(self, packet):
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~7 | 3))


@fault("server-answer-packet-without-response-queue", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketWithoutResponseQueue(_Repacked):
    """The server returns a message without its ResponseQueue."""

    def change_packet(self, packet):
        header = packet.UserHeader
        if header.ResponseQueue is None:
            return packet
        return replace(packet, UserHeader=replace(header, Flags=header.Flags & ~(7 << 16), ResponseQueue=None))


@fault("server-answer-packet-time-to-be-received-infinite", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketTimeToBeReceivedInfinite(_Repacked):
    """The server returns every message with an infinite TimeToBeReceived."""

    def change_packet(self, packet):
        return replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=0xFFFFFFFF))


@fault("server-answer-packet-acknowledgment-flags-0", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketAcknowledgmentFlags0(_Repacked):
    """The server clears the acknowledgment bits of MessagePropertiesHeader.Flags in every message that it returns."""

    def change_packet(self, packet):
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, Flags=0))


@fault("server-answer-packet-label-cut-at-124", breaks=_SERIALIZED, blind=True)
class ServerAnswerPacketLabelCutAt124(_Repacked):
    """The server cuts the label of a message that it returns to 124 characters."""

    def change_packet(self, packet):
        header = packet.MessagePropertiesHeader
        cut = header.Label[:124] if header.Label else header.Label
        return replace(packet, MessagePropertiesHeader=replace(header, Label=cut))


@fault("server-start-receive2-waited-sequential-id-0", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class ServerStartReceive2WaitedSequentialId0(RemoteReads):
    """The server returns SequentialId 0 for a RemoteQMStartReceive2 that waited for its message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            self.__dict__.setdefault("waited", set()).add(entry.call)

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.call in self.__dict__.get("waited", ()):
            self.__dict__["now_waited"] = True
        super().answer_read(call, status, entry)
        self.__dict__["now_waited"] = False

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.__dict__.get("now_waited") else super().get_sequential_id(position)


@fault("server-sequential-id-of-recoverable-message-0", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class ServerSequentialIdOfRecoverableMessage0(RemoteReads):
    """The server returns SequentialId 0 for a transactional message."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        transactional = position.MessageReference.TransactionIdentifier is not None
        return 0 if transactional else super().get_sequential_id(position)
