"""Faults of MS-MQQP 3.1.4.3 RemoteQMOpenQueue that concern later openings, several queues or single values."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-open-queue-with-hqueue-0-refused", breaks="MQQP-3.1.4.3-11", blind=True)
class ServerOpenQueueWithHqueue0Refused(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses a call whose hQueue is 0."""

    def check_open_handle(self, h_queue: int) -> Status:
        return Status.MQ_OK if h_queue else Status.MQ_ERROR_INVALID_HANDLE


@fault("server-open-queue-accepts-p-queue-and-dwp-context-0", breaks="MQQP-3.1.4.3-14", blind=True)
class ServerOpenQueueAcceptsPQueueAndDwpContext0(RemoteQueueOpening):
    """RemoteQMOpenQueue accepts pQueue and dwpContext if both are 0."""

    def check_open_handle_values(self, p_queue: int, dwp_context: int) -> Status:
        return Status.MQ_OK if p_queue == dwp_context else super().check_open_handle_values(p_queue, dwp_context)


@fault("server-open-queue-compares-low-16-bits-of-dwpcontext", breaks="MQQP-3.1.4.3-15", blind=True)
class ServerOpenQueueComparesLow16BitsOfDwpcontext(RemoteQueueOpening):
    """RemoteQMOpenQueue compares only the 16 low bits of pQueue and dwpContext."""

    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return super().check_open_handle_values_equal(p_queue & 0xFFFF, dwp_context & 0xFFFF)


@fault("server-second-open-queue-removes-other-entries-of-client", breaks="MQQP-3.1.4.3-19", blind=True)
class ServerSecondOpenQueueRemovesOtherEntriesOfClient(RemoteQueueOpening):
    """RemoteQMOpenQueue removes the entries of the same client for other queues."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            if other is not entry and other.ClientId == entry.ClientId:
                self.qm.remote.OpenQueueEntryCollection.remove(other)


@fault("server-open-queue-of-peek-descriptor-adds-no-entry", breaks="MQQP-3.1.4.3-19", blind=True)
class ServerOpenQueueOfPeekDescriptorAddsNoEntry(RemoteQueueOpening):
    """RemoteQMOpenQueue adds no entry for a queue that was opened to peek, so that no read of the queue succeeds."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        descriptor = self.qm.descriptors.get(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.AccessType is QueueAccessType.PEEK:
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-entry-client-id-is-guid-of-first-client", breaks="MQQP-3.1.4.3-18", blind=True)
class ServerOpenQueueEntryClientIdIsGuidOfFirstClient(RemoteQueueOpening):
    """RemoteQMOpenQueue sets ClientId of every entry to the pLicGuid of the first client."""

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_queue_descriptor(entry)
        entry.ClientId = self.__dict__.setdefault("first", entry.ClientId)


@fault("server-third-open-queue-returns-null-context-handle", breaks="MQQP-3.1.4.3-20", blind=True)
class ServerThirdOpenQueueReturnsNullContextHandle(RemoteQueueOpening):
    """The third RemoteQMOpenQueue in a row returns MQ_OK with the context handle NULL."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        self.__dict__["opened"] = self.__dict__.get("opened", 0) + 1
        if self.__dict__["opened"] % 3 == 0:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)
