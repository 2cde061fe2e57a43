"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-cursor-closes-cursors-of-other-handles", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorClosesCursorsOfOtherHandles(RemoteOpening):
    """RemoteQMCloseCursor also closes the cursors that other handles of the same queue have opened."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection
        super().remote_qm_close_cursor(call, now)
        if descriptor is None or not known or descriptor.QueueReference is None:
            return
        for other in descriptor.QueueReference.OpenQueueDescriptorCollection.values():
            for cursor in list(other.CursorCollection.values()) if other is not descriptor else ():
                self.qm.queue_opening.close_cursor(cursor)


@fault("server-close-cursor-accepts-cursor-of-other-queue", breaks="MQQP-3.1.4.5-07", blind=True)
class ServerCloseCursorAcceptsCursorOfOtherQueue(RemoteOpening):
    """RemoteQMCloseCursor searches for hCursor in every open queue, and closes the cursor although hQueue is a
    different open queue.
    """

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        number = call.arguments["hCursor"]
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and number not in descriptor.CursorCollection:
            for other in self.qm.descriptors.values():
                if number in other.CursorCollection:
                    self.qm.queue_opening.close_cursor(other.CursorCollection[number])
                    self.qm.remote.note(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)
