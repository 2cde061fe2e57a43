"""Faults in the answers of RemoteQMOpenQueue: MQQP-3.1.4.3-20."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values, replace_success_by_error
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

INFORMATION_STATUS = 0x400E_0001
"""The status MQ_INFORMATION_PROPERTY, which is a success."""


def _replace_success_by_information(status: int) -> int:
    return INFORMATION_STATUS if status == Status.MQ_OK else status


@fault("server-open-queue-returns-information-status", breaks="MQQP-3.1.4.3-20", blind=True)
class ServerOpenQueueReturnsInformationStatus(RemoteQueueOpening):
    """RemoteQMOpenQueue returns MQ_INFORMATION_PROPERTY instead of MQ_OK."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(change_answer_values(call, Return=_replace_success_by_information), now)


@fault("server-open-queue-to-peek-returns-null-handle", breaks="MQQP-3.1.4.3-20", blind=True)
class ServerOpenQueueToPeekReturnsNullHandle(RemoteQueueOpening):
    """RemoteQMOpenQueue of a queue that was opened to peek returns the context handle NULL."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["dwpContext"])
        if descriptor is not None and descriptor.AccessType is not QueueAccessType.RECEIVE:
            call = change_answer_values(call, phContext=None)
        super().remote_qm_open_queue(call, now)


@fault("server-open-queue-while-other-queue-is-open-returns-error", breaks="MQQP-3.1.4.3-20", blind=True)
class ServerOpenQueueWhileOtherQueueIsOpenReturnsError(RemoteQueueOpening):
    """RemoteQMOpenQueue opens the queue, but returns MQ_ERROR while another queue is open."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if list(self.qm.remote.OpenQueueEntryCollection):
            call = change_answer_values(call, Return=replace_success_by_error)
        super().remote_qm_open_queue(call, now)
