"""Faults that break rules of MS-MQQP 3.1.4.1 and 3.1.4.10 about cursors, and reads that wait."""

from __future__ import annotations

from harness.faults.calls import change_step_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault(
    "server-waiting-read-by-cursor-skips-message",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-40"),
)
class ServerWaitingReadByCursorSkipsMessage(WaitingReads):
    """The server completes a waiting read by a cursor only with a message after the message at the cursor."""

    def _find_message_for_reader(
        self, reader: WaitingMessageReadOperation, new: MessagePosition
    ) -> MessagePosition | None:
        cursor = reader.CursorReference
        if cursor is None:
            return super()._find_message_for_reader(reader, new)
        return self.qm.message_search.seek_available(cursor.MessagePositionReference, not reader.DestructiveRead)


add(
    "server-waiting-receive-without-request-id",
    ("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"),
    "The server does not keep the dwRequestID of a waiting receive.",
    change_step_arguments(WaitingReads.wait_for_new_message, tag=lambda given: None),
)


@fault("server-waiting-peek-next-of-start-receive2-does-not-move-cursor", breaks="MQQP-3.1.4.10-D04", blind=True)
class ServerWaitingPeekNextOfStartReceive2DoesNotMoveCursor(QueueCursors):
    """If RemoteQMStartReceive2 with PEEK_NEXT had to wait for the next message, the cursor is not moved to it."""

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        for entry in self.qm.remote.reads.values():
            second = entry.call.arguments.get("lpRemoteReadDesc2")
            if second is None or entry.Action is not ReadAction.MQ_ACTION_PEEK_NEXT:
                continue
            description = second["pRemoteReadDesc"]
            handle = cursor.OpenQueueDescriptorReference.Handle
            if (description["hRemoteQueue"], description["hCursor"]) == (handle, cursor.Handle):
                cursor.CursorState = CursorState.READ
                return
        super().on_message_available(cursor, message_position)


@fault("server-start-receive2-without-cursor-uses-newest-cursor", breaks="MQQP-3.1.4.10-23", blind=True)
class ServerStartReceive2WithoutCursorUsesNewestCursor(RemoteReads):
    """RemoteQMStartReceive2 with RECEIVE and without a cursor receives at the newest cursor of the handle, if any."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is None and "lpRemoteReadDesc2" in entry.call.arguments:
            cursor = next(reversed(descriptor.CursorCollection.values()), None)
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-peek-without-cursor-repeats-earlier-peek", breaks="MQQP-3.1.4.1-D13", blind=True)
class ServerPeekWithoutCursorRepeatsEarlierPeek(RemoteReads):
    """RemoteQMStartReceive with PEEK_CURRENT and without a cursor returns the message that it returned at the previous
    peek with the handle, even if a message with a higher priority is now the first.
    """

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        known = self.__dict__.get("peeked", {}).get(descriptor.Handle)
        first = cursor is None and "lpRemoteReadDesc" in entry.call.arguments
        if first and known is not None and known.State is MessagePositionState.AVAILABLE:
            self.complete_remote_read(entry, Status.MQ_OK, known)
        else:
            super().remote_peek(entry, descriptor, cursor, now)

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        description = entry.call.arguments.get("lpRemoteReadDesc")
        peeked = entry.Action is ReadAction.MQ_ACTION_PEEK_CURRENT
        if description is not None and peeked and not description["hCursor"] and position is not None:
            self.__dict__.setdefault("peeked", {})[entry.OpenQueueDescriptorHandle] = position
        super().complete_remote_read(entry, status, position)


@fault("server-peek-next-without-cursor-uses-cursor-of-handle", breaks="MQQP-3.1.4.1-D09", blind=True)
class ServerPeekNextWithoutCursorUsesCursorOfHandle(RemoteReadStarting):
    """If the handle has an open cursor, RemoteQMStartReceive with PEEK_NEXT and without a cursor uses this cursor."""

    def remote_qm_start_receive(self, call: Call, now: Now) -> None:
        description = call.arguments["lpRemoteReadDesc"]
        if description is not None and description["ulAction"] == ReadAction.MQ_ACTION_PEEK_NEXT:
            descriptor = self.find_remote_descriptor(description["hRemoteQueue"])
            if not description["hCursor"] and descriptor is not None and descriptor.CursorCollection:
                description["hCursor"] = next(reversed(descriptor.CursorCollection))
        super().remote_qm_start_receive(call, now)


@fault("server-peek-next-2-after-wait-moves-other-cursors", breaks="MQQP-3.1.4.10-D04")
class ServerPeekNext2AfterWaitMovesOtherCursors(QueueCursors):
    """If RemoteQMStartReceive2 with PEEK_NEXT had to wait for the next message, the server moves every cursor of the
    handle to this message.
    """

    def on_message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().on_message_available(cursor, message_position)
        waits = [entry for entry in self.qm.remote.reads.values() if "lpRemoteReadDesc2" in entry.call.arguments]
        if any(entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT for entry in waits):
            for other in cursor.OpenQueueDescriptorReference.CursorCollection.values():
                if other is not cursor:
                    super().on_message_available(other, message_position)
