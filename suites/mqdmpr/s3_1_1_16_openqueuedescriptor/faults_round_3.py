"""Faults that break rules of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.surface.clock import Now


@fault("queue-manager-descriptor-of-several-queues-copies-read-state", breaks="MQDMPR-3.1.1.16-07", blind=True)
class QueueManagerDescriptorOfSeveralQueuesCopiesReadState(QueueOpening):
    """If a remote reader has one of several queues open, their common descriptor gets the RemoteReadState of that
    reader.
    """

    def _open_several(
        self,
        name: MultipleElementName,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode,
        now: Now,
    ) -> Opened:
        status, several = super()._open_several(name, required_access, shared_mode, now)
        for single in several.OpenQueueDescriptorCollection if several is not None else []:
            queue = single.QueueReference
            for other in queue.OpenQueueDescriptorCollection.values() if queue is not None else []:
                if several is not None and other.RemoteReadState is not RemoteReadState.NONE:
                    several.RemoteReadState = other.RemoteReadState
        return status, several
