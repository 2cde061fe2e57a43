"""Faults that break rules of MS-MQQP 3.1.4.5 RemoteQMCloseCursor."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-cursor-of-waiting-read-not-closed", breaks="MQQP-3.1.4.5-11", blind=True)
class ServerCursorOfWaitingReadNotClosed(RemoteOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor with which a read waits, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        given = call.arguments
        descriptor = self.qm.remote_starting.find_remote_descriptor(given["hQueue"])
        waiting = () if descriptor is None else descriptor.WaitingMessageReadOperationCollection
        cursors = [one.CursorReference for one in waiting if one.CursorReference is not None]
        if given["hCursor"] in [cursor.Handle for cursor in cursors]:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)
