"""Faults that break rules of MS-MQQP 3.1.4.3 RemoteQMOpenQueue (Opnum 2)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_remote_call_sequence, omit_step
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    change_answer_values,
    change_qm2qm_request_stub,
    replace_success_by_error,
    throw_refusals_as_rpc_faults,
)
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

add(
    "client-open-queue-not-called",
    (
        "MQQP-3.2.4.1-08",
        "MQQP-3.1.4.1-03",
        "MQQP-3.1.4.2-03",
        "MQQP-3.1.4.3-02",
        "MQQP-3.1.4.3-03",
        "MQQP-3.1.4.3-04",
        "MQQP-3.1.4.3-05",
        "MQQP-3.1.4.3-06",
        "MQQP-3.1.4.3-07",
        "MQQP-3.1.4.3-08",
        "MQQP-3.1.4.3-09",
        "MQQP-3.1.4.6-02",
        "MQQP-3.1.4.7-01",
    ),
    "The client does not call RemoteQMOpenQueue.",
    omit_remote_call_sequence(ClientQueueOpening.call_open_queue),
)


@fault("client-close-queue-before-close-cursor", breaks="MQQP-3.1.4.3-05")
class ClientCloseQueueBeforeCloseCursor(ClientReadCancelling):
    """The client calls RemoteQMCloseQueue before it calls RemoteQMCloseCursor for a cursor of the queue."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        assert queue.binding is not None
        entry = self.qm.client_queue_opening.find_remote_open_queue_entry(queue)
        yield from self.qm.client_queue_opening.call_close_queue(queue.binding, entry)
        yield from super().close_remote_cursor(queue, cursor)


@fault(
    "server-open-queue-returns-null-handle",
    breaks=("MQQP-3.1.4.3-10", "MQQP-3.1.4.3-16", "MQQP-3.1.4.3-20", "MQQP-2.2.1.1-01"),
)
class ServerOpenQueueReturnsNullHandle(RemoteQueueOpening):
    """RemoteQMOpenQueue returns the context handle NULL."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(change_answer_values(call, phContext=None), now)


@fault("server-open-queue-unknown-h-queue-refused", breaks="MQQP-3.1.4.3-11")
class ServerOpenQueueUnknownHQueueRefused(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses an hQueue that is not an open queue."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["hQueue"] in self.qm.descriptors:
            super().remote_qm_open_queue(call, now)
        else:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))


@fault("server-open-queue-hqueue-0-refused", breaks="MQQP-3.1.4.3-11")
class ServerOpenQueueHqueue0Refused(RemoteQueueOpening):
    """The server refuses a RemoteQMOpenQueue whose hQueue is 0."""

    def check_open_handle(self, h_queue: int) -> Status:
        return Status.MQ_OK if h_queue else Status.MQ_ERROR_INVALID_PARAMETER


@fault("server-open-queue-opens-queue-of-hqueue-not-of-dwpcontext", breaks=("MQQP-3.1.4.3-11", "MQQP-3.1.4.3-17"))
class ServerOpenQueueOpensQueueOfHqueueNotOfDwpcontext(RemoteQueueOpening):
    """If hQueue is the handle of another queue, RemoteQMOpenQueue opens that queue instead of the queue
    of dwpContext.
    """

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        known = self.qm.remote_read_starting.find_remote_descriptor(h_queue)
        return dwp_context if known is None else h_queue


@fault("server-open-queue-refuses-h-queue-of-different-open-queue", breaks="MQQP-3.1.4.3-11", blind=True)
class ServerOpenQueueRefusesHQueueOfDifferentOpenQueue(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses an hQueue that is the handle of an open queue other than dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["hQueue"] != given["dwpContext"] and self.qm.remote_read_starting.find_remote_descriptor(
            given["hQueue"]
        ):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-successful-open-queue-returns-error", breaks="MQQP-3.1.4.3-12")
class ServerSuccessfulOpenQueueReturnsError(RemoteQueueOpening):
    """RemoteQMOpenQueue returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(change_answer_values(call, Return=replace_success_by_error), now)


@fault("client-failure-with-c-bit-taken-as-success", breaks=("MQQP-3.1.4.3-12", "MQQP-3.1.4.7-03"))
class ClientFailureWithCBitTakenAsSuccess(ServerBindings):
    """The client treats a failure HRESULT with the C bit as success."""

    def is_failure(self, status: int) -> bool:
        return super().is_failure(status) and not status & 0x20000000


