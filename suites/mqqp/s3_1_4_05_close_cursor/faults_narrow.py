"""Faults of MS-MQQP 3.1.4.5 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.elements import Cursor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-cursor-of-waiting-read-ends-other-cursor", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorOfWaitingReadEndsOtherCursor(QueueOpening):
    """When a cursor is closed, the server also closes the cursors of the handle that were opened later."""

    def close_cursor(self, cursor: Cursor) -> None:
        later = [
            one for one in cursor.OpenQueueDescriptorReference.CursorCollection.values() if one.Handle > cursor.Handle
        ]
        super().close_cursor(cursor)
        for one in later:
            super().close_cursor(one)


@fault("server-close-cursor-of-closed-queue-invalid-parameter", breaks="MQQP-3.1.4.5-10", blind=True)
class ServerCloseCursorOfClosedQueueInvalidParameter(RemoteOpening):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a cursor whose queue handle was closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = self.__dict__.setdefault("known", set())
        if descriptor is not None:
            known.add(call.arguments["hQueue"])
        elif call.arguments["hQueue"] in known:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER))
            return
        super().remote_qm_close_cursor(call, now)


@fault(
    "server-close-cursor-that-peeked-last-message-not-closed", breaks=("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"), blind=True
)
class ServerCloseCursorThatPeekedLastMessageNotClosed(RemoteOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor whose message was received, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = descriptor and self.qm.remote_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        at = getattr(cursor, "MessagePositionReference", None)
        if getattr(at, "State", None) is MessagePositionState.DELETED:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)
