"""Second faults of remote reading, by an author who had read the rules and not the checks. Spec: MS-MQQP 3.1, 3.2."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replaced
from harness.faults.registry import add
from reference_qm.codec import UserHeader, UserMessagePacket, parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, Version
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

# -- the server -------------------------------------------------------------------------------------------------------


@fault("request-id-in-use-for-any-queue", breaks=("MQQP-3.1.4.10-16", "MQQP-3.1.4.1-D08"))
class RequestIdInUseForAnyQueue(RemoteStarting):
    """A dwRequestID is in use when a read of any queue has it."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection:
            if entry.RequestId == desc["dwRequestID"]:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("request-id-of-a-waiting-peek-not-in-use", breaks=("MQQP-3.1.4.10-15", "MQQP-3.1.4.1-12"))
class RequestIdOfAWaitingPeekNotInUse(RemoteStarting):
    """Only the dwRequestID of a receive that waits is in use, not that of a peek."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"]):
            if entry.RequestId == desc["dwRequestID"] and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("cursor-of-another-handle-taken", breaks=("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12"))
class CursorOfAnotherHandleTaken(RemoteStarting):
    """A cursor is looked for among those of all handles."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = (one.CursorCollection.get(handle) for one in self.qm.descriptors.values())
        return next((cursor for cursor in found if cursor is not None), None)


@fault("message-given-back-goes-to-the-end", breaks="MQQP-3.1.4.2-06")
class MessageGivenBackGoesToTheEnd(RemoteEnding):
    """A message that its reader gives back is put behind the others."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position is not None and position.State is MessagePositionState.AVAILABLE:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.AVAILABLE
            positions.insert(position)


@fault("end-receive-ends-the-first-that-is-held", breaks="MQQP-3.1.4.2-11")
class EndReceiveEndsTheFirstThatIsHeld(RemoteEnding):
    """Whatever the handle, the first message of the queue that is held is taken out, or given back."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            positions = position.QueueReference.MessagePositionList
            held = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(held, position)
        super().end_remote_read(entry, delete_message, ended)


@fault("closing-a-handle-closes-its-queue-for-all", breaks=("MQQP-3.1.4.4-06", "MQQP-3.1.4.4-12"))
class ClosingAHandleClosesItsQueueForAll(RemoteOpening):
    """Closing one of two handles of a queue closes the other, too."""

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().close_open_queue_entry(entry)
        for other in list(self.qm.remote.OpenQueueEntryCollection):
            found = self.qm.remote_starting.find_remote_descriptor(other.OpenQueueDescriptorHandle)
            if mine is not None and found is not None and found.QueueReference is mine.QueueReference:
                super().close_open_queue_entry(other)


@fault("receive-of-the-last-by-all-ones-finds-nothing", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06"))
class ReceiveOfTheLastByAllOnesFindsNothing(RemoteReads):
    """PREV of all ones is the last message for a peek only."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV:
            return MessageSeekAction.PREVIOUS
        return super().get_lookup_operation(action, lookup_id)


@fault("receive-of-the-first-by-zero-finds-nothing", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05"))
class ReceiveOfTheFirstByZeroFindsNothing(RemoteReads):
    """NEXT of 0 is the first message for a peek only."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            return MessageSeekAction.NEXT
        return super().get_lookup_operation(action, lookup_id)


@fault("sequential-id-of-a-peek-by-lookup-zero", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"))
class SequentialIdOfAPeekByLookupZero(RemoteReads):
    """SequentialId is set for what is received by lookup, and 0 for what is peeked at."""

    peeking = False

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        self.peeking = entry.Action in (
            ReadAction.MQ_LOOKUP_PEEK_CURRENT,
            ReadAction.MQ_LOOKUP_PEEK_NEXT,
            ReadAction.MQ_LOOKUP_PEEK_PREV,
        )
        super().complete_remote_read(entry, status, position)

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.peeking else super().get_sequential_id(position)


@fault("sequential-id-with-the-priority", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"))
class SequentialIdWithThePriority(RemoteReads):
    """SequentialId is the whole LookupIdentifier, the byte of the priority included."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return position.LookupIdentifier


@fault("second-peek-moves-on", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class SecondPeekMovesOn(RemoteReads):
    """A second PEEK_CURRENT through a cursor that read a message reads the one behind it."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._peeked: set[int] = set()

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and cursor.Handle in self._peeked:
            super().remote_peek_next(entry, descriptor, cursor, now)
            return
        if cursor is not None:
            self._peeked.add(cursor.Handle)
        super().remote_peek(entry, descriptor, cursor, now)


@fault("one-timer-for-all-waits", breaks="MQQP-3.1.2-02")
class OneTimerForAllWaits(Waiting):
    """A read that begins to wait takes the timer of the one that waits already."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Any,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Any = None,
    ) -> None:
        if timeout_ms:
            for number in self.qm.readers:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, number))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("wait-of-whole-seconds", breaks=("MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"))
class WaitOfWholeSeconds(Waiting):
    """A time-out is cut to whole seconds."""

    def wait_for_new_message(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int | None, *arguments: Any, **named: Any
    ) -> None:
        whole = None if timeout_ms is None else timeout_ms // 1000 * 1000
        super().wait_for_new_message(queue_desc, whole, *arguments, **named)


@fault("arrive-time-is-the-sent-time", breaks="MQQP-2.2.2.1-07")
class ArriveTimeIsTheSentTime(RemoteReads):
    """dwArriveTime is when the message was sent."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": position.MessageReference.SentTime}


def _serialized(change: Callable[[UserMessagePacket], UserMessagePacket]) -> type[RemoteReads]:
    class Serialized(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            packet = parse_packet(super().serialize_remote_message(position))
            assert isinstance(packet, UserMessagePacket)
            return change(replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))).build()

    return Serialized


def _without_journaling(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(JN=1, JP=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags))


def _without_transaction(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), TransactionHeader=None)