@fault("client-repeats-failed-open-queue", breaks="MQQP-3.1.4.3-12")
class ClientRepeatsFailedOpenQueue(ClientQueueOpening):
    """The client calls RemoteQMOpenQueue again if the call returned MQ_ERROR_INVALID_PARAMETER."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        try:
            return (yield from super().call_open_queue(queue))
        except RemoteError as error:
            if error.status != Status.MQ_ERROR_INVALID_PARAMETER:
                raise
        return (yield from super().call_open_queue(queue))


add(
    "server-open-queue-zero-values-accepted",
    "MQQP-3.1.4.3-14",
    "RemoteQMOpenQueue accepts pQueue 0 and dwpContext 0.",
    omit_step(RemoteQueueOpening.check_open_handle_values),
)


@fault("server-open-queue-identifies-queue-by-h-queue", breaks=("MQQP-3.1.4.3-17", "MQQP-3.1.4.3-14"))
class ServerOpenQueueIdentifiesQueueByHQueue(RemoteQueueOpening):
    """RemoteQMOpenQueue creates an entry that identifies the queue by hQueue instead of dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        call.arguments["pQueue"] = call.arguments["dwpContext"] = call.arguments["hQueue"]
        super().remote_qm_open_queue(call, now)


add(
    "server-open-queue-unequal-values-accepted",
    "MQQP-3.1.4.3-15",
    "RemoteQMOpenQueue accepts a pQueue that differs from dwpContext.",
    omit_step(RemoteQueueOpening.check_open_handle_values_equal),
)


@fault("server-open-queue-pqueue-compared-in-low-16-bits", breaks="MQQP-3.1.4.3-15")
class ServerOpenQueuePqueueComparedInLow16Bits(RemoteQueueOpening):
    """The server accepts a pQueue that differs from dwpContext only in the upper 16 bits."""

    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if (p_queue ^ dwp_context) & 0xFFFF else Status.MQ_OK


@fault("server-second-open-of-descriptor-returns-first-context-handle", breaks="MQQP-3.1.4.3-16", blind=True)
class ServerSecondOpenOfDescriptorReturnsFirstContextHandle(RemoteQueueOpening):
    """A second RemoteQMOpenQueue of an open descriptor creates no entry, and returns the context handle of the first
    call.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.handles: dict[tuple[int, int], Any] = {}

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        opened = call.arguments["dwpContext"]
        key = (id(call.association.groups), opened)
        if key in self.handles and self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(opened):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phContext=self.handles[key]))
            return

        def return_first_handle(handle: Any) -> Any:
            self.handles[key] = handle
            return handle

        super().remote_qm_open_queue(change_answer_values(call, phContext=return_first_handle), now)


@fault("server-open-queue-entry-client-id-zero-instead-of-plicguid", breaks="MQQP-3.1.4.3-18")
class ServerOpenQueueEntryClientIdZeroInsteadOfPlicguid(RemoteQueueOpening):
    """RemoteQMOpenQueue sets ClientId of its entry to zero instead of pLicGuid."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        entry.ClientId = UUID(int=0)
        super().take_over_queue_descriptor(entry)


@fault("server-open-queue-entry-gets-client-id-of-first-entry", breaks="MQQP-3.1.4.3-18", blind=True)
class ServerOpenQueueEntryGetsClientIdOfFirstEntry(RemoteQueueOpening):
    """RemoteQMOpenQueue sets ClientId of a later entry to the ClientId of the first open entry."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        first = next(iter(self.qm.remote.OpenQueueEntryCollection), None)
        if first is not None:
            call.arguments["pLicGuid"] = first.ClientId
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-adds-no-open-queue-entry", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"))
class ServerOpenQueueAddsNoOpenQueueEntry(RemoteQueueOpening):
    """RemoteQMOpenQueue does not keep its entry in OpenQueueEntryCollection."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-of-second-client-replaces-first", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-02"))
class ServerOpenQueueOfSecondClientReplacesFirst(RemoteQueueOpening):
    """When a client opens a queue, the server removes the entries of other clients for the same queue."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            other = self.qm.remote_read_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle)
            if one is not entry and mine and other and other.QueueReference is mine.QueueReference:
                self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault("server-open-queue-limits-client-to-two-queues", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-03"))
class ServerOpenQueueLimitsClientToTwoQueues(RemoteReadStarting):
    """The server reads only through the first two queues that a client has opened."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        first = [one.OpenQueueDescriptorHandle for one in self.qm.remote.OpenQueueEntryCollection][:2]
        return super().check_open_queue(desc) if desc["hRemoteQueue"] in first else Status.MQ_ERROR_INVALID_PARAMETER


