"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor that only special cases reveal: several descriptors of one queue."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import RemoteReadState


@fault("queue-manager-remote-read-state-of-other-descriptor-ready", breaks="MQDMPR-3.1.1.16-12")
class EveryDescriptorReady(RemoteOpening):
    """When a remote reader begins to read with one OpenQueueDescriptor, the RemoteReadState of every other
    OpenQueueDescriptor that is Opened becomes ReadyForRead.
    """

    def take_over_descriptor(self, entry: object) -> None:
        super().take_over_descriptor(entry)  # type: ignore[arg-type] # the entry is passed on
        for descriptor in self.qm.descriptors.values():
            if descriptor.RemoteReadState is RemoteReadState.OPENED:
                descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ


@fault("queue-manager-context-value-of-queue", breaks="MQDMPR-3.1.1.16-03")
class ContextOfQueue(Qmcomm):
    """All OpenQueueDescriptors of a queue have the same context value as the first of them."""

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        queue = descriptor.QueueReference
        first = descriptor if queue is None else next(iter(queue.OpenQueueDescriptorCollection.values()))
        return super().get_open_values(descriptor) | {"dwpQueue": first.Handle}
