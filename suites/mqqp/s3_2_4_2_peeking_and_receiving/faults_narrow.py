"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6 that affect only one kind of read, one value or one state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage, Version
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS, Ack
from reference_qm.model.adm import Message

REQUEST_ID_RULES = (
    "MQQP-3.2.4.2-04",
    "MQQP-3.2.4.2-05",
    "MQQP-3.2.4.3-04",
    "MQQP-3.2.4.3-05",
    "MQQP-3.2.4.5-04",
    "MQQP-3.2.4.5-05",
    "MQQP-3.2.4.6-04",
    "MQQP-3.2.4.6-05",
)
ENTRY_KEPT_RULES = ("MQQP-3.2.4.2-06", "MQQP-3.2.4.3-06", "MQQP-3.2.4.5-06", "MQQP-3.2.4.6-06")
ENTRY_REMOVAL_RULES = ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38")
DELIVERY_RULES = ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34")
END_RECEIVE_RULES = ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35")
VERSION_CALL_RULES = ("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01")
TIMEOUT_RULES = (
    *("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30", "MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
    *("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30", "MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
)


class _CountedInGroups(ClientReading):
    """The client divides its reads into groups and numbers the RequestIds of each group separately."""

    def get_group(self, read: RemoteRead) -> bool:
        """Return the group of a read."""
        return read.receives

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        counts: dict[bool, int] = self.__dict__.setdefault("counts", {})
        group = self.get_group(read)
        counts[group] = counts.get(group, 0) + 1
        entry.RequestId = counts[group]
        return entry


@fault("client-request-ids-of-peeks-and-receives-counted-apart", breaks=REQUEST_ID_RULES, blind=True)
class ClientRequestIdsOfPeeksAndReceivesCountedApart(_CountedInGroups):
    """The client assigns the RequestId of a pending peek also to a receive."""


@fault("client-request-ids-of-reads-by-cursor-counted-apart", breaks=REQUEST_ID_RULES, blind=True)
class ClientRequestIdsOfReadsByCursorCountedApart(_CountedInGroups):
    """The client assigns the RequestId of a pending read without a cursor also to a read by a cursor."""

    def get_group(self, read: RemoteRead) -> bool:
        return bool(read.CursorHandle)


@fault("client-pending-peek-entry-removed-by-receive", breaks=("MQQP-3.2.4.2-06", "MQQP-3.2.4.5-06"), blind=True)
class ClientPendingPeekEntryRemovedByReceive(ClientReading):
    """The client removes the entry of a pending peek when a receive of the same queue begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        peeks: list[PendingRemoteReadEntry] = self.__dict__.setdefault("peeks", [])
        if not read.receives:
            peeks.append(entry)
        else:
            for one in peeks:
                if one.queue is read.queue:
                    self.remove_pending_read(one)
        return entry


@fault(
    "client-pending-read-entry-of-read-by-cursor-removed-by-other-cursor",
    breaks=("MQQP-3.2.4.5-06", "MQQP-3.2.4.6-06"),
    blind=True,
)
class ClientPendingReadEntryOfReadByCursorRemovedByOtherCursor(ClientReading):
    """The client removes the entry of a pending read by a cursor when a read by another cursor of the queue begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        known: dict[int, PendingRemoteReadEntry] = self.__dict__.setdefault("known", {})
        if read.CursorHandle:
            for cursor, one in known.items():
                if cursor != read.CursorHandle:
                    self.remove_pending_read(one)
            known[read.CursorHandle] = entry
        return entry


@fault("client-pending-read-entry-of-lost-connection-kept", breaks=ENTRY_REMOVAL_RULES, blind=True)
class ClientPendingReadEntryOfLostConnectionKept(ClientReading):
    """When the connection of a read is lost, the client keeps the PendingRemoteReadEntry of the read."""

    def read_remote_message(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            if read.entry is not None and error.status is None:
                self.qm.remote_client.PendingRemoteReadEntryCollection.append(read.entry)
            raise


@fault("client-version-asked-once-while-reads-wait", breaks=VERSION_CALL_RULES, blind=True)
class ClientVersionAskedOnceWhileReadsWait(ClientReading):
    """While a read of the queue waits, the client does not call RemoteQmGetVersion for another read."""

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        known: dict[Any, Version | None] = self.__dict__.setdefault("versions", {})
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if read.queue in known and any(one.queue is read.queue and one is not read.entry for one in pending):
            return known[read.queue]
        known[read.queue] = yield from super().ask_server_version(read)
        return known[read.queue]


@fault("client-ultimeout-of-31-bits-exceeded-sent-as-infinite", breaks=TIMEOUT_RULES, blind=True)
class ClientUltimeoutOf31BitsExceededSentAsInfinite(ClientReading):
    """The client sends ulTimeout 0xFFFFFFFF for a timeout above 0x7FFFFFFF."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        return {**given, "ulTimeout": INFINITE_MS} if read.TimeOut > 0x7FFFFFFF else given


@fault("client-ultimeout-limited-to-one-day", breaks=TIMEOUT_RULES, blind=True)
class ClientUltimeoutLimitedToOneDay(ClientReading):
    """The client sends ulTimeout 86400000 for a longer timeout that is not 0xFFFFFFFF."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        wrong = 86_400_000 < read.TimeOut < INFINITE_MS
        return {**given, "ulTimeout": 86_400_000} if wrong else given


class _Delivered(ClientReading):
    def change(self, message: Message) -> Mapping[str, Any]:
        """Return the changed properties of a message."""
        return {}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, **self.change(found.message)))


@fault("client-read-label-of-more-than-64-characters-cut-off", breaks=DELIVERY_RULES, blind=True)
class ClientReadLabelOfMoreThan64CharactersCutOff(_Delivered):
    """The client delivers only the first 64 characters of a label."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Label": message.Label[:64]}


@fault("client-read-label-limited-to-248-characters", breaks=DELIVERY_RULES, blind=True)
class ClientReadLabelLimitedTo248Characters(_Delivered):
    """The client delivers only the first 248 characters of a label of 249 characters."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Label": message.Label[:248]}


