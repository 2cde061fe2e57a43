"""Faults that break rules of MS-MQQP 3.1.4.5 RemoteQMCloseCursor (Opnum 4)."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    call_on_unbound_context,
    change_answer_values,
    replace_success_by_error,
    throw_refusals_as_rpc_faults,
)
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

add(
    "server-close-cursor-keeps-cursor",
    ("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11", "MQDMPR-3.1.7.1.2-06"),
    "RemoteQMCloseCursor leaves the cursor open.",
    omit_step_during(RemoteQueueOpening.remote_qm_close_cursor, QueueOpening.close_cursor),
)


@fault("server-does-not-close-cursor-that-has-read-message", breaks=("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"))
class ServerDoesNotCloseCursorThatHasReadMessage(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that has read a message, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        given = call.arguments
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(given["hQueue"])
        cursor = None if descriptor is None else descriptor.CursorCollection.get(given["hCursor"])
        if cursor is not None and cursor.CursorState is not CursorState.UNREAD:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-received-message-not-closed", breaks=("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"), blind=True)
class ServerCloseCursorOfReceivedMessageNotClosed(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor whose message was received, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = descriptor and self.qm.remote_read_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        at = getattr(cursor, "MessagePositionReference", None)
        if getattr(at, "State", None) is MessagePositionState.DELETED:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)


add(
    "client-close-cursor-on-unknown-context",
    "MQQP-3.1.4.5-02",
    "The client calls RemoteQMCloseCursor on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMCloseCursor"),
)


@fault("server-successful-close-cursor-returns-error", breaks=("MQQP-3.1.4.5-03", "MQQP-3.1.4.5-13"))
class ServerSuccessfulCloseCursorReturnsError(RemoteQueueOpening):
    """RemoteQMCloseCursor returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(change_answer_values(call, Return=replace_success_by_error), now)


@fault("server-close-cursor-h-queue-ignored", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorHQueueIgnored(RemoteQueueOpening):
    """RemoteQMCloseCursor closes a cursor of any queue and ignores hQueue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        for descriptor in self.qm.descriptors.values():
            if call.arguments["hCursor"] in descriptor.CursorCollection:
                call.arguments["hQueue"] = descriptor.Handle
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-accepts-cursor-of-other-queue", breaks="MQQP-3.1.4.5-07", blind=True)
class ServerCloseCursorAcceptsCursorOfOtherQueue(RemoteQueueOpening):
    """RemoteQMCloseCursor searches for hCursor in every open queue, and closes the cursor although hQueue is a
    different open queue.
    """

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        number = call.arguments["hCursor"]
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and number not in descriptor.CursorCollection:
            for other in self.qm.descriptors.values():
                if number in other.CursorCollection:
                    self.qm.queue_opening.close_cursor(other.CursorCollection[number])
                    self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)


class _WrongCursorCloser(RemoteQueueOpening):
    def find(self, call: Call) -> Cursor | None:
        """Return the cursor that the call closes."""
        given = call.arguments
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(given["hQueue"])
        return (
            None
            if descriptor is None
            else self.qm.remote_read_starting.find_remote_cursor(descriptor, given["hCursor"])
        )


@fault("server-close-cursor-hcursor-compared-in-low-16-bits", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorHcursorComparedInLow16Bits(_WrongCursorCloser):
    """The server compares only the low 16 bits of hCursor with the handles of the cursors."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and self.find(call) is None:
            for handle, cursor in list(descriptor.CursorCollection.items()):
                if not (handle ^ call.arguments["hCursor"]) & 0xFFFF:
                    self.qm.queue_opening.close_cursor(cursor)
                    self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-accepts-cursor-of-other-handle-of-queue", breaks=("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-10"))
class ServerCloseCursorAcceptsCursorOfOtherHandleOfQueue(_WrongCursorCloser):
    """The server closes a cursor that belongs to another handle of the same queue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None and self.find(call) is None:
            for other in descriptor.QueueReference.OpenQueueDescriptorCollection.values():
                cursor = other.CursorCollection.get(call.arguments["hCursor"])
                if cursor is not None:
                    self.qm.queue_opening.close_cursor(cursor)
                    self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
                    return
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-uses-handle-of-queue-opened-last", breaks="MQQP-3.1.4.5-07", blind=True)
class ServerCloseCursorUsesHandleOfQueueOpenedLast(RemoteQueueOpening):
    """RemoteQMCloseCursor searches for hCursor only among the cursors of the queue's newest handle, even if hQueue is
    an older handle of the same queue.
    """

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and descriptor.QueueReference is not None:
            call.arguments["hQueue"] = [*descriptor.QueueReference.OpenQueueDescriptorCollection][-1]
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-closes-last-cursor", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorClosesLastCursor(RemoteQueueOpening):
    """RemoteQMCloseCursor closes the cursor of the queue that was opened last, and ignores hCursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.descriptors.get(call.arguments["hQueue"])
        if descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection:
            call.arguments["hCursor"] = next(reversed(descriptor.CursorCollection))
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-closes-cursors-of-other-handles", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorClosesCursorsOfOtherHandles(RemoteQueueOpening):
    """RemoteQMCloseCursor also closes the cursors that other handles of the same queue have opened."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection
        super().remote_qm_close_cursor(call, now)
        if descriptor is None or not known or descriptor.QueueReference is None:
            return
        for other in descriptor.QueueReference.OpenQueueDescriptorCollection.values():
            for cursor in list(other.CursorCollection.values()) if other is not descriptor else ():
                self.qm.queue_opening.close_cursor(cursor)


@fault("server-close-cursor-rewinds-other-cursors-of-handle", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorRewindsOtherCursorsOfHandle(QueueOpening):
    """When a cursor is closed, the server moves the other cursors of the handle to the start of the queue."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
            self.qm.queue_cursors.move_cursor_to_start(other)
            other.CursorState = CursorState.UNREAD


@fault("server-close-cursor-ends-reads-of-other-cursors", breaks="MQQP-3.1.4.5-09")
class ServerCloseCursorEndsReadsOfOtherCursors(QueueOpening):
    """The server ends every read that waits on the handle when a cursor of the handle is closed."""

    def close_cursor(self, cursor: Cursor) -> None:
        super().close_cursor(cursor)
        for reader in list(cursor.OpenQueueDescriptorReference.WaitingMessageReadOperationCollection):
            self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)


