"""Faults that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault(
    "queue-manager-descriptor-of-several-queues-refers-to-first-local-queue", breaks="MQDMPR-3.1.1.16-08", blind=True
)
class QueueManagerDescriptorOfSeveralQueuesRefersToFirstLocalQueue(QueueOpening):
    """The queue manager sets the QueueReference of an OpenQueueDescriptor for several queues to the first queue
    that is local.
    """

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, several = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        if several is not None:
            opened = (one.QueueReference for one in several.OpenQueueDescriptorCollection)
            several.QueueReference = next((one for one in opened if not isinstance(one, OutgoingQueue)), None)
        return status, several
