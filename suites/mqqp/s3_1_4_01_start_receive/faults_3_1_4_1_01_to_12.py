"""Faults that break the rules MQQP-3.1.4.1-01 to MQQP-3.1.4.1-12."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_unbound_context, change_answer_values
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import CursorResult, QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence, RemoteError, RpcBindingHandle
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call
from reference_qm.rpc.outgoing import CallFailed, ClientOutput
from reference_qm.surface.clock import Now
from suites.mqqp.s3_1_4_01_start_receive.fault_steps import RecorderOfWaitOfReadForMessage, is_start_receive2


@fault("server-received-message-visible-to-lookup-peek", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToLookupPeek(MessageSearch):
    """The server returns the message of an unfinished receive to a peek by LookupIdentifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: Any
    ) -> tuple[Status, MessagePosition | None]:
        found = queue.MessagePositionList.find(lookup_id)
        if peek_operation and found is not None and found.State is MessagePositionState.LOCKED:
            return Status.MQ_OK, found
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-received-message-visible-to-peek-next", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToPeekNext(QueueCursors):
    """The server returns the message of an unfinished receive to a PEEK_NEXT."""

    def get_next_message_for_peek(self, cursor: Cursor) -> CursorResult:
        after = cursor.MessagePositionReference.Next
        if not isinstance(after, Boundary) and after is not None and after.State is MessagePositionState.LOCKED:
            return CursorStatus.SUCCEEDED, after
        return super().get_next_message_for_peek(cursor)


@fault("server-received-message-visible-to-peek-current", breaks="MQQP-3.1.4.1-01")
class ServerReceivedMessageVisibleToPeekCurrent(MessageSearch):
    """The server returns the message of an unfinished receive to a PEEK_CURRENT without a cursor."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        locked = position.State is MessagePositionState.LOCKED
        return (peek_operation and locked) or super().is_message_readable(position, peek_operation)


@fault("server-waiting-receives-get-same-message", breaks=("MQQP-3.1.4.1-01", "MQQP-3.1.4.1-D15"))
class ServerWaitingReceivesGetSameMessage(WaitingReads):
    """The server returns an arriving message to all receives that wait on the same handle."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [one for one in reader.descriptor.WaitingMessageReadOperationCollection if one is not reader]
        super().pass_message_to_waiting_reader(reader, position)
        for one in others:
            if one.number in self.qm.readers and one.DestructiveRead and reader.DestructiveRead:
                super().pass_message_to_waiting_reader(one, position)


