"""Faults that break rules of MS-MQQP 2.2 Common Data Types and of 2.2.1.1 and 2.2.1.2."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_pdus, combine_installers, filter_inputs
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer_values, change_rpc_answer
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RpcBindingHandle
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import LOOKUP_ACTIONS, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcBytesReceived

QM2QM_METHOD_STEPS = (
    RemoteReadStarting.remote_qm_start_receive,
    RemoteReadStarting.remote_qm_start_receive2,
    RemoteReadStarting.remote_qm_start_receive_by_lookup_id,
    RemoteReadEnding.remote_qm_end_receive,
    RemoteReadEnding.remote_qm_cancel_receive,
    RemoteQueueOpening.remote_qm_open_queue,
    RemoteQueueOpening.remote_qm_close_queue,
    RemoteQueueOpening.remote_qm_close_cursor,
    RemoteQueueOpening.remote_qm_purge_queue,
)


def _change_failure_statuses(change: Callable[[int], int]) -> Install:
    """Build a fault that changes the failure statuses that the methods of qm2qm return."""

    def change_failure_status(status: int) -> int:
        return change(status) if status >> 31 else status

    return combine_installers(
        *(change_rpc_answer(method, Return=change_failure_status) for method in QM2QM_METHOD_STEPS)
    )


add(
    "server-failure-unlisted-without-customer-bit",
    ("MQQP-1.8-D01", "MQDMPR-1.8-D01"),
    "The server returns failure HRESULTs whose code no document lists, with the C bit clear.",
    _change_failure_statuses(lambda status: 0xC00E_7777),
)


@fault("server-returns-own-status-without-c-bit-for-closed-queue", breaks="MQQP-1.8-D01")
class ServerReturnsOwnStatusWithoutCBitForClosedQueue(RemoteReadEnding):
    """If the queue of a pending receive has been closed, RemoteQMEndReceive returns an HRESULT of the server in which
    the C bit is clear.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None:
            handle = call.handle.state.OpenQueueDescriptorHandle
            if self.qm.remote_read_starting.find_remote_descriptor(handle) is None:
                call = change_answer_values(call, Return=0xC00EF00D)
        super().remote_qm_end_receive(call, now)


class _RefusalStatusChanger(RemoteReads):
    """Change the statuses of refused reads."""

    def change(self, call: Call, status: int) -> int:
        raise NotImplementedError

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        changed = change_answer_values(call, Return=lambda old: self.change(call, int(old)) if old else old)
        super().answer_read(changed, status, entry)


