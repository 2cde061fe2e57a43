"""Faults of RemoteQMStartReceiveByLookupId in context handles, in unopened queues, and in later calls of a client."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import FIRST_LOOKUP_ID, LAST_LOOKUP_ID, RemoteReads
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

LOOKUP = "RemoteQMStartReceiveByLookupId"


def _is_lookup_receive(entry: RemoteReadEntry | None) -> bool:
    return entry is not None and entry.call.method.name == LOOKUP and entry.Action in RECEIVE_ACTIONS


@fault("server-lookup-receive-at-end-of-queue-returns-null-handle", breaks="MQQP-3.1.4.11-02", blind=True)
class ServerLookupReceiveAtEndOfQueueReturnsNullHandle(RemoteReads):
    """RemoteQMStartReceiveByLookupId returns no context handle for a receive with LookupId 0 or 0xFFFFFFFFFFFFFFFF."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if _is_lookup_receive(entry) and call.arguments["LookupId"] in (FIRST_LOOKUP_ID, LAST_LOOKUP_ID):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("server-second-lookup-receive-returns-null-handle", breaks="MQQP-3.1.4.11-02", blind=True)
class ServerSecondLookupReceiveReturnsNullHandle(RemoteReads):
    """RemoteQMStartReceiveByLookupId returns no context handle while an earlier receive has not been ended."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        begun: list[RemoteReadEntry] = self.__dict__.setdefault("begun", [])
        if entry is not None and _is_lookup_receive(entry) and not status:
            if any(not one.ended for one in begun):
                call = change_answer_values(call, pphContext=None)
            begun.append(entry)
        super().answer_read(call, status, entry)


class LookupReadRecorder(RemoteReadStarting):
    """A part of the queue manager that knows whether the current read is a read by lookup identifier."""

    is_read_by_lookup_id = False

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        self.is_read_by_lookup_id = True
        super().remote_qm_start_receive_by_lookup_id(call, now)
        self.is_read_by_lookup_id = False


@fault("server-lookup-reads-unopened-queue-while-other-queue-is-open", breaks="MQQP-3.1.4.11-26", blind=True)
class ServerLookupReadsUnopenedQueueWhileOtherQueueIsOpen(LookupReadRecorder):
    """RemoteQMStartReceiveByLookupId reads from an unopened queue if RemoteQMOpenQueue has opened any other queue."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.is_read_by_lookup_id and len(self.qm.remote.OpenQueueEntryCollection):
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-lookup-peeks-at-unopened-queue", breaks="MQQP-3.1.4.11-26", blind=True)
class ServerLookupPeeksAtUnopenedQueue(LookupReadRecorder):
    """RemoteQMStartReceiveByLookupId peeks at messages of a queue that RemoteQMOpenQueue has not opened."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.is_read_by_lookup_id and desc["ulAction"] not in RECEIVE_ACTIONS:
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("server-next-lookup-receive-unlocks-message-of-earlier-one", breaks="MQQP-3.1.4.11-30", blind=True)
class ServerNextLookupReceiveUnlocksMessageOfEarlierOne(RemoteReads):
    """The server keeps only the entry of the last receive by lookup identifier: the message of an earlier receive
    becomes available again.
    """

    last: RemoteReadEntry | None = None

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, status, entry)
        if entry is None or status or not _is_lookup_receive(entry):
            return
        if self.last is not None and not self.last.ended and (position := self.last.UserMessagePacket) is not None:
            self.qm.message_positions.unlock_message(position)
        self.last = entry


@fault("server-cancel-receive-unlocks-message-of-answered-lookup-receive", breaks="MQQP-3.1.4.11-30", blind=True)
class ServerCancelReceiveUnlocksMessageOfAnsweredLookupReceive(RemoteReadEnding):
    """A RemoteQMCancelReceive with the dwRequestID of an answered receive by lookup identifier removes its entry: the
    message becomes available again.
    """

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        group = call.association.group
        for handle in [] if group is None else list(group.handles.values()):
            entry = handle.state
            if not isinstance(entry, RemoteReadEntry) or entry.ended or not _is_lookup_receive(entry):
                continue
            position = entry.UserMessagePacket
            cancelled = entry.RequestId == call.arguments["dwRequestID"]
            if cancelled and position is not None and position.State is MessagePositionState.LOCKED:
                self.qm.message_positions.unlock_message(position)
        super().remote_qm_cancel_receive(call, now)


class LookupReadChanger(ClientMessageReading):
    """A part of a client that changes some reads by lookup identifier; a subclass selects which."""

    changed_actions: tuple[ReadAction, ...]

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        """Return the changed read. ``earlier`` is the number of earlier reads with one of the actions."""
        raise NotImplementedError

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.LookupId is not None and read.Action in self.changed_actions:
            earlier: int = self.__dict__.setdefault("earlier", 0)
            self.__dict__["earlier"] = earlier + 1
            read = self.change_lookup(read, earlier)
        return (yield from super().start_receive2(read))


class ZeroLookupIdSetterAfterFirstLookup(LookupReadChanger):
    """A part of the queue manager that sends the LookupId 0 in all lookups after the first."""

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=0) if earlier else read


PEEK_CURRENT = ReadAction.MQ_LOOKUP_PEEK_CURRENT
CURRENT_OR_PREVIOUS_LOOKUP_ACTIONS = (
    ReadAction.MQ_LOOKUP_RECEIVE_CURRENT,
    ReadAction.MQ_LOOKUP_PEEK_PREV,
    ReadAction.MQ_LOOKUP_RECEIVE_PREV,
)


@fault("client-lookup-id-zero-in-later-lookup-peek-current", breaks="MQQP-3.1.4.11-09", blind=True)
class ClientLookupIdZeroInLaterLookupPeekCurrent(ZeroLookupIdSetterAfterFirstLookup):
    """A client sets LookupId to 0 in each LOOKUP_PEEK_CURRENT after the first."""

    changed_actions = (PEEK_CURRENT,)


@fault("client-lookup-peek-current-sends-low-32-bits-of-lookup-id", breaks="MQQP-3.1.4.11-09", blind=True)
class ClientLookupPeekCurrentSendsLow32BitsOfLookupId(LookupReadChanger):
    """A client sets only the low 32 bits of LookupId in a LOOKUP_PEEK_CURRENT, so that 0x0000000100000000 becomes 0."""

    changed_actions = (PEEK_CURRENT,)

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=(read.LookupId or 0) & 0xFFFFFFFF)


@fault("client-h-cursor-of-lookup-is-open-cursor-of-queue", breaks="MQQP-3.1.4.11-13", blind=True)
class ClientHCursorOfLookupIsOpenCursorOfQueue(LookupReadChanger):
    """A client sets hCursor to a cursor of the queue that the application has opened, if there is one."""

    changed_actions = CURRENT_OR_PREVIOUS_LOOKUP_ACTIONS

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        for queue, cursor in self.qm.remote_client.queue_and_handle_by_cursor.values():
            if queue is read.queue:
                return replace(read, CursorHandle=cursor)
        return read


@fault("client-h-cursor-nonzero-in-later-lookups", breaks="MQQP-3.1.4.11-13", blind=True)
class ClientHCursorNonzeroInLaterLookups(LookupReadChanger):
    """A client sets hCursor to 1 in each LOOKUP_RECEIVE_CURRENT, LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV after the
    first two.
    """

    changed_actions = CURRENT_OR_PREVIOUS_LOOKUP_ACTIONS

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, CursorHandle=1) if earlier > 1 else read


@fault("client-lookup-id-zero-in-lookup-receive-prev-of-last-message", breaks="MQQP-3.1.4.11-14", blind=True)
class ClientLookupIdZeroInLookupReceivePrevOfLastMessage(LookupReadChanger):
    """A client sets LookupId to 0 in the LOOKUP_RECEIVE_PREV with which the application receives the last message."""

    changed_actions = (ReadAction.MQ_LOOKUP_RECEIVE_PREV,)

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=0) if read.LookupId == LAST_LOOKUP_ID else read


@fault("client-lookup-id-zero-in-later-lookup-receive-current", breaks="MQQP-3.1.4.11-14", blind=True)
class ClientLookupIdZeroInLaterLookupReceiveCurrent(ZeroLookupIdSetterAfterFirstLookup):
    """A client sets LookupId to 0 in each LOOKUP_RECEIVE_CURRENT after the first."""

    changed_actions = (ReadAction.MQ_LOOKUP_RECEIVE_CURRENT,)
