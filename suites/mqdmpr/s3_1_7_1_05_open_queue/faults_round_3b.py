"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("server-second-peek-handle-shares-descriptor", breaks="MQDMPR-3.1.7.1.5-116", blind=True)
class ServerSecondPeekHandleSharesDescriptor(QueueOpening):
    """The server returns the existing OpenQueueDescriptor when a queue is opened to peek a second time."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        wanted = (format_name, QueueAccessType.PEEK, QueueShareMode.DENY_NONE)
        if (format_name, required_access, shared_mode) == wanted:
            for one in self.qm.descriptors.values():
                if one.QueueReference is not None and (one.FormatName, one.AccessType, one.ShareMode) == wanted:
                    return Status.MQ_OK, one
        return super().open_queue(format_name, required_access, shared_mode, now)
