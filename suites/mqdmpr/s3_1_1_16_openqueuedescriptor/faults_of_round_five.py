"""Faults of round five that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import DistributionListName
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("queue-manager-descriptor-of-distribution-list-receive-access", breaks="MQDMPR-3.1.1.16-06", blind=True)
class QueueManagerDescriptorOfDistributionListReceiveAccess(QueueOpening):
    """The AccessType of the OpenQueueDescriptor for several queues that were opened by a distribution list is
    ReceiveAccess.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if (
            descriptor is not None
            and descriptor.Multiple
            and isinstance(parse_format_name(format_name), DistributionListName)
        ):
            descriptor.AccessType = QueueAccessType.RECEIVE
        return status, descriptor
