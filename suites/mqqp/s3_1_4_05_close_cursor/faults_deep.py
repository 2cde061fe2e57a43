"""Faults of MS-MQQP 3.1.4.5 RemoteQMCloseCursor that only special cases reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


class _Closing(RemoteOpening):
    def find(self, call: Call) -> Cursor | None:
        """Return the cursor that the call closes."""
        given = call.arguments
        descriptor = self.qm.remote_starting.find_remote_descriptor(given["hQueue"])
        return None if descriptor is None else self.qm.remote_starting.find_remote_cursor(descriptor, given["hCursor"])


@fault("server-close-cursor-hcursor-compared-in-low-16-bits", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorHcursorComparedInLow16Bits(_Closing):
    """The server compares only the low 16 bits of hCursor with the handles of the cursors."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and self.find(call) is None:
            for handle, cursor in list(descriptor.CursorCollection.items()):
                if not (handle ^ call.arguments["hCursor"]) & 0xFFFF:
                    self.qm.queue_opening.close_cursor(cursor)
                    self.qm.remote.note(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-second-close-returns-mq-ok", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorSecondCloseReturnsMqOk(_Closing):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that is already closed."""

    closed: frozenset[int] = frozenset()

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if self.find(call) is None and call.arguments["hCursor"] in self.closed:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
            return
        self.closed |= {call.arguments["hCursor"]}
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-other-handle-of-same-queue", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorOfOtherHandleOfSameQueue(_Closing):
    """The server closes a cursor that belongs to another handle of the same queue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None and self.find(call) is None:
            for other in descriptor.QueueReference.OpenQueueDescriptorCollection.values():
                cursor = other.CursorCollection.get(call.arguments["hCursor"])
                if cursor is not None:
                    self.qm.queue_opening.close_cursor(cursor)
                    self.qm.remote.note(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-rewinds-other-cursors-of-handle", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorRewindsOtherCursorsOfHandle(QueueOpening):
    """When a cursor is closed, the server moves the other cursors of the handle to the start of the queue."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            self.qm.cursors.rewind(other)
            other.CursorState = CursorState.UNREAD


@fault("server-close-cursor-ends-reads-of-other-cursors", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorEndsReadsOfOtherCursors(QueueOpening):
    """The server ends every read that waits on the handle when a cursor of the handle is closed."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for reader in list(cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection):
            self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("server-close-cursor-after-receive-not-carried-out", breaks=("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"))
class ServerCloseCursorAfterReceiveNotCarriedOut(RemoteOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that has read a message, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        given = call.arguments
        descriptor = self.qm.remote_starting.find_remote_descriptor(given["hQueue"])
        cursor = None if descriptor is None else descriptor.CursorCollection.get(given["hCursor"])
        if cursor is not None and cursor.CursorState is not CursorState.UNREAD:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-unknown-queue-returns-invalid-parameter", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorOfUnknownQueueReturnsInvalidParameter(_Closing):
    """The server returns MQ_ERROR_INVALID_PARAMETER for an unknown hQueue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"]) is None:
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-0-thrown", breaks="MQQP-3.1.4.5-D01")
class ServerCloseCursor0Thrown(_Closing):
    """The server raises an RPC exception for hCursor 0."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if call.arguments["hCursor"] == 0:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_close_cursor(call, now)
