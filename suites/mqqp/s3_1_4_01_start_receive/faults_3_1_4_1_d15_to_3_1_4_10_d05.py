"""Faults that break the rules MQQP-3.1.4.1-D15 to MQQP-3.1.4.10-D05."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context, change_answer_values
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now
from suites.mqqp.s3_1_4_01_start_receive.fault_steps import RecorderOfWaitOfReadForMessage, is_start_receive2


@fault("server-waited-receive-deletes-message-at-once", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerWaitedReceiveDeletesMessageAtOnce(WaitingReads):
    """When a receive had to wait for its message, the server deletes the message at once instead of locking it until
    RemoteQMEndReceive.
    """

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        if position.State is MessagePositionState.LOCKED:
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-receive-by-cursor-waits-without-timeout", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerReceiveByCursorWaitsWithoutTimeout(RemoteReads):
    """The server ignores the timeout of a receive by a cursor: the receive waits without a time limit."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and entry.Timeout:
            entry.Timeout = 0xFFFFFFFF
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-second-receive-of-handle-deletes-first-message", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerSecondReceiveOfHandleDeletesFirstMessage(RemoteReads):
    """When a handle receives a second message, the server deletes the message of the first receive, which is
    unfinished.
    """

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        earlier = self.__dict__.setdefault("earlier", {})
        position: MessagePosition | None = earlier.get(entry.OpenQueueDescriptorHandle)
        if position is not None and position.State.name == "LOCKED":
            position.QueueReference.MessagePositionList.remove(position)
        super().remote_receive(entry, descriptor, cursor, now)
        earlier[entry.OpenQueueDescriptorHandle] = entry.UserMessagePacket


@fault("server-receive-of-transactional-message-deletes-it", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerReceiveOfTransactionalMessageDeletesIt(RemoteReads):
    """The server deletes a transactional message as soon as it is received, not when the receive ends."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        locked = position is not None and position.State is MessagePositionState.LOCKED
        if position is not None and locked and position.MessageReference.TransactionIdentifier is not None:
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-peek-current-timeout-in-seconds", breaks=("MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-36"))
class ServerPeekCurrentTimeoutInSeconds(RemoteReads):
    """The server treats ulTimeout of a PEEK_CURRENT as a number of seconds."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout != 0xFFFFFFFF:
            entry.Timeout *= 1000
        super().remote_peek(entry, descriptor, cursor, now)


@fault("server-peek-next-at-last-message-does-not-wait", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40"))
class ServerPeekNextAtLastMessageDoesNotWait(RemoteReads):
    """The server does not let a PEEK_NEXT wait when the cursor is at the last message of the queue."""

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if descriptor.QueueReference is not None and len(descriptor.QueueReference.MessagePositionList):
            entry.Timeout = 0
        super().remote_peek_next(entry, descriptor, cursor, now)


@fault(
    "server-end-of-read-removes-read-of-other-queue-with-equal-request-id",
    breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"),
    blind=True,
)
class ServerEndOfReadRemovesReadOfOtherQueueWithEqualRequestId(RemoteReads):
    """When a read is finished, the server also removes the RemoteReadEntry of another queue with the same RequestId."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        for other in list(self.qm.remote.RemoteReadEntryCollection):
            if other.RequestId == entry.RequestId:
                super().remove_remote_read_entry(other)


@fault("server-keeps-remote-read-entry-of-timed-out-read", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerKeepsRemoteReadEntryOfTimedOutRead(RemoteReads):
    """The server keeps the entry of a read whose timeout expired, so the dwRequestID stays in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_IO_TIMEOUT:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-keeps-remote-read-entry-of-failed-cursor-read", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerKeepsRemoteReadEntryOfFailedCursorRead(RemoteReads):
    """When a read by a cursor fails because its message was already received, the server keeps the entry of the
    read.
    """

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-keeps-remote-read-entry-of-finished-peek-next", breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"))
class ServerKeepsRemoteReadEntryOfFinishedPeekNext(RemoteReads):
    """The server keeps the entry of a finished PEEK_NEXT, so the dwRequestID stays in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault(
    "server-keeps-request-id-of-receive-in-use-until-end-receive",
    breaks=("MQQP-3.1.4.1-D18", "MQQP-3.1.4.10-53"),
    blind=True,
)
class ServerKeepsRequestIdOfReceiveInUseUntilEndReceive(RemoteReads):
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


@fault("server-ends-waiting-read-of-deleted-queue-with-mq-ok", breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"))
class ServerEndsWaitingReadOfDeletedQueueWithMqOk(WaitingReads):
    """If a queue is deleted while a read waits for its messages, the server returns MQ_OK without a message for the
    read.
    """

    def end_wait_without_message(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        ok = status is not Status.MQ_ERROR_IO_TIMEOUT and status >> 31
        super().end_wait_without_message(reader, Status.MQ_OK if ok else status)


@fault(
    "server-returns-io-timeout-for-received-message-of-cursor",
    breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"),
    blind=True,
)
class ServerReturnsIoTimeoutForReceivedMessageOfCursor(RemoteReads):
    """The server returns MQ_ERROR_IO_TIMEOUT for a read by a cursor if another reader has received the cursor's
    message.
    """

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            status = Status.MQ_ERROR_IO_TIMEOUT
        super().answer_read(call, status, entry)


@fault("server-returns-mq-error-for-timed-out-peek-next", breaks=("MQQP-3.1.4.1-D20", "MQQP-3.1.4.10-55"), blind=True)
class ServerReturnsMqErrorForTimedOutPeekNext(RemoteReads):
    """The server returns MQ_ERROR for a PEEK_NEXT that finds no message within its timeout."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        next_message = entry is not None and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        if status is Status.MQ_ERROR_IO_TIMEOUT and next_message:
            status = Status.MQ_ERROR
        super().answer_read(call, status, entry)


