"""Fault of MS-MQQP 3.1.4.4 that only a second handle of the queue reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status


@fault("server-read-through-handle-of-closed-first-opening", breaks="MQQP-3.1.4.4-07")
class ServerReadThroughHandleOfClosedFirstOpening(RemoteStarting):
    """While another handle of the queue is open, the server still reads through a closed handle."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        known = self.__dict__.setdefault("known", {})
        if found is not None:
            known[handle] = found
            return found
        closed = known.get(handle)
        if closed is None or closed.QueueReference is None:
            return None
        return closed if closed.QueueReference.OpenQueueDescriptorCollection else None

    def check_open_queue(self, desc: Desc) -> Status:
        if self.find_remote_descriptor(desc["hRemoteQueue"]) is not None:
            return Status.MQ_OK
        return super().check_open_queue(desc)