@fault("server-close-cursor-closes-later-cursors", breaks="MQQP-3.1.4.5-09", blind=True)
class ServerCloseCursorClosesLaterCursors(QueueOpening):
    """When a cursor is closed, the server also closes the cursors of the handle that were opened later."""

    def close_cursor(self, cursor: Cursor) -> None:
        later = [
            one for one in cursor.OpenQueueDescriptorReference.CursorCollection.values() if one.Handle > cursor.Handle
        ]
        super().close_cursor(cursor)
        for one in later:
            super().close_cursor(one)


@fault("server-close-cursor-unknown-cursor-accepted", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorUnknownCursorAccepted(RemoteQueueOpening):
    """RemoteQMCloseCursor with an unknown cursor returns MQ_OK."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(change_answer_values(call, Return=Status.MQ_OK), now)


@fault("server-close-cursor-second-close-returns-mq-ok", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorSecondCloseReturnsMqOk(_WrongCursorCloser):
    """RemoteQMCloseCursor returns MQ_OK for a cursor that is already closed."""

    closed_cursor_handles: frozenset[int] = frozenset()

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if self.find(call) is None and call.arguments["hCursor"] in self.closed_cursor_handles:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
            return
        self.closed_cursor_handles |= {call.arguments["hCursor"]}
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-unknown-queue-returns-invalid-parameter", breaks="MQQP-3.1.4.5-10")
class ServerCloseCursorOfUnknownQueueReturnsInvalidParameter(_WrongCursorCloser):
    """The server returns MQ_ERROR_INVALID_PARAMETER for an unknown hQueue."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"]) is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-of-closed-queue-returns-invalid-parameter", breaks="MQQP-3.1.4.5-10", blind=True)
class ServerCloseCursorOfClosedQueueReturnsInvalidParameter(RemoteQueueOpening):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a cursor whose queue handle was closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = self.__dict__.setdefault("known", set())
        if descriptor is not None:
            known.add(call.arguments["hQueue"])
        elif call.arguments["hQueue"] in known:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER))
            return
        super().remote_qm_close_cursor(call, now)


add(
    "server-close-cursor-throws-errors",
    "MQQP-3.1.4.5-D01",
    "RemoteQMCloseCursor throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteQueueOpening.remote_qm_close_cursor),
)


@fault("server-close-cursor-raises-exception-for-h-cursor-0", breaks="MQQP-3.1.4.5-D01")
class ServerCloseCursorRaisesExceptionForHCursor0(_WrongCursorCloser):
    """The server raises an RPC exception for hCursor 0."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        if call.arguments["hCursor"] == 0:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-closes-first-cursor-of-handle", breaks="MQQP-3.1.4.5-01", blind=True)
class ServerCloseCursorClosesFirstCursorOfHandle(RemoteQueueOpening):
    """RemoteQMCloseCursor closes the first cursor of the queue handle instead of the given cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is not None and call.arguments["hCursor"] in descriptor.CursorCollection:
            call.arguments["hCursor"] = next(iter(descriptor.CursorCollection))
        super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-keeps-cursor-of-waiting-read-open", breaks="MQQP-3.1.4.5-11", blind=True)
class ServerCloseCursorKeepsCursorOfWaitingReadOpen(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor with which a read waits, but does not close the cursor."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        given = call.arguments
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(given["hQueue"])
        waiting = () if descriptor is None else descriptor.WaitingMessageReadOperationCollection
        cursors = [one.CursorReference for one in waiting if one.CursorReference is not None]
        if given["hCursor"] in [cursor.Handle for cursor in cursors]:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)


@fault("server-close-cursor-keeps-cursor-of-unended-receive", breaks="MQQP-3.1.4.5-11")
class ServerCloseCursorKeepsCursorOfUnendedReceive(RemoteQueueOpening):
    """RemoteQMCloseCursor returns MQ_OK for a cursor whose message is locked by a receive, but does not close the
    cursor.
    """

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = descriptor and self.qm.remote_read_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        at = getattr(cursor, "MessagePositionReference", None)
        if getattr(at, "State", None) is MessagePositionState.LOCKED:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)
