"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10 that only special cases reveal: earlier reads and other reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import parse_packet
from reference_qm.core.queueing.cursors import Cursors, Got
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus, Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-duplicate-request-id-of-other-method-accepted", breaks=("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15"))
class ServerDuplicateRequestIdOfOtherMethodAccepted(RemoteStarting):
    """The server accepts a dwRequestID that a read by the other method (RemoteQMStartReceive or RemoteQMStartReceive2)
    uses on the same handle.
    """

    def _start_read(self, call: Call, desc: Desc, checks: Any, now: Now) -> None:
        entries = self.qm.remote.RemoteReadEntryCollection
        hidden = []
        if desc is not None:
            hidden = [one for one in entries.of(desc["hRemoteQueue"]) if one.call.method.name != call.method.name]
        for one in hidden:
            entries.remove(one)
        super()._start_read(call, desc, checks, now)
        for one in hidden:
            entries.add(one)


@fault("server-receive-of-transactional-message-deletes-it", breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"))
class ServerReceiveOfTransactionalMessageDeletesIt(RemoteReads):
    """The server deletes a transactional message as soon as it is received, not when the receive ends."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        locked = position is not None and position.State is MessagePositionState.LOCKED
        if position is not None and locked and position.MessageReference.TransactionIdentifier is not None:
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-peek-next-after-received-message-fails", breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.10-D04"))
class ServerPeekNextAfterReceivedMessageFails(Cursors):
    """The server refuses a PEEK_NEXT if the current message of the cursor was received."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        entry = cursor.MessagePositionReference
        if not isinstance(entry, Boundary) and entry.State is not MessagePositionState.AVAILABLE:
            return CursorStatus.ALREADY_RECEIVED, None
        return super().get_next_message_for_peek(cursor)


@fault("server-read-packet-sent-time-of-arrival", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerReadPacketSentTimeOfArrival(RemoteReads):
    """The server returns the arrival time of a message as its SentTime."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        changed: bytes = set_fields(packet, {"UserHeader.SentTime": position.MessageReference.ArrivalTime}).build()
        return changed


@fault("server-waiting-receives-get-same-message", breaks=("MQQP-3.1.4.1-01", "MQQP-3.1.4.1-D15"))
class ServerWaitingReceivesGetSameMessage(Waiting):
    """The server returns an arriving message to all receives that wait on the same handle."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [one for one in reader.descriptor.WaitingMessageReadOperationCollection if one is not reader]
        super().satisfy_reader(reader, position)
        for one in others:
            if one.number in self.qm.readers and one.DestructiveRead and reader.DestructiveRead:
                super().satisfy_reader(one, position)


@fault("server-receive-beside-cursor-reads-oldest-message", breaks=("MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-23"))
class ServerReceiveBesideCursorReadsOldestMessage(Reading):
    """While a cursor is open, a receive without a cursor returns the message that arrived first."""

    def dequeue_message(
        self, queue_desc: OpenQueueDescriptor, answered: Any, now: Now, *rest: Any, **more: Any
    ) -> None:
        queue = queue_desc.QueueReference
        found = []
        if queue is not None and queue_desc.CursorCollection and not (more.get("cursor") or any(rest[1:2])):
            found = [one for one in queue.MessagePositionList if one.State is MessagePositionState.AVAILABLE]
        if found:
            self.take_message_out(min(found, key=lambda one: one.order), None, True, answered)
        else:
            super().dequeue_message(queue_desc, answered, now, *rest, **more)
