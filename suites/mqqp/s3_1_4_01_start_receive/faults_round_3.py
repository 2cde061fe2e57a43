"""Faults that break rules of MS-MQQP 3.1.4.1 RemoteQMStartReceive and 3.1.4.10 RemoteQMStartReceive2."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("server-receive-by-cursor-does-not-wait", breaks="MQQP-3.1.4.1-D15", blind=True)
class ServerReceiveByCursorDoesNotWait(RemoteReads):
    """The server ignores ulTimeout of a RECEIVE that has a cursor, and does not wait for a message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None:
            entry.Timeout = 0
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-ended-read-removes-entries-of-equal-request-id", breaks="MQQP-3.1.4.1-D18", blind=True)
class ServerEndedReadRemovesEntriesOfEqualRequestId(RemoteReads):
    """At the end of a read, the server removes the entries with its dwRequestID of every queue handle."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        entries = self.qm.remote.RemoteReadEntryCollection
        for one in list(entries):
            if one.RequestId == entry.RequestId:
                entries.remove(one)
        super().complete_remote_read(entry, status, position)


@fault("server-receive-of-received-message-returns-not-found", breaks="MQQP-3.1.4.1-D20", blind=True)
class ServerReceiveOfReceivedMessageReturnsNotFound(RemoteReads):
    """The server returns MQ_ERROR_MESSAGE_NOT_FOUND instead of MQ_ERROR_MESSAGE_ALREADY_RECEIVED from a RECEIVE whose
    cursor is at a message that is no longer available.
    """

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        receives = entry.Action is ReadAction.MQ_ACTION_RECEIVE
        if receives and status is Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            status = Status.MQ_ERROR_MESSAGE_NOT_FOUND
        super().complete_remote_read(entry, status, position)


@fault("client-start-receive2-invalid-parameter-falls-back-to-start-receive", breaks="MQQP-3.1.4.10-10", blind=True)
class ClientStartReceive2InvalidParameterFallsBackToStartReceive(ClientReading):
    """The client calls RemoteQMStartReceive after a RemoteQMStartReceive2 that returned MQ_ERROR_INVALID_PARAMETER."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError as error:
            if read.LookupId is not None or error.status != Status.MQ_ERROR_INVALID_PARAMETER:
                raise
        return (yield from self.start_receive(read))


@fault("server-cursor-of-other-handle-of-same-queue-accepted", breaks="MQQP-3.1.4.10-22", blind=True)
class ServerCursorOfOtherHandleOfSameQueueAccepted(RemoteStarting):
    """The server accepts an hCursor that was created with a different handle of the same queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        queue = descriptor.QueueReference
        opened = () if queue is None else queue.OpenQueueDescriptorCollection.values()
        found = (one.CursorCollection[handle] for one in opened if handle in one.CursorCollection)
        return super().find_remote_cursor(descriptor, handle) or next(found, None)


@fault("server-start-receive2-unlocks-earlier-message-of-handle", breaks="MQQP-3.1.4.10-31", blind=True)
class ServerStartReceive2UnlocksEarlierMessageOfHandle(RemoteReads):
    """A RECEIVE of RemoteQMStartReceive2 unlocks the message of the previous RECEIVE with the same handle, although
    RemoteQMEndReceive was not called.
    """

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.call.method.name == "RemoteQMStartReceive2":
            latest: dict[int, RemoteReadEntry] = self.__dict__.setdefault("latest", {})
            previous = latest.get(descriptor.Handle)
            latest[descriptor.Handle] = entry
            if previous is not None and previous.UserMessagePacket is not None and not previous.ended:
                self.qm.positions.unlock_message(previous.UserMessagePacket)
        super().remote_receive(entry, descriptor, cursor, now)