add(
    "message-read-remotely-without-journaling",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "JN and JP are clear in a message that is read remotely.",
    replaced(_serialized(_without_journaling)),
)
add(
    "message-read-remotely-without-transaction",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "A transactional message that is read remotely has no TransactionHeader.",
    replaced(_serialized(_without_transaction)),
)


@fault("one-message-of-a-client-that-is-gone-given-back", breaks="MQQP-3.1.6.2-02")
class OneMessageOfAClientThatIsGoneGivenBack(RemoteEnding):
    """Of the messages that a client held when it went only the first is given back."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._queues: set[int] = set()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.OpenQueueDescriptorHandle not in self._queues:
            self._queues.add(entry.OpenQueueDescriptorHandle)
            super().run_down_remote_read(entry)


@fault("cancel-ends-the-oldest-read", breaks="MQQP-3.1.4.6-10")
class CancelEndsTheOldestRead(RemoteEnding):
    """Whatever the dwRequestID, the read that has waited longest is cancelled."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, found = super().find_read_to_cancel(h_queue, request_id)
        if found is None:
            return status, found
        return status, self.qm.remote.RemoteReadEntryCollection.of(h_queue)[0]


@fault("waiting-reader-gets-no-transactional-message", breaks="MQQP-3.1.4.1-D02")
class WaitingReaderGetsNoTransactionalMessage(Waiting):
    """A read that waits does not notice a transactional message that comes."""

    def release_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().release_readers(position)


# -- the client -------------------------------------------------------------------------------------------------------


@fault("version-asked-for-once", breaks=("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07"))
class VersionAskedForOnce(ClientReading):
    """The version of a server is asked for before the first read of a queue only."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: dict[int, Version | None] = {}

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        if read.queue.number not in self._known:
            self._known[read.queue.number] = yield from super().ask_server_version(read)
        return self._known[read.queue.number]


@fault("version-5-0-with-a-late-build-not-old", breaks=("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10"))
class Version50WithALateBuildNotOld(ClientReading):
    """A server of version 5.0 is old only with a build below 951."""

    def is_old_version(self, version: Version | None) -> bool:
        late = version is not None and (version.Major, version.Minor) == (5, 0) and version.BuildNumber >= 951
        return super().is_old_version(version) and not late


@fault(
    "request-ids-counted-for-each-queue",
    breaks=("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-05", "MQQP-3.2.4.5-05", "MQQP-3.2.4.6-05"),
)
class RequestIdsCountedForEachQueue(ClientReading):
    """The RequestIds of the reads of each queue begin with 1."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry.RequestId = sum(one.queue is read.queue for one in pending)
        return entry


@fault("time-out-of-zero-taken-for-endless", breaks=("MQQP-3.2.4.2-30", "MQQP-3.2.4.3-30"))
class TimeOutOfZeroTakenForEndless(ClientReading):
    """ulTimeout of a read that is not to wait is that of one that waits for ever."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"ulTimeout": described["ulTimeout"] or INFINITE_MS}


@fault("closing-client-cancels-its-first-read", breaks=("MQQP-3.2.4.9-04",))
class ClosingClientCancelsItsFirstRead(ClientCancelling):
    """Every RemoteQMCancelReceive of a queue names the first of its reads."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive(entry)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        self.first = getattr(self, "first", next(one.RequestId for one in pending if one.queue is entry.queue))
        return described | {"dwRequestID": self.first}
