"""Faults of RemoteQMOpenQueue in the comparison and the choice of handles (MS-MQQP 3.1.4.3)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.statuses import Status


@fault("server-open-queue-accepts-p-queue-of-other-open-queue", breaks="MQQP-3.1.4.3-15", blind=True)
class ServerOpenQueueAcceptsPQueueOfOtherOpenQueue(RemoteQueueOpening):
    """RemoteQMOpenQueue accepts a pQueue that is the handle of another open queue."""

    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        if self.qm.remote_read_starting.find_remote_descriptor(p_queue) is not None:
            return Status.MQ_OK
        return super().check_open_handle_values_equal(p_queue, dwp_context)


@fault("server-open-queue-prefers-hqueue-that-names-open-queue", breaks="MQQP-3.1.4.3-17", blind=True)
class ServerOpenQueuePrefersHqueueThatNamesOpenQueue(RemoteQueueOpening):
    """RemoteQMOpenQueue identifies the queue by hQueue if hQueue is the handle of an open queue."""

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        if self.qm.remote_read_starting.find_remote_descriptor(h_queue) is not None:
            return h_queue
        return super().choose_descriptor_handle(h_queue, dwp_context)


@fault("server-open-queue-identifies-queue-by-handle-returned-last", breaks="MQQP-3.1.4.3-17", blind=True)
class ServerOpenQueueIdentifiesQueueByHandleReturnedLast(RemoteQueueOpening):
    """RemoteQMOpenQueue identifies the queue by the handle that R_QMOpenRemoteQueue returned last."""

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        chosen = super().choose_descriptor_handle(h_queue, dwp_context)
        return max([chosen, *self.qm.descriptors]) if chosen in self.qm.descriptors else chosen
