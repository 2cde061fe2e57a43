"""Faults of MS-MQQP 3.1.4.3 RemoteQMOpenQueue that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault("server-open-queue-pqueue-compared-in-low-16-bits", breaks="MQQP-3.1.4.3-15")
class ServerOpenQueuePqueueComparedInLow16Bits(RemoteOpening):
    """The server accepts a pQueue that differs from dwpContext only in the upper 16 bits."""

    def check_open_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if (p_queue ^ dwp_context) & 0xFFFF else Status.MQ_OK


@fault("server-open-queue-hqueue-0-refused", breaks="MQQP-3.1.4.3-11")
class ServerOpenQueueHqueue0Refused(RemoteOpening):
    """The server refuses a RemoteQMOpenQueue whose hQueue is 0."""

    def check_open_handle(self, h_queue: int) -> Status:
        return Status.MQ_OK if h_queue else Status.MQ_ERROR_INVALID_PARAMETER


@fault("server-open-queue-hqueue-of-other-queue-opened", breaks=("MQQP-3.1.4.3-11", "MQQP-3.1.4.3-17"))
class ServerOpenQueueHqueueOfOtherQueueOpened(RemoteOpening):
    """If hQueue is the handle of another queue, RemoteQMOpenQueue opens that queue instead of the queue
    of dwpContext.
    """

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        known = self.qm.remote_starting.find_remote_descriptor(h_queue)
        return dwp_context if known is None else h_queue


@fault("server-open-queue-dwmqs-1-refused", breaks="MQQP-3.1.4.3-D01")
class ServerOpenQueueDwmqs1Refused(RemoteOpening):
    """The server refuses a RemoteQMOpenQueue whose dwMQS is 1."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if call.arguments["dwMQS"] == 1:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_ACCESS_DENIED, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-different-pointers-thrown", breaks="MQQP-3.1.4.3-D02")
class ServerOpenQueueDifferentPointersThrown(RemoteOpening):
    """The server raises an RPC exception when pQueue differs from dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["pQueue"] and given["dwpContext"] and given["pQueue"] != given["dwpContext"]:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-of-second-client-replaces-first", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-02"))
class ServerOpenQueueOfSecondClientReplacesFirst(RemoteOpening):
    """When a client opens a queue, the server removes the entries of other clients for the same queue."""

    def take_over_descriptor(self, entry: OpenQueueEntry) -> None:
        super().take_over_descriptor(entry)
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            other = self.qm.remote_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle)
            if one is not entry and mine and other and other.QueueReference is mine.QueueReference:
                self.qm.remote.OpenQueueEntryCollection.remove(one)


@fault("server-open-queue-limits-client-to-two-queues", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-03"))
class ServerOpenQueueLimitsClientToTwoQueues(RemoteStarting):
    """The server reads only through the first two queues that a client has opened."""

    def check_open_queue(self, desc: Desc) -> Status:
        first = [one.OpenQueueDescriptorHandle for one in self.qm.remote.OpenQueueEntryCollection][:2]
        return super().check_open_queue(desc) if desc["hRemoteQueue"] in first else Status.MQ_ERROR_INVALID_PARAMETER