@fault("server-own-status-of-timed-out-read-without-customer-bit", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerOwnStatusOfTimedOutReadWithoutCustomerBit(_RefusalStatusChanger):
    """The server returns its own HRESULT 0xC00E7001 for a read whose timeout expired."""

    def change(self, call: Call, status: int) -> int:
        return 0xC00E7001 if status == Status.MQ_ERROR_IO_TIMEOUT else status


@fault("server-own-status-of-refused-lookup-without-customer-bit", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerOwnStatusOfRefusedLookupWithoutCustomerBit(_RefusalStatusChanger):
    """The server returns its own HRESULT 0xC00E7002 for a refused RemoteQMStartReceiveByLookupId."""

    def change(self, call: Call, status: int) -> int:
        return 0xC00E7002 if call.method.name == "RemoteQMStartReceiveByLookupId" else status


@fault("server-returns-own-status-without-customer-bit-for-refused-purge", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerReturnsOwnStatusWithoutCustomerBitForRefusedPurge(RemoteQueueOpening):
    """The server returns its own HRESULT 0xC00E7003 for a refused RemoteQMPurgeQueue."""

    def refuse_purge(self, call: Call, status: Status) -> None:
        super().refuse_purge(change_answer_values(call, Return=0xC00E7003), status)


@fault("server-returns-own-status-without-customer-bit-for-null-handle", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerReturnsOwnStatusWithoutCustomerBitForNullHandle(RemoteReadEnding):
    """The server returns its own HRESULT 0xC00E7004 for a RemoteQMEndReceive with the context handle NULL."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        null = call.handle is None
        super().remote_qm_end_receive(change_answer_values(call, Return=0xC00E7004) if null else call, now)


@fault("server-own-status-of-refused-close-cursor-without-customer-bit", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerOwnStatusOfRefusedCloseCursorWithoutCustomerBit(RemoteQueueOpening):
    """The server returns its own HRESULT 0xC00E7005 for a refused RemoteQMCloseCursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        own = change_answer_values(call, Return=lambda old: 0xC00E7005 if old else old)
        super().remote_qm_close_cursor(own, now)


@fault("server-own-status-of-refused-cancel-without-customer-bit", breaks=("MQQP-1.8-D01", "MQDMPR-1.8-D01"))
class ServerOwnStatusOfRefusedCancelWithoutCustomerBit(RemoteReadEnding):
    """The server returns its own HRESULT 0xC00E7006 for a RemoteQMCancelReceive with an unknown dwRequestID."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        own = change_answer_values(call, Return=lambda old: 0xC00E7006 if old == Status.MQ_ERROR else old)
        super().remote_qm_cancel_receive(own, now)


def _remove_ndr64_proposals(event: Input) -> Iterable[Input]:
    """Replace NDR64 with an unknown transfer syntax in each bind that the server receives."""
    if isinstance(event, RpcBytesReceived):
        event = replace(event, data=event.data.replace(NDR64.uuid.bytes_le, bytes(16)))
    return [event]


add(
    "server-ndr64-refused",
    "MQQP-2.2-01",
    "The server refuses the transfer syntax NDR64.",
    filter_inputs(_remove_ndr64_proposals),
)


def _propose_only_ndr(bind: Bind) -> Bind:
    """Replace NDR64 with NDR in each bind that the client sends."""
    proposed = tuple(replace(one, transfer_syntaxes=(NDR,)) for one in bind.p_context_elem)
    return replace(bind, p_context_elem=proposed)


add(
    "client-bind-without-ndr64",
    "MQQP-2.2-01",
    "The client does not propose NDR64 in its bind.",
    change_pdus(Bind, _propose_only_ndr),
)


add(
    "server-failure-without-severity-bit",
    "MQQP-2.2-D01",
    "The server returns failure HRESULTs with the S bit clear.",
    _change_failure_statuses(lambda status: status & 0x7FFF_FFFF),
)


@fault("server-purge-through-peek-handle-refused-without-severity-bit", breaks="MQQP-2.2-D01", blind=True)
class ServerPurgeThroughPeekHandleRefusedWithoutSeverityBit(RemoteQueueOpening):
    """When the server refuses a purge through a handle that was opened for peeking, the server returns an HRESULT
    without the S bit.
    """

    def refuse_purge(self, call: Call, status: Status) -> None:
        if status is Status.MQ_ERROR_ACCESS_DENIED:
            self.qm.remote.carry_out_outputs(call.respond(Return=status & 0x7FFFFFFF))
        else:
            super().refuse_purge(call, status)


MASK_WITHOUT_SEVERITY_BIT = 0x7FFFFFFF


@fault("server-timeout-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerTimeoutStatusWithoutSeverityBit(RemoteReads):
    """The server clears the S bit of the status of a read whose timeout expired after a wait."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_IO_TIMEOUT and entry is not None and entry.Timeout:
            call = change_answer_values(call, Return=status & MASK_WITHOUT_SEVERITY_BIT)
        super().answer_read(call, status, entry)


@fault("server-already-received-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerAlreadyReceivedStatusWithoutSeverityBit(RemoteReads):
    """The server clears the S bit of the status of a read by a cursor whose message was already received."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            call = change_answer_values(call, Return=status & MASK_WITHOUT_SEVERITY_BIT)
        super().answer_read(call, status, entry)


@fault("server-unknown-request-id-status-without-severity-bit", breaks="MQQP-2.2-D01")
class ServerUnknownRequestIdStatusWithoutSeverityBit(RemoteReadEnding):
    """When RemoteQMCancelReceive names an unknown dwRequestID, the server returns a status without the S bit."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        given = call.arguments
        status, _ = self.find_read_to_cancel(given["hQueue"], given["dwRequestID"])
        if status is Status.MQ_ERROR and given["pQueue"] == given["hQueue"]:
            call = change_answer_values(call, Return=status & MASK_WITHOUT_SEVERITY_BIT)
        super().remote_qm_cancel_receive(call, now)


SEVERITY_BIT = 0x80000000


@fault("server-status-of-unknown-cursor-without-severity", breaks="MQQP-2.2-D01")
class ServerStatusOfUnknownCursorWithoutSeverity(_RefusalStatusChanger):
    """The server returns STATUS_INVALID_PARAMETER without the severity bit for an unknown hCursor."""

    def change(self, call: Call, status: int) -> int:
        return status & ~SEVERITY_BIT if status == Status.STATUS_INVALID_PARAMETER else status


@fault("server-status-of-timed-out-read-without-severity", breaks="MQQP-2.2-D01")
class ServerStatusOfTimedOutReadWithoutSeverity(_RefusalStatusChanger):
    """The server returns MQ_ERROR_IO_TIMEOUT without the severity bit for a read whose timeout expired."""

    def change(self, call: Call, status: int) -> int:
        return status & ~SEVERITY_BIT if status == Status.MQ_ERROR_IO_TIMEOUT else status


@fault("server-status-of-refused-lookup-without-severity", breaks="MQQP-2.2-D01")
class ServerStatusOfRefusedLookupWithoutSeverity(_RefusalStatusChanger):
    """The server returns failures of RemoteQMStartReceiveByLookupId without the severity bit."""

    def change(self, call: Call, status: int) -> int:
        return status & ~SEVERITY_BIT if call.method.name == "RemoteQMStartReceiveByLookupId" else status


@fault("server-second-open-queue-returns-null-context-handle", breaks="MQQP-2.2.1.1-01")
class ServerSecondOpenQueueReturnsNullContextHandle(RemoteQueueOpening):
    """The server returns the handle NULL from the second RemoteQMOpenQueue of a client."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        many = len(self.qm.remote.OpenQueueEntryCollection)
        super().remote_qm_open_queue(change_answer_values(call, phContext=None) if many else call, now)


@fault("server-close-queue-leaves-handle-valid-while-other-is-open", breaks="MQQP-2.2.1.1-01")
class ServerCloseQueueLeavesHandleValidWhileOtherIsOpen(RemoteQueueOpening):
    """The server returns MQ_OK from RemoteQMCloseQueue, but keeps the handle and the queue open, if the client has a
    second queue open.
    """

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None and len(self.qm.remote.OpenQueueEntryCollection) > 1:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, pphContext=call.handle))
        else:
            super().remote_qm_close_queue(call, now)


@fault("client-omits-close-queue-while-any-other-queue-is-open", breaks="MQQP-2.2.1.1-01")
class ClientOmitsCloseQueueWhileAnyOtherQueueIsOpen(ClientQueueOpening):
    """The client does not call RemoteQMCloseQueue for a queue while a different queue is open."""

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        if len(self.qm.remote_client.RemoteOpenQueueEntryCollection) < 2:
            yield from super().call_close_queue(binding, entry)


@fault("server-end-receive-keeps-handle-of-start-receive-by-lookup-id", breaks="MQQP-2.2.1.2-01", blind=True)
class ServerEndReceiveKeepsHandleOfStartReceiveByLookupId(RemoteReadEnding):
    """RemoteQMEndReceive does not end the context handle that RemoteQMStartReceiveByLookupId created."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        handle = call.handle
        if handle is None or handle.state.Action not in LOOKUP_ACTIONS:
            super().remote_qm_end_receive(call, now)
            return

        def answer_end(status: Status) -> None:
            self.qm.remote.carry_out_outputs(call.respond(Return=status, pphContext=handle))

        if handle.state.ended:
            answer_end(Status.MQ_OK)
        else:
            self.end_remote_read(handle.state, self.is_message_delivered(call.arguments["dwAck"]), answer_end)


@fault("server-keeps-context-handle-of-receive-after-rr-nack", breaks="MQQP-2.2.1.2-01")
class ServerKeepsContextHandleOfReceiveAfterRrNack(RemoteReadEnding):
    """When a receive ends with RR_NACK, the server does not end the context handle of the receive."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        if call.handle is not None and call.arguments["dwAck"] == 1:
            call = change_answer_values(call, pphContext=call.handle)
        super().remote_qm_end_receive(call, now)


@fault("server-end-receive-with-rr-nack-leaves-context-handle-valid", breaks="MQQP-2.2.1.2-01")
class ServerEndReceiveWithRrNackLeavesContextHandleValid(RemoteReadEnding):
    """The server ends a receive with RR_NACK, but keeps the context handle of the receive valid."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        kept = call.handle if call.arguments["dwAck"] == RemoteReadAck.RR_NACK else None
        super().remote_qm_end_receive(change_answer_values(call, pphContext=kept) if kept else call, now)


@fault("server-second-receive-returns-context-handle-of-first", breaks="MQQP-2.2.1.2-01")
class ServerSecondReceiveReturnsContextHandleOfFirst(RemoteReads):
    """For the second receive of a queue handle, the server returns the context handle of the first receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.handles: dict[int, Any] = {}

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        def reuse_handle_of_queue(new: Any) -> Any:
            if new is None or entry is None:
                return new
            return self.handles.setdefault(entry.OpenQueueDescriptorHandle, new)

        super().answer_read(change_answer_values(call, pphContext=reuse_handle_of_queue), status, entry)


@fault("client-omits-end-receive-for-second-receive-of-queue", breaks="MQQP-2.2.1.2-01")
class ClientOmitsEndReceiveForSecondReceiveOfQueue(ClientMessageReading):
    """The client does not call RemoteQMEndReceive for the second receive of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if entry.queue.number not in self.seen:
            self.seen.add(entry.queue.number)
            yield from super().call_end_receive(entry, ack)
