"""Faults that break rules of MS-MQQP 3.2.4.2 to 3.2.4.6, in which the client peeks at and receives messages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS, Ack, ReadAction

LONGEST_SIGNED_MS = 0x7FFFFFFF


def _is_plain_peek(read: RemoteRead) -> bool:
    return read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT and not read.CursorHandle


def _is_cursor_receive(read: RemoteRead) -> bool:
    return read.Action is ReadAction.MQ_ACTION_RECEIVE and bool(read.CursorHandle)


@fault("client-peek-dwsize-of-message-before", breaks="MQQP-3.2.4.2-16", blind=True)
class ClientPeekDwsizeOfMessageBefore(ClientReading):
    """The client sets dwSize of a peek to the size of the packet of its last read, and sends this packet again."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | self.__dict__.get("latest", {}) if _is_plain_peek(read) else described

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        first, second = results.get("lpRemoteReadDesc"), results.get("lpRemoteReadDesc2")
        described = second["pRemoteReadDesc"] if second is not None else first
        if described is not None:
            self.__dict__["latest"] = {name: described[name] for name in ("dwSize", "lpBuffer")}
        return super().reconstruct_message(results, server)


@fault("client-peek-hcursor-of-read-before", breaks="MQQP-3.2.4.2-18", blind=True)
class ClientPeekHcursorOfReadBefore(ClientReading):
    """The client sets hCursor of a peek without a cursor to the cursor of the last read of the same queue."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        used: dict[int, int] = self.__dict__.setdefault("used", {})
        if read.CursorHandle:
            used[read.queue.number] = read.CursorHandle
        elif _is_plain_peek(read):
            described["hCursor"] = used.get(read.queue.number, 0)
        return described


@fault("client-peek-dwqueue-of-queue-opened-last", breaks="MQQP-3.2.4.2-25", blind=True)
class ClientPeekDwqueueOfQueueOpenedLast(ClientReading):
    """The client sets dwQueue of a peek to the dwpQueue of the queue that it opened last."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        if _is_plain_peek(read):
            described["dwQueue"] = list(self.qm.remote_client.queues.values())[-1].QueueDescriptor
        return described


@fault("client-receive-long-ultimeout-infinite", breaks="MQQP-3.2.4.3-20", blind=True)
class ClientReceiveLongUltimeoutInfinite(ClientReading):
    """The client sets ulTimeout of a receive to INFINITE if the time-out is longer than 0x7FFFFFFF ms."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        plain_receive = read.Action is ReadAction.MQ_ACTION_RECEIVE and not read.CursorHandle
        if plain_receive and read.TimeOut > LONGEST_SIGNED_MS:
            described["ulTimeout"] = INFINITE_MS
        return described


@fault("client-end-receive-not-called-for-empty-body", breaks="MQQP-3.2.4.3-36", blind=True)
class ClientEndReceiveNotCalledForEmptyBody(ClientReading):
    """The client does not call RemoteQMEndReceive after it has received a message with an empty body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.__dict__["is_empty"] = not found.message.Body
        return found

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        if ack is Ack.RR_ACK and self.__dict__.get("is_empty"):
            return _skip_call()
        return super().end_receive(entry, ack)


def _skip_call() -> Sequence:
    yield from ()


@fault("client-entry-of-receive-kept-after-failed-end-receive", breaks="MQQP-3.2.4.3-39", blind=True)
class ClientEntryOfReceiveKeptAfterFailedEndReceive(ClientReading):
    """The client keeps the PendingRemoteReadEntry of a receive whose RemoteQMEndReceive returned a failure."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        try:
            yield from super().end_receive(entry, ack)
        except RemoteError:
            self.__dict__.setdefault("kept", []).append(entry)
            raise

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        if entry not in self.__dict__.get("kept", ()):
            super().remove_pending_read(entry)


@fault("client-cursor-peek-next-sequentialid-of-message-before", breaks="MQQP-3.2.4.5-32", blind=True)
class ClientCursorPeekNextSequentialidOfMessageBefore(ClientReading):
    """The client sets SequentialId of a PEEK_NEXT by a cursor to the SequentialId of the message that it read last."""

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read2(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["SequentialId"] = self.__dict__.get("latest", 0)
        return described

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        second = results.get("lpRemoteReadDesc2")
        self.__dict__["latest"] = 0 if second is None else second["SequentialId"]
        return super().reconstruct_message(results, server)


@fault("client-cursor-receive-hremotequeue-of-first-open", breaks="MQQP-3.2.4.6-13", blind=True)
class ClientCursorReceiveHremotequeueOfFirstOpen(ClientReading):
    """The client sets hRemoteQueue of a receive by a cursor to the phQueue with which it first read from the queue,
    even after the queue was closed and opened again.
    """

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        known: dict[str, int] = self.__dict__.setdefault("known", {})
        first = known.setdefault(read.queue.FormatName, read.queue.QueueHandle)
        return described | {"hRemoteQueue": first} if _is_cursor_receive(read) else described


@fault("client-cursor-receive-dwqueue-is-open-context", breaks="MQQP-3.2.4.6-14", blind=True)
class ClientCursorReceiveDwqueueIsOpenContext(ClientReading):
    """The client sets dwQueue of a receive by a cursor to pdwContext instead of dwpQueue."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"dwQueue": read.queue.OpenContext} if _is_cursor_receive(read) else described


@fault("client-cursor-receive-dwrequestid-of-newest-read", breaks="MQQP-3.2.4.6-20", blind=True)
class ClientCursorReceiveDwrequestidOfNewestRead(ClientReading):
    """The client sets dwRequestID of a receive by a cursor to the RequestId of the read that was requested last."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        newest = self.qm.remote_client.last_request_id
        return described | {"dwRequestID": newest} if _is_cursor_receive(read) else described