@fault("client-read-body-of-zeros-without-last-byte", breaks=DELIVERY_RULES, blind=True)
class ClientReadBodyOfZerosWithoutLastByte(_Delivered):
    """The client delivers a body without the zero bytes at its end."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Body": message.Body.rstrip(b"\0")}


@fault("client-read-priority-3", breaks=DELIVERY_RULES, blind=True)
class ClientReadPriority3(_Delivered):
    """The client delivers a message of priority 7 with priority 3."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Priority": 3 if message.Priority == 7 else message.Priority}


@fault("client-end-receive-repeated-after-failure", breaks=END_RECEIVE_RULES, blind=True)
class ClientEndReceiveRepeatedAfterFailure(ClientReading):
    """When RemoteQMEndReceive fails, the client calls the method again."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        try:
            yield from super().end_receive(entry, ack)
        except RemoteError:
            yield from super().end_receive(entry, ack)


@fault("client-receive-not-ended-while-peek-is-pending", breaks=END_RECEIVE_RULES, blind=True)
class ClientReceiveNotEndedWhilePeekIsPending(ClientReading):
    """The client does not call RemoteQMEndReceive while a peek of the queue waits."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        peeks: set[PendingRemoteReadEntry] = self.__dict__.setdefault("peeks", set())
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if not any(one in peeks and one.queue is entry.queue for one in pending):
            yield from super().end_receive(entry, ack)

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if not read.receives:
            self.__dict__.setdefault("peeks", set()).add(entry)
        return entry


@fault("client-endless-receive-not-ended", breaks=END_RECEIVE_RULES, blind=True)
class ClientEndlessReceiveNotEnded(ClientReading):
    """The client does not call RemoteQMEndReceive for a receive without a time limit."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if read.TimeOut == INFINITE_MS:
            self.__dict__.setdefault("endless", set()).add(entry)
        return entry

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        if entry not in self.__dict__.get("endless", ()):
            yield from super().end_receive(entry, ack)


@fault("client-receive-of-second-queue-not-ended", breaks=END_RECEIVE_RULES, blind=True)
class ClientReceiveOfSecondQueueNotEnded(ClientReading):
    """The client calls RemoteQMEndReceive only for receives from the queue that it opened first."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        if entry.queue is next(iter(self.qm.remote_client.queues.values())):
            yield from super().end_receive(entry, ack)


@fault(
    "client-end-receive-dwack-nack-after-refused-receive",
    breaks=("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37"),
    blind=True,
)
class ClientEndReceiveDwackNackAfterRefusedReceive(ClientReading):
    """The client ends a receive with RR_NACK if the previous receive of the queue failed."""

    def read_remote_message(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError:
            self.__dict__.setdefault("failed", set()).add(read.queue)
            raise

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        failed = self.__dict__.get("failed", set())
        wrong = entry.queue in failed
        failed.discard(entry.queue)
        yield from super().end_receive(entry, Ack.RR_NACK if wrong else ack)


@fault(
    "client-read-handle-of-receive-of-other-queue",
    breaks=("MQQP-3.2.4.3-34", "MQQP-3.2.4.3-37", "MQQP-3.2.4.6-33", "MQQP-3.2.4.6-36"),
    blind=True,
)
class ClientReadHandleOfReceiveOfOtherQueue(ClientReading):
    """When the client has received from another queue, it ends a receive with the handle of the last receive from that
    queue.
    """

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        handles: dict[RemoteQueue, UUID | None] = self.__dict__.setdefault("handles", {})
        handles[entry.queue] = entry.RemoteReadHandle
        others = [handle for queue, handle in handles.items() if queue is not entry.queue]
        entry.RemoteReadHandle = others[-1] if others else entry.RemoteReadHandle
        yield from super().end_receive(entry, ack)
