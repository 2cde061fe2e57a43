"""Faults of RemoteQMOpenQueue in the comparison and the choice of handles (MS-MQQP 3.1.4.3)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status


@fault("server-open-queue-values-compared-in-16-bits", breaks="MQQP-3.1.4.3-15", blind=True)
class ServerOpenQueueValuesComparedIn16Bits(RemoteOpening):
    """RemoteQMOpenQueue compares only the lower 16 bits of pQueue and dwpContext."""

    def check_open_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return super().check_open_values_equal(p_queue & 0xFFFF, dwp_context & 0xFFFF)


@fault("server-open-queue-value-of-other-open-queue-accepted", breaks="MQQP-3.1.4.3-15", blind=True)
class ServerOpenQueueValueOfOtherOpenQueueAccepted(RemoteOpening):
    """RemoteQMOpenQueue accepts a pQueue that is the handle of another open queue."""

    def check_open_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        if self.qm.remote_starting.find_remote_descriptor(p_queue) is not None:
            return Status.MQ_OK
        return super().check_open_values_equal(p_queue, dwp_context)


@fault("server-open-queue-entry-of-other-open-hqueue", breaks="MQQP-3.1.4.3-17", blind=True)
class ServerOpenQueueEntryOfOtherOpenHqueue(RemoteOpening):
    """RemoteQMOpenQueue identifies the queue by hQueue if hQueue is the handle of an open queue."""

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        if self.qm.remote_starting.find_remote_descriptor(h_queue) is not None:
            return h_queue
        return super().choose_descriptor_handle(h_queue, dwp_context)


@fault("server-open-queue-entry-of-newest-open-queue", breaks="MQQP-3.1.4.3-17", blind=True)
class ServerOpenQueueEntryOfNewestOpenQueue(RemoteOpening):
    """RemoteQMOpenQueue identifies the queue by the handle that R_QMOpenRemoteQueue returned last."""

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        chosen = super().choose_descriptor_handle(h_queue, dwp_context)
        return max([chosen, *self.qm.descriptors]) if chosen in self.qm.descriptors else chosen