@fault("server-start-receive-raises-exception-for-unknown-cursor", breaks="MQQP-3.1.4.1-D21")
class ServerStartReceiveRaisesExceptionForUnknownCursor(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive with an unknown hCursor."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.STATUS_INVALID_PARAMETER and call.method.name == "RemoteQMStartReceive":
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().answer_read(call, status, entry)


@fault("server-start-receive-raises-exception-for-timeout", breaks="MQQP-3.1.4.1-D21", blind=True)
class ServerStartReceiveRaisesExceptionForTimeout(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive whose timeout expires."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and call.method.name == "RemoteQMStartReceive":
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().answer_read(call, status, entry)


add(
    "client-start-receive2-on-unknown-context",
    "MQQP-3.1.4.10-01",
    "The client calls RemoteQMStartReceive2 on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMStartReceive2"),
)


@fault("server-returns-null-context-handle-for-start-receive2-that-waited", breaks="MQQP-3.1.4.10-02")
class ServerReturnsNullContextHandleForStartReceive2ThatWaited(RecorderOfWaitOfReadForMessage):
    """The server returns the context handle NULL for a RemoteQMStartReceive2 that waited for its message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.Timeout >> 40 and is_start_receive2(entry):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("server-answer-sequential-id-with-highest-byte", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class ServerAnswerSequentialIdWithHighestByte(RemoteReads):
    """The server returns the complete LookupIdentifier in SequentialId, including its highest byte."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return position.LookupIdentifier


@fault("server-start-receive2-returns-sequential-id-of-first-message", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"))
class ServerStartReceive2ReturnsSequentialIdOfFirstMessage(RemoteReads):
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


@fault(
    "server-start-receive2-returns-sequential-id-0-after-wait",
    breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"),
    blind=True,
)
class ServerStartReceive2ReturnsSequentialId0AfterWait(RemoteReads):
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


@fault("server-sequential-id-of-transactional-message-0", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class ServerSequentialIdOfTransactionalMessage0(RemoteReads):
    """The server returns SequentialId 0 for a transactional message."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        transactional = position.MessageReference.TransactionIdentifier is not None
        return 0 if transactional else super().get_sequential_id(position)


@fault("server-returns-invalid-parameter-for-null-read-description", breaks="MQQP-3.1.4.10-13")
class ServerReturnsInvalidParameterForNullReadDescription(RemoteReadStarting):
    """RemoteQMStartReceive2 returns MQ_ERROR_INVALID_PARAMETER if pRemoteReadDesc is NULL."""

    def check_read_description(self, desc: ReadDescription | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else super().check_read_description(desc)


@fault("server-start-receive2-null-description-returns-invalid-parameter", breaks="MQQP-3.1.4.10-13")
class ServerStartReceive2NullDescriptionReturnsInvalidParameter(RemoteReadStarting):
    """The server returns MQ_ERROR_INVALID_PARAMETER if pRemoteReadDesc is NULL."""

    def check_read_description(self, desc: ReadDescription | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else Status.MQ_OK


@fault("server-receive-by-cursor-uses-cursor-opened-last", breaks="MQQP-3.1.4.10-21")
class ServerReceiveByCursorUsesCursorOpenedLast(RemoteReadStarting):
    """The server reads by the cursor that was opened last, even if the read names another open cursor."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else list(descriptor.CursorCollection.values())[-1]


@fault("server-start-receive2-raises-exception-for-timeout", breaks="MQQP-3.1.4.10-D05")
class ServerStartReceive2RaisesExceptionForTimeout(RemoteReads):
    """The server raises an RPC exception for a RemoteQMStartReceive2 that finds no message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and call.method.name == "RemoteQMStartReceive2":
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            super().answer_read(call, status, entry)


class _PeekerForUnknownReadActions(RemoteReadStarting):
    def check_start_action(self, desc: ReadDescription) -> Status:
        if super().check_start_action(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "server-unknown-action-peeks-tolerated",
    (),
    "Tolerated: the server performs a read with an undefined ulAction as a PEEK_CURRENT.",
    replace_part(_PeekerForUnknownReadActions),
)


@fault("server-receive-by-cursor-does-not-wait", breaks="MQQP-3.1.4.1-D15", blind=True)
class ServerReceiveByCursorDoesNotWait(RemoteReads):
    """The server ignores ulTimeout of a RECEIVE that has a cursor, and does not wait for a message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None:
            entry.Timeout = 0
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-ended-read-removes-read-entries-of-equal-request-id", breaks="MQQP-3.1.4.1-D18", blind=True)
class ServerEndedReadRemovesReadEntriesOfEqualRequestId(RemoteReads):
    """When a read ends, the server removes the entries with the dwRequestID of this read for every queue handle."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        entries = self.qm.remote.RemoteReadEntryCollection
        for one in list(entries):
            if one.RequestId == entry.RequestId:
                entries.remove(one)
        super().complete_remote_read(entry, status, position)


@fault("server-receive-of-received-message-returns-not-found", breaks="MQQP-3.1.4.1-D20", blind=True)
class ServerReceiveOfReceivedMessageReturnsNotFound(RemoteReads):
    """The server returns MQ_ERROR_MESSAGE_NOT_FOUND instead of MQ_ERROR_MESSAGE_ALREADY_RECEIVED from a RECEIVE whose
    cursor is at a message that has become unavailable.
    """

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        receives = entry.Action is ReadAction.MQ_ACTION_RECEIVE
        if receives and status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        super().complete_remote_read(entry, status, position)


@fault("server-start-receive2-unlocks-earlier-message-of-handle", breaks="MQQP-3.1.4.10-31", blind=True)
class ServerStartReceive2UnlocksEarlierMessageOfHandle(RemoteReads):
    """A RECEIVE of RemoteQMStartReceive2 unlocks the message of the previous RECEIVE with the same handle, although
    RemoteQMEndReceive was not called.
    """

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.call.method.name == "RemoteQMStartReceive2":
            latest: dict[int, RemoteReadEntry] = self.__dict__.setdefault("latest", {})
            previous = latest.get(descriptor.Handle)
            latest[descriptor.Handle] = entry
            if previous is not None and previous.UserMessagePacket is not None and not previous.ended:
                self.qm.message_positions.unlock_message(previous.UserMessagePacket)
        super().remote_receive(entry, descriptor, cursor, now)