@fault("server-locks-received-message-only-for-its-handle", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-01"), blind=True)
class ServerLocksReceivedMessageOnlyForItsHandle(RemoteReads):
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


@fault("server-cancel-receive-takes-newest-read", breaks="MQQP-3.1.4.1-02")
class ServerCancelReceiveTakesNewestRead(RemoteReadEnding):
    """When several reads wait, RemoteQMCancelReceive cancels the newest waiting read of the queue, regardless of
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        return status, None if found is None else self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(
            h_queue
        )[-1]


add(
    "client-start-receive-on-unknown-context",
    "MQQP-3.1.4.1-04",
    "The client calls RemoteQMStartReceive on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMStartReceive"),
)


@fault("server-returns-null-context-handle-for-start-receive-that-waited", breaks="MQQP-3.1.4.1-05")
class ServerReturnsNullContextHandleForStartReceiveThatWaited(RecorderOfWaitOfReadForMessage):
    """The server returns the context handle NULL for a RemoteQMStartReceive that waited for its message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.Timeout >> 40 and not is_start_receive2(entry):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("server-returns-null-context-handle-for-receive-by-cursor", breaks=("MQQP-3.1.4.1-05", "MQQP-3.1.4.10-02"))
class ServerReturnsNullContextHandleForReceiveByCursor(RemoteReads):
    """The server returns the context handle NULL for a receive by a cursor."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        if desc is not None and desc["hCursor"]:
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault(
    "server-returns-null-context-handle-for-message-without-body",
    breaks=("MQQP-3.1.4.1-05", "MQQP-3.1.4.10-02"),
    blind=True,
)
class ServerReturnsNullContextHandleForMessageWithoutBody(RemoteReads):
    """The server returns the context handle NULL for a receive of a message without a body."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        position = None if entry is None else entry.UserMessagePacket
        if position is not None and not position.MessageReference.Body:
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault(
    "server-returns-context-handle-for-peek-next",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
)
class ServerReturnsContextHandleForPeekNext(RemoteReads):
    """The server returns a context handle for a PEEK_NEXT."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            call = change_answer_values(call, pphContext=call.make_context_handle(entry))
        super().answer_read(call, status, entry)


@fault(
    "server-returns-context-handle-for-timed-out-receive",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
)
class ServerReturnsContextHandleForTimedOutReceive(RemoteReads):
    """The server returns a context handle for a receive whose timeout expired after a wait."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and status is Status.MQ_ERROR_IO_TIMEOUT and entry.Timeout:
            call = change_answer_values(call, pphContext=call.make_context_handle(entry))
        super().answer_read(call, status, entry)


@fault(
    "server-returns-context-handle-for-peek-that-waited",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
    blind=True,
)
class ServerReturnsContextHandleForPeekThatWaited(RemoteReads):
    """The server returns a context handle for a PEEK_CURRENT that waited for its message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            self.__dict__.setdefault("waited", set()).add(entry)

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry in self.__dict__.get("waited", ()) and not status:
            call = change_answer_values(call, pphContext=call.make_context_handle(entry))
        super().answer_read(call, status, entry)


@fault(
    "server-returns-context-handle-for-receive-by-unknown-cursor",
    breaks=("MQQP-3.1.4.1-06", "MQQP-3.1.4.10-03"),
    blind=True,
)
class ServerReturnsContextHandleForReceiveByUnknownCursor(RemoteReads):
    """The server returns a context handle for a receive by a cursor that is not open."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is None and status is Status.STATUS_INVALID_PARAMETER:
            call = change_answer_values(call, pphContext=call.make_context_handle(object()))
        super().answer_read(call, status, entry)


@fault("client-end-receive-called-after-failed-receive", breaks=("MQQP-3.1.4.10-04", "MQQP-3.1.4.1-07"))
class ClientEndReceiveCalledAfterFailedReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive with the handle NULL after a failed receive."""

    def _call_start_method(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> RemoteCallSequence:
        try:
            return (yield from super()._call_start_method(read, method, arguments))
        except RemoteError:
            if (
                read.receives
                and read.entry is not None
                and read.entry in self.qm.remote_client.PendingRemoteReadEntryCollection
            ):
                binding = read.queue.binding
                assert binding is not None
                yield CallMethodStep(binding, "RemoteQMEndReceive", {"pphContext": None, "dwAck": 1}, 1000)
            raise


@fault(
    "client-waits-on-after-call-ended-with-fault-or-lost-connection",
    breaks=(
        *("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18", "MQQP-3.1.4.2-08", "MQQP-3.1.4.3-12"),
        *("MQQP-3.1.4.4-03", "MQQP-3.1.4.5-03", "MQQP-3.1.4.6-05", "MQQP-3.1.4.7-03"),
    ),
)
class ClientWaitsOnAfterCallEndedWithFaultOrLostConnection(ClientTasks):
    """The client continues to wait for a call that ended with a fault or a lost connection."""

    def _carry_out_outputs(self, binding: RpcBindingHandle, happened: list[ClientOutput], now: Now) -> None:
        super()._carry_out_outputs(binding, [one for one in happened if not isinstance(one, CallFailed)], now)


FAILURE_RULE_BY_METHOD = {
    "RemoteQMStartReceive": "MQQP-3.1.4.1-10",
    "RemoteQMStartReceive2": "MQQP-3.1.4.10-10",
    "RemoteQMEndReceive": "MQQP-3.1.4.2-08",
    "RemoteQMOpenQueue": "MQQP-3.1.4.3-12",
    "RemoteQMCloseQueue": "MQQP-3.1.4.4-03",
    "RemoteQMCloseCursor": "MQQP-3.1.4.5-03",
    "RemoteQMCancelReceive": "MQQP-3.1.4.6-05",
    "RemoteQMPurgeQueue": "MQQP-3.1.4.7-03",
    "RemoteQMStartReceiveByLookupId": "MQQP-3.1.4.11-18",
}
"""For each method, the rule that the client treats all failures of this method alike."""


@fault("client-failure-of-other-facility-taken-as-success", breaks=tuple(FAILURE_RULE_BY_METHOD.values()))
class ClientFailureOfOtherFacilityTakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT as success if its facility is not the facility of message queuing."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and (status >> 16 & 0x7FF) == 0xE


@fault("client-failure-with-code-0-taken-as-success", breaks=tuple(FAILURE_RULE_BY_METHOD.values()))
class ClientFailureWithCode0TakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT whose code is 0 as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and bool(status & 0xFFFF)


@fault("client-repeats-read-after-io-timeout", breaks=("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10"))
class ClientRepeatsReadAfterIoTimeout(ClientMessageReading):
    """The client repeats a read that returned MQ_ERROR_IO_TIMEOUT."""

    def _call_start_method(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> RemoteCallSequence:
        try:
            return (yield from super()._call_start_method(read, method, arguments))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_IO_TIMEOUT:
                raise
        return (yield from super()._call_start_method(read, method, arguments))


@fault(
    "server-accepts-second-read-with-dw-request-id-of-waiting-peek",
    breaks=("MQQP-3.1.4.10-15", "MQQP-3.1.4.1-12"),
    blind=True,
)
class ServerAcceptsSecondReadWithDwRequestIdOfWaitingPeek(RemoteReadStarting):
    """The server accepts a second read with the dwRequestID of a waiting peek, but refuses a second read with the
    dwRequestID of a waiting receive.
    """

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"]):
            if entry.RequestId == desc["dwRequestID"] and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("server-duplicate-request-id-of-waiting-peek-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateRequestIdOfWaitingPeekAccepted(RemoteReadStarting):
    """The server accepts a read with the dwRequestID of a peek that waits on the same handle."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        used = any(one.RequestId == desc["dwRequestID"] and one.Action in RECEIVE_ACTIONS for one in pending)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-refuses-duplicate-request-id-of-only-first-waiting-read", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerRefusesDuplicateRequestIdOfOnlyFirstWaitingRead(RemoteReadStarting):
    """The server accepts a read with the dwRequestID of the second read that waits on the same handle."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        first = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])[:1]
        used = any(one.RequestId == desc["dwRequestID"] for one in first)
        return Status.MQ_ERROR_INVALID_PARAMETER if used else Status.MQ_OK


@fault("server-refused-duplicate-request-id-cancels-first-read", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerRefusedDuplicateRequestIdCancelsFirstRead(RemoteReadStarting):
    """The server refuses a read whose dwRequestID is in use, and also cancels the waiting read with
    this dwRequestID.
    """

    def check_request_id(self, desc: ReadDescription) -> Status:
        status = super().check_request_id(desc)
        if status:
            for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"]):
                if one.RequestId == desc["dwRequestID"]:
                    self.qm.remote_read_ending.cancel_remote_read(one, Status.MQ_ERROR_OPERATION_CANCELLED)
        return status


@fault("server-duplicate-request-id-of-other-method-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateRequestIdOfOtherMethodAccepted(RemoteReadStarting):
    """The server accepts a dwRequestID that a read by the other method (RemoteQMStartReceive or RemoteQMStartReceive2)
    uses on the same handle.
    """

    def _start_read(self, call: Call, desc: ReadDescription, checks: Any, now: Now) -> None:
        entries = self.qm.remote.RemoteReadEntryCollection
        hidden = []
        if desc is not None:
            hidden = [
                one
                for one in entries.list_entries_of_handle(desc["hRemoteQueue"])
                if one.call.method.name != call.method.name
            ]
        for one in hidden:
            entries.remove(one)
        super()._start_read(call, desc, checks, now)
        for one in hidden:
            entries.add(one)


@fault("server-duplicate-dwrequestid-0-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateDwrequestid0Accepted(RemoteReadStarting):
    """The server accepts a read with dwRequestID 0 while another read of the same handle uses this dwRequestID."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        return super().check_request_id(desc) if desc["dwRequestID"] else Status.MQ_OK


@fault(
    "server-duplicate-request-id-of-read-by-cursor-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"), blind=True
)
class ServerDuplicateRequestIdOfReadByCursorAccepted(RemoteReadStarting):
    """The server accepts a read with the dwRequestID of a read by a cursor that waits on the same handle."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        readers = [one for one in self.qm.readers.values() if one.CursorReference is not None]
        if any(reader.Tag == (desc["hRemoteQueue"], desc["dwRequestID"]) for reader in readers):
            return Status.MQ_OK
        return super().check_request_id(desc)


@fault("server-duplicate-request-id-refused-with-mq-error", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"), blind=True)
class ServerDuplicateRequestIdRefusedWithMqError(RemoteReadStarting):
    """The server returns MQ_ERROR for a read whose dwRequestID is in use."""

    def check_request_id(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR if super().check_request_id(desc) else Status.MQ_OK


@fault(
    "server-accepts-new-read-with-dw-request-id-of-pending-peek",
    breaks=("MQQP-3.1.4.1-12", "MQQP-2.2.2.1-05"),
    blind=True,
)
class ServerAcceptsNewReadWithDwRequestIdOfPendingPeek(RemoteReadStarting):
    """The server accepts the dwRequestID of a pending peek."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        used = [one.RequestId for one in pending if one.Action is ReadAction.MQ_ACTION_RECEIVE]
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK


@fault("client-start-receive2-invalid-parameter-falls-back-to-start-receive", breaks="MQQP-3.1.4.10-10", blind=True)
class ClientStartReceive2InvalidParameterFallsBackToStartReceive(ClientMessageReading):
    """The client calls RemoteQMStartReceive after a RemoteQMStartReceive2 that returned MQ_ERROR_INVALID_PARAMETER."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError as error:
            if read.LookupId is not None or error.status != Status.MQ_ERROR_INVALID_PARAMETER:
                raise
        return (yield from self.start_receive(read))
