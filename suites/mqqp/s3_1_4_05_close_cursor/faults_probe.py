"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-cursor-uses-handle-of-queue-opened-last", breaks="MQQP-3.1.4.5-07", blind=True)
class ServerCloseCursorUsesHandleOfQueueOpenedLast(RemoteOpening):
    """RemoteQMCloseCursor searches for hCursor only among the cursors of the queue's newest handle, even if hQueue is
    an older handle of the same queue.
    """

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            call.arguments["hQueue"] = [*descriptor.QueueReference.OpenQueueDescriptorCollection][-1]
        super().remote_qm_close_cursor(call, now)
