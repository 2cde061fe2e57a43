"""Faults of RemoteQMStartReceiveByLookupId in context handles, in unopened queues, and in later calls of a client."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import FIRST_LOOKUP_ID, LAST_LOOKUP_ID, RemoteReads
from reference_qm.core.remote.remote_starting import ReadDescription, RemoteStarting
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

LOOKUP = "RemoteQMStartReceiveByLookupId"


def _is_lookup_receive(entry: RemoteReadEntry | None) -> bool:
    return entry is not None and entry.call.method.name == LOOKUP and entry.Action in RECEIVE_ACTIONS


@fault("acceptor-remoteqmstartreceivebylookupid-handle-at-edge-null", breaks="MQQP-3.1.4.11-02", blind=True)
class AcceptorRemoteqmstartreceivebylookupidHandleAtEdgeNull(RemoteReads):
    """RemoteQMStartReceiveByLookupId returns no context handle for a receive with LookupId 0 or 0xFFFFFFFFFFFFFFFF."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if _is_lookup_receive(entry) and call.arguments["LookupId"] in (FIRST_LOOKUP_ID, LAST_LOOKUP_ID):
            call = change_answer_values(call, pphContext=None)
        super().answer_read(call, status, entry)


@fault("acceptor-remoteqmstartreceivebylookupid-handle-of-second-receive-null", breaks="MQQP-3.1.4.11-02", blind=True)
class AcceptorRemoteqmstartreceivebylookupidHandleOfSecondReceiveNull(RemoteReads):
    """RemoteQMStartReceiveByLookupId returns no context handle while an earlier receive has not been ended."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        begun: list[RemoteReadEntry] = self.__dict__.setdefault("begun", [])
        if entry is not None and _is_lookup_receive(entry) and not status:
            if any(not one.ended for one in begun):
                call = change_answer_values(call, pphContext=None)
            begun.append(entry)
        super().answer_read(call, status, entry)


class LookupStarting(RemoteStarting):
    """A part that knows whether the current read is a read by lookup identifier."""

    by_lookup = False

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        self.by_lookup = True
        super().remote_qm_start_receive_by_lookup_id(call, now)
        self.by_lookup = False


@fault(
    "acceptor-remoteqmstartreceivebylookupid-queue-beside-open-queue-accepted", breaks="MQQP-3.1.4.11-26", blind=True
)
class AcceptorRemoteqmstartreceivebylookupidQueueBesideOpenQueueAccepted(LookupStarting):
    """RemoteQMStartReceiveByLookupId reads from an unopened queue if RemoteQMOpenQueue has opened any other queue."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.by_lookup and len(self.qm.remote.OpenQueueEntryCollection):
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("acceptor-remoteqmstartreceivebylookupid-peek-of-unopened-queue-accepted", breaks="MQQP-3.1.4.11-26", blind=True)
class AcceptorRemoteqmstartreceivebylookupidPeekOfUnopenedQueueAccepted(LookupStarting):
    """RemoteQMStartReceiveByLookupId peeks at messages of a queue that RemoteQMOpenQueue has not opened."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        if self.by_lookup and desc["ulAction"] not in RECEIVE_ACTIONS:
            return Status.MQ_OK
        return super().check_open_queue(desc)


@fault("acceptor-remoteqmstartreceivebylookupid-entry-replaced-by-next-receive", breaks="MQQP-3.1.4.11-30", blind=True)
class AcceptorRemoteqmstartreceivebylookupidEntryReplacedByNextReceive(RemoteReads):
    """The server keeps only the entry of the last receive by lookup identifier: the message of an earlier receive
    becomes available again.
    """

    last: RemoteReadEntry | None = None

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, status, entry)
        if entry is None or status or not _is_lookup_receive(entry):
            return
        if self.last is not None and not self.last.ended and (position := self.last.UserMessagePacket) is not None:
            self.qm.positions.unlock_message(position)
        self.last = entry


@fault("acceptor-remoteqmstartreceivebylookupid-entry-removed-by-cancel", breaks="MQQP-3.1.4.11-30", blind=True)
class AcceptorRemoteqmstartreceivebylookupidEntryRemovedByCancel(RemoteEnding):
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
                self.qm.positions.unlock_message(position)
        super().remote_qm_cancel_receive(call, now)


class LookupChanged(ClientReading):
    """A part of a client that changes some reads by lookup identifier."""

    actions: tuple[ReadAction, ...]

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        """Return the changed read. ``earlier`` is the number of earlier reads with one of the actions."""
        raise NotImplementedError

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.LookupId is not None and read.Action in self.actions:
            earlier: int = self.__dict__.setdefault("earlier", 0)
            self.__dict__["earlier"] = earlier + 1
            read = self.change_lookup(read, earlier)
        return (yield from super().start_receive2(read))


class LookupIdOfLaterCallZero(LookupChanged):
    """A part that sends the LookupId 0 in all lookups after the first."""

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=0) if earlier else read


PEEK_CURRENT = ReadAction.MQ_LOOKUP_PEEK_CURRENT
CURRENT_OR_PREVIOUS = (
    ReadAction.MQ_LOOKUP_RECEIVE_CURRENT,
    ReadAction.MQ_LOOKUP_PEEK_PREV,
    ReadAction.MQ_LOOKUP_RECEIVE_PREV,
)


@fault("initiator-lookup-peek-current-lookupid-of-later-call-zero", breaks="MQQP-3.1.4.11-09", blind=True)
class InitiatorLookupPeekCurrentLookupidOfLaterCallZero(LookupIdOfLaterCallZero):
    """A client sets LookupId to 0 in each LOOKUP_PEEK_CURRENT after the first."""

    actions = (PEEK_CURRENT,)


@fault("initiator-lookup-peek-current-lookupid-with-zero-low-half-zero", breaks="MQQP-3.1.4.11-09", blind=True)
class InitiatorLookupPeekCurrentLookupidWithZeroLowHalfZero(LookupChanged):
    """A client sets only the low 32 bits of LookupId in a LOOKUP_PEEK_CURRENT, so that 0x0000000100000000 becomes 0."""

    actions = (PEEK_CURRENT,)

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=(read.LookupId or 0) & 0xFFFFFFFF)


@fault("initiator-lookup-hcursor-of-open-cursor", breaks="MQQP-3.1.4.11-13", blind=True)
class InitiatorLookupHcursorOfOpenCursor(LookupChanged):
    """A client sets hCursor to a cursor of the queue that the application has opened, if there is one."""

    actions = CURRENT_OR_PREVIOUS

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        for queue, cursor in self.qm.remote_client.queue_and_handle_by_cursor.values():
            if queue is read.queue:
                return replace(read, CursorHandle=cursor)
        return read


@fault("initiator-lookup-hcursor-of-later-call-nonzero", breaks="MQQP-3.1.4.11-13", blind=True)
class InitiatorLookupHcursorOfLaterCallNonzero(LookupChanged):
    """A client sets hCursor to 1 in each LOOKUP_RECEIVE_CURRENT, LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV after the
    first two.
    """

    actions = CURRENT_OR_PREVIOUS

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, CursorHandle=1) if earlier > 1 else read


@fault("initiator-lookup-receive-prev-lookupid-of-last-message-zero", breaks="MQQP-3.1.4.11-14", blind=True)
class InitiatorLookupReceivePrevLookupidOfLastMessageZero(LookupChanged):
    """A client sets LookupId to 0 in the LOOKUP_RECEIVE_PREV with which the application receives the last message."""

    actions = (ReadAction.MQ_LOOKUP_RECEIVE_PREV,)

    def change_lookup(self, read: RemoteRead, earlier: int) -> RemoteRead:
        return replace(read, LookupId=0) if read.LookupId == LAST_LOOKUP_ID else read


@fault("initiator-lookup-receive-current-lookupid-of-later-call-zero", breaks="MQQP-3.1.4.11-14", blind=True)
class InitiatorLookupReceiveCurrentLookupidOfLaterCallZero(LookupIdOfLaterCallZero):
    """A client sets LookupId to 0 in each LOOKUP_RECEIVE_CURRENT after the first."""

    actions = (ReadAction.MQ_LOOKUP_RECEIVE_CURRENT,)