@fault("server-open-queue-after-close-refused", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.4.4-01"))
class ServerOpenQueueAfterCloseRefused(RemoteQueueOpening):
    """When a queue was opened and closed for remote reading, the server refuses all later reads of the queue, even
    through a new handle.
    """

    closed_queues: tuple[Queue, ...] = ()

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            self.closed_queues += (descriptor.QueueReference,)
        super().close_open_queue_entry(entry)

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference in self.closed_queues:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-entry-removed-by-expired-read", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class ServerOpenQueueEntryRemovedByExpiredRead(RemoteReadStarting):
    """The server removes the entry of an open queue when a read of the queue times out."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        status = super().check_open_queue(desc)
        if not status and self.__dict__.setdefault("failed", {}).get(desc["hRemoteQueue"]):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return status

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        if desc["ulTimeout"] == 0 and queue is not None and not list(queue.MessagePositionList):
            self.__dict__["failed"][desc["hRemoteQueue"]] = True
        return entry


@fault("server-open-queue-entry-removed-by-close-cursor", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class ServerOpenQueueEntryRemovedByCloseCursor(RemoteQueueOpening):
    """The server removes the entry of an open queue when a cursor of the handle is closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(call, now)
        for entry in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(call.arguments["hQueue"]):
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


add(
    "server-open-queue-throws-errors",
    "MQQP-3.1.4.3-D02",
    "RemoteQMOpenQueue throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteQueueOpening.remote_qm_open_queue),
)


@fault("server-open-queue-raises-exception-for-different-pointers", breaks="MQQP-3.1.4.3-D02")
class ServerOpenQueueRaisesExceptionForDifferentPointers(RemoteQueueOpening):
    """The server raises an RPC exception when pQueue differs from dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["pQueue"] and given["dwpContext"] and given["pQueue"] != given["dwpContext"]:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-raises-exception-for-context-0", breaks="MQQP-3.1.4.3-D02", blind=True)
class ServerOpenQueueRaisesExceptionForContext0(RemoteQueueOpening):
    """The server raises an RPC exception when pQueue and dwpContext are 0."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if not call.arguments["dwpContext"]:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_open_queue(call, now)


add(
    "server-open-queue-any-dw-mqs-accepted",
    "MQQP-3.1.4.3-D01",
    "RemoteQMOpenQueue accepts any dwMQS.",
    change_qm2qm_request_stub("RemoteQMOpenQueue", 32, lambda stub: stub[:16] + bytes(4) + stub[20:]),
)


add(
    "server-open-queue-dw-mqs-16-refused",
    "MQQP-3.1.4.3-D01",
    "RemoteQMOpenQueue refuses dwMQS 16.",
    change_qm2qm_request_stub(
        "RemoteQMOpenQueue", 32, lambda stub: stub[:16] + (stub[16:20].replace(b"\x10", b"\x11")) + stub[20:]
    ),
)


@fault("server-open-queue-dwmqs-16-refused", breaks="MQQP-3.1.4.3-D01", blind=True)
class ServerOpenQueueDwmqs16Refused(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses dwMQS 16, the greatest value of its range."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["dwMQS"] == 16:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-dwmqs-1-refused", breaks="MQQP-3.1.4.3-D01")
class ServerOpenQueueDwmqs1Refused(RemoteQueueOpening):
    """The server refuses a RemoteQMOpenQueue whose dwMQS is 1."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["dwMQS"] == 1:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_ACCESS_DENIED, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("client-purges-by-second-queue-handle-without-open-queue-call", breaks="MQQP-3.1.4.3-07", blind=True)
class ClientPurgesBySecondQueueHandleWithoutOpenQueueCall(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue for a second handle of a queue that it has already opened, but purges
    the queue with this handle.
    """

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            known = entry.queue.RemoteServer, entry.queue.FormatName
            if known == (queue.RemoteServer, queue.FormatName):
                return entry.RRSessionHandle
        return (yield from super().call_open_queue(queue))


@fault("client-omits-open-queue-call-for-queue-opened-again", breaks="MQQP-3.1.4.3-07")
class ClientOmitsOpenQueueCallForQueueOpenedAgain(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue for a queue that it has opened before and closed."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        contexts: dict[tuple[Any, str], Any] = self.__dict__.setdefault("contexts", {})
        name = queue.RemoteServer, queue.FormatName
        entries = self.qm.remote_client.RemoteOpenQueueEntryCollection
        if name in contexts and name not in [(one.queue.RemoteServer, one.queue.FormatName) for one in entries]:
            return contexts[name]
        contexts[name] = yield from super().call_open_queue(queue)
        return contexts[name]
