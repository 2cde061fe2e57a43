"""Faults that break rules of MS-MQSO 5.3.1 for one kind of queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status


@fault("server-refuses-mqqp-read-of-journal-opened-by-mqmp", breaks="MQSO-5.3.1-01", blind=True)
class ServerRefusesMqqpReadOfJournalOpenedByMqmp(RemoteReadStarting):
    """The server refuses every read with MS-MQQP of a queue journal that R_QMOpenRemoteQueue opened."""

    def check_read_access(self, descriptor: OpenQueueDescriptor, desc: ReadDescription) -> Status:
        queue = descriptor.QueueReference
        if queue is not None and queue.Pathname.lower().endswith(";journal"):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_read_access(descriptor, desc)
