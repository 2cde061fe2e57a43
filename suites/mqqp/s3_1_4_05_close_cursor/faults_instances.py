"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor that concern only one of several cursors, queues or reads."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-cursor-leaves-moved-cursor-open", breaks=("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"), blind=True)
class ServerCloseCursorLeavesMovedCursorOpen(QueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that has read a message, but does not close the cursor."""

    def close_cursor(self, cursor: Cursor) -> None:
        if cursor.CursorState is not CursorState.READ:
            super().close_cursor(cursor)


@fault("server-close-cursor-closes-later-cursors-too", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorClosesLaterCursorsToo(QueueOpening):
    """RemoteQMCloseCursor also closes the cursors of its queue handle that were opened later."""

    def close_cursor(self, cursor: Cursor) -> None:
        others = list(cursor.OpenQueueDescriptorReference.CursorCollection.values())
        super().close_cursor(cursor)
        for other in others:
            if other.Handle > cursor.Handle:
                super().close_cursor(other)


@fault("server-close-cursor-rewinds-other-cursors", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorRewindsOtherCursors(QueueOpening):
    """RemoteQMCloseCursor moves the other cursors of its queue handle to the start of the queue."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            other.CursorState = CursorState.UNREAD
            self.qm.queue_cursors.move_cursor_to_start(other)


@fault("server-close-cursor-finds-cursor-of-other-handle", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"), blind=True)
class ServerCloseCursorFindsCursorOfOtherHandle(RemoteQueueOpening):
    """RemoteQMCloseCursor closes a cursor of another handle of the same queue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        starting = self.qm.remote_read_starting
        descriptor = starting.find_remote_descriptor(call.arguments["hQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        for other in [] if queue is None else list(queue.OpenQueueDescriptorCollection.values()):
            if other is not descriptor and call.arguments["hCursor"] in other.CursorCollection:
                call.arguments["hQueue"] = other.Handle
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-twice-returns-mq-ok", breaks="MQQP-3.1.4.5-10", blind=True)
class ServerCloseCursorTwiceReturnsMqOk(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that is already closed, if the queue handle is still open."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        closed: set[int] = self.__dict__.setdefault("closed", set())
        known = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"]) is not None
        if known and call.arguments["hCursor"] in closed:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
            return
        closed.add(call.arguments["hCursor"])
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-hcursor-0-returns-mq-ok", breaks="MQQP-3.1.4.5-10", blind=True)
class ServerCloseCursorHcursor0ReturnsMqOk(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for hCursor 0."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if call.arguments["hCursor"] == 0:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-closed-cursor-still-usable-to-receive", breaks="MQQP-3.1.4.5-11", blind=True)
class ServerClosedCursorStillUsableToReceive(RemoteReadStarting):
    """The server receives without a cursor, instead of refusing the call, if the cursor of a receive was closed."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        known: dict[int, Cursor] = self.__dict__.setdefault("known", {})
        cursor = super().find_remote_cursor(descriptor, handle)
        if cursor is not None:
            known[handle] = cursor
        return cursor or known.get(handle)


class _CursorCloseStatusChanger(RemoteQueueOpening):
    """Return a status other than MQ_OK from RemoteQMCloseCursor for some cursors; a subclass selects which."""

    status: int = Status.MQ_ERROR

    def is_close_status_changed(self, cursor: Cursor) -> bool:
        """Return whether the status for the cursor is changed."""
        raise NotImplementedError

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = (
            None
            if descriptor is None
            else self.qm.remote_read_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        )
        if cursor is not None and self.is_close_status_changed(cursor):
            call = change_answer_values(call, Return=self.status)
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-second-cursor-returns-error", breaks="MQQP-3.1.4.5-13", blind=True)
class ServerCloseCursorOfSecondCursorReturnsError(_CursorCloseStatusChanger):
    """RemoteQMCloseCursor returns MQ_ERROR while the handle has another cursor."""

    def is_close_status_changed(self, cursor: Cursor) -> bool:
        return len(cursor.OpenQueueDescriptorReference.CursorCollection) > 1


@fault("server-close-cursor-returns-information-status", breaks="MQQP-3.1.4.5-13", blind=True)
class ServerCloseCursorReturnsInformationStatus(_CursorCloseStatusChanger):
    """RemoteQMCloseCursor returns MQ_INFORMATION_PROPERTY (0x400E0001) instead of MQ_OK."""

    status = 0x400E0001

    def is_close_status_changed(self, cursor: Cursor) -> bool:
        return True


@fault("server-close-cursor-of-moved-cursor-returns-error", breaks="MQQP-3.1.4.5-13", blind=True)
class ServerCloseCursorOfMovedCursorReturnsError(_CursorCloseStatusChanger):
    """RemoteQMCloseCursor returns MQ_ERROR for a cursor with which a message was read."""

    def is_close_status_changed(self, cursor: Cursor) -> bool:
        return cursor.CursorState is CursorState.READ


@fault("server-close-cursor-of-unknown-queue-thrown", breaks="MQQP-3.1.4.5-D01", blind=True)
class ServerCloseCursorOfUnknownQueueThrown(RemoteQueueOpening):
    """RemoteQMCloseCursor throws MQ_ERROR_INVALID_HANDLE for an unknown hQueue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"]) is None:
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_HANDLE))
        else:
            super().remote_qm_close_cursor(call, now)
