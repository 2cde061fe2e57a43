"""Faults of MS-MQQP 3.1.4.3 to 3.1.4.5 that break one cause, one state of a handle or one kind of waiting read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.elements import Cursor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now


@fault(
    "server-close-queue-with-unfinished-receive-not-released", breaks=("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-13"), blind=True
)
class NotReleasedWithReceive(RemoteOpening):
    """The server does not release a closed queue while a receive from the queue is unfinished."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            queue = descriptor.QueueReference
            if any(one.State is MessagePositionState.LOCKED for one in queue.MessagePositionList):
                self.qm.remote.OpenQueueEntryCollection.remove(entry)
                self.cancel_remote_reads(entry)
                return
        super().close_open_queue_entry(entry)


@fault(
    "server-close-queue-second-time-returns-null-handle-error",
    breaks=("MQQP-3.1.4.4-03", "MQQP-3.1.4.4-17"),
    blind=True,
)
class CloseWithReadsFails(RemoteOpening):
    """The server returns MQ_ERROR from RemoteQMCloseQueue if a read waited on the handle, and closes the queue."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        waiting = call.handle is not None and self.qm.remote.RemoteReadEntryCollection.of(
            call.handle.state.OpenQueueDescriptorHandle
        )
        if waiting:
            assert call.handle is not None
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR, pphContext=None))
        else:
            super().remote_qm_close_queue(call, now)


@fault("server-close-queue-with-waiting-read-thrown", breaks="MQQP-3.1.4.4-D01", blind=True)
class NullHandleThrown(RemoteOpening):
    """The server raises an RPC exception when the closed handle has a waiting read."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None and self.qm.remote.RemoteReadEntryCollection.of(
            call.handle.state.OpenQueueDescriptorHandle
        ):
            self.close_open_queue_entry(call.handle.state)
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_close_queue(call, now)


@fault(
    "server-close-queue-second-entry-of-handle-removed-too", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"), blind=True
)
class PurgesAtClose(RemoteOpening):
    """RemoteQMCloseQueue moves the cursors of the queue's other handles back to the start of the queue."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        super().close_open_queue_entry(entry)
        if queue is not None:
            for other in queue.OpenQueueDescriptorCollection.values():
                for cursor in other.CursorCollection.values():
                    self.qm.cursors.rewind(cursor)


@fault("server-open-queue-read-only-over-own-connection", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class OwnConnectionOnly(RemoteStarting):
    """The server removes the entry of an open queue when a read of the queue times out."""

    def check_open_queue(self, desc: Desc) -> Status:
        status = super().check_open_queue(desc)
        if not status and self.__dict__.setdefault("failed", {}).get(desc["hRemoteQueue"]):
            return Status.MQ_ERROR_INVALID_PARAMETER
        return status

    def create_remote_read_entry(self, call: Call, desc: Desc):  # type: ignore[no-untyped-def]
        entry = super().create_remote_read_entry(call, desc)
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        queue = None if descriptor is None else descriptor.QueueReference
        if desc["ulTimeout"] == 0 and queue is not None and not list(queue.MessagePositionList):
            self.__dict__["failed"][desc["hRemoteQueue"]] = True
        return entry


@fault("server-open-queue-entry-removed-by-cancel", breaks=("MQQP-3.1.4.3-19", "MQQP-3.1.1.5-01"), blind=True)
class EntryOfThirdHandleLost(RemoteOpening):
    """The server removes the entry of an open queue when a cursor of the handle is closed."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        super().remote_qm_close_cursor(call, now)
        for entry in self.qm.remote.OpenQueueEntryCollection.of(call.arguments["hQueue"]):
            self.qm.remote.OpenQueueEntryCollection.remove(entry)


@fault("server-open-queue-ignores-hqueue-only-if-nonzero", breaks="MQQP-3.1.4.3-11", blind=True)
class LargeHQueueRefused(RemoteOpening):
    """RemoteQMOpenQueue refuses an hQueue that is the handle of an open queue other than dwpContext."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        if given["hQueue"] != given["dwpContext"] and self.qm.remote_starting.find_remote_descriptor(given["hQueue"]):
            self.qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-open-queue-zero-context-thrown", breaks="MQQP-3.1.4.3-D02", blind=True)
class ZeroContextThrown(RemoteOpening):
    """The server raises an RPC exception when pQueue and dwpContext are 0."""

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        if not call.arguments["dwpContext"]:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH))
        else:
            super().remote_qm_open_queue(call, now)


@fault("server-close-cursor-of-waiting-read-ends-other-cursor", breaks="MQQP-3.1.4.5-09", blind=True)
class ClosesYoungerCursors(QueueOpening):
    """When a cursor is closed, the server also closes the cursors of the handle that were opened later."""

    def close_cursor(self, cursor: Cursor) -> None:
        later = [
            one for one in cursor.OpenQueueDescriptorReference.CursorCollection.values() if one.Handle > cursor.Handle
        ]
        super().close_cursor(cursor)
        for one in later:
            super().close_cursor(one)


@fault("server-close-cursor-of-closed-queue-invalid-parameter", breaks="MQQP-3.1.4.5-10", blind=True)
class ClosedQueueOtherStatus(RemoteOpening):
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
class WaitingCursorStays(RemoteOpening):
    """The server returns MQ_OK but does not close a cursor whose message was received."""

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = descriptor and self.qm.remote_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        at = getattr(cursor, "MessagePositionReference", None)
        if getattr(at, "State", None) is MessagePositionState.DELETED:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().remote_qm_close_cursor(call, now)
