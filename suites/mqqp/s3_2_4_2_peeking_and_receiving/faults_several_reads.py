"""Faults of MS-MQQP 3.2.4.3, 3.2.4.5 and 3.2.4.6: one of several reads or queues of a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction

CREATED = ("MQQP-3.2.4.3-02", "MQQP-3.2.4.5-02", "MQQP-3.2.4.6-02")
HANDLE = ("MQQP-3.2.4.3-03", "MQQP-3.2.4.5-03", "MQQP-3.2.4.6-03")
OLD = ("MQQP-3.2.4.2-13", "MQQP-3.2.4.3-13", "MQQP-3.2.4.5-13", "MQQP-3.2.4.6-12")
KEPT = "MQQP-3.2.4.3-06"


# -- the entry of a read


class OmittedEntry(ClientReading):
    """Keep no PendingRemoteReadEntry for some reads."""

    def is_omitted(self, read: RemoteRead) -> bool:
        """Return whether a read has no entry in the collection."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        omitted = self.is_omitted(read)
        entry = super().create_pending_read(read)
        if omitted:
            self.remove_pending_read(entry)
        return entry


@fault("client-read-beside-pending-read-has-no-entry", breaks=CREATED, blind=True)
class ClientReadBesidePendingReadHasNoEntry(OmittedEntry):
    """The client keeps no PendingRemoteReadEntry for a read while another read is pending."""

    def is_omitted(self, read: RemoteRead) -> bool:
        return bool(self.qm.remote_client.PendingRemoteReadEntryCollection)


@fault("client-read-with-infinite-timeout-has-no-entry", breaks=CREATED, blind=True)
class ClientReadWithInfiniteTimeoutHasNoEntry(OmittedEntry):
    """The client keeps no PendingRemoteReadEntry for a read without a time limit."""

    def is_omitted(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-read-of-second-queue-has-no-entry", breaks=CREATED, blind=True)
class ClientReadOfSecondQueueHasNoEntry(OmittedEntry):
    """The client keeps no PendingRemoteReadEntry for a read of a queue that was not opened first."""

    def is_omitted(self, read: RemoteRead) -> bool:
        return read.queue is not next(iter(self.qm.remote_client.queues.values()))


class WrongHandle(ClientReading):
    """Create entries with another OpenQueueDescriptorHandle."""

    def choose_handle(self, read: RemoteRead) -> int:
        """Return the wrong handle."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        handle = self.choose_handle(read)
        entry = super().create_pending_read(read)
        entry.OpenQueueDescriptorHandle = handle
        return entry


@fault("client-entry-handle-of-first-queue", breaks=HANDLE, blind=True)
class ClientEntryHandleOfFirstQueue(WrongHandle):
    """OpenQueueDescriptorHandle of each PendingRemoteReadEntry is the handle of the queue that was opened first."""

    def choose_handle(self, read: RemoteRead) -> int:
        return next(iter(self.qm.remote_client.queues.values())).QueueHandle


@fault("client-entry-handle-of-newest-queue", breaks=HANDLE, blind=True)
class ClientEntryHandleOfNewestQueue(WrongHandle):
    """OpenQueueDescriptorHandle of each PendingRemoteReadEntry is the handle of the queue that was opened last."""

    def choose_handle(self, read: RemoteRead) -> int:
        return list(self.qm.remote_client.queues.values())[-1].QueueHandle


@fault("client-entry-handle-of-earlier-pending-read", breaks=HANDLE, blind=True)
class ClientEntryHandleOfEarlierPendingRead(WrongHandle):
    """OpenQueueDescriptorHandle of a PendingRemoteReadEntry is the handle of the read that is pending longest."""

    def choose_handle(self, read: RemoteRead) -> int:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return pending[0].OpenQueueDescriptorHandle if pending else read.queue.QueueHandle


@fault("client-next-read-removes-entry-of-pending-receive", breaks=KEPT, blind=True)
class ClientNextReadRemovesEntryOfPendingReceive(ClientReading):
    """The client removes the PendingRemoteReadEntry of a receive when another read of the same queue begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is read.queue:
                self.remove_pending_read(entry)
        return super().create_pending_read(read)


@fault("client-answer-removes-entries-of-all-pending-reads", breaks=KEPT, blind=True)
class ClientAnswerRemovesEntriesOfAllPendingReads(ClientReading):
    """The client removes all PendingRemoteReadEntries when the server answers one of the reads."""

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            super().remove_pending_read(one)


@fault("client-sent-receive-has-no-entry", breaks=KEPT, blind=True)
class ClientSentReceiveHasNoEntry(ClientReading):
    """The client removes the PendingRemoteReadEntry of a receive without a time limit when it sends the request."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        if read.entry is not None and read.TimeOut == INFINITE_MS:
            self.remove_pending_read(read.entry)
        return super().describe_read(read)


# -- the method for an old server


class WrongMethod(ClientReading):
    """Call RemoteQMStartReceive2 of an old server for some reads."""

    reads = 0

    def is_wrong(self, read: RemoteRead) -> bool:
        """Return whether RemoteQMStartReceive2 is called."""
        raise NotImplementedError

    def start_receive(self, read: RemoteRead) -> Sequence:
        self.reads += 1
        if self.is_wrong(read):
            return (yield from self.start_receive2(read))
        return (yield from super().start_receive(read))


@fault("client-read-of-old-server-with-infinite-timeout-by-start-receive2", breaks=OLD, blind=True)
class ClientReadOfOldServerWithInfiniteTimeoutByStartReceive2(WrongMethod):
    """The client calls RemoteQMStartReceive2 of an old server for a read without a time limit."""

    def is_wrong(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-read-of-old-server-beside-pending-read-by-start-receive2", breaks=OLD, blind=True)
class ClientReadOfOldServerBesidePendingReadByStartReceive2(WrongMethod):
    """The client calls RemoteQMStartReceive2 of an old server for a read while another read is pending."""

    def is_wrong(self, read: RemoteRead) -> bool:
        return len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1


# -- the fields of a read

Condition = Callable[["ChangedField", RemoteRead], bool]


class ChangedField(ClientReading):
    """Change a field of some reads."""

    changes: dict[str, Any]
    condition: Condition

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[tuple[ReadAction, bool], int] = {}

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        way = read.Action, bool(read.CursorHandle)
        self.counts[way] = self.counts.get(way, 0) + 1
        return given | self.changes if type(self).condition(self, read) else given


def _is_second(part: ChangedField, read: RemoteRead) -> bool:
    return part.counts[read.Action, bool(read.CursorHandle)] == 2


def _is_infinite(part: ChangedField, read: RemoteRead) -> bool:
    return read.TimeOut == INFINITE_MS


def _is_beside_other(part: ChangedField, read: RemoteRead) -> bool:
    return len(part.qm.remote_client.PendingRemoteReadEntryCollection) > 1


def _receives(condition: Condition) -> Condition:
    return lambda part, read: read.receives and condition(part, read)


CONDITIONS: dict[str, tuple[str, Condition]] = {
    "second-read": ("its second read of a kind", _is_second),
    "read-with-infinite-timeout": ("a read without a time limit", _is_infinite),
    "read-beside-pending-read": ("a read while another read is pending", _is_beside_other),
}
FIELDS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "dwsize-4096": (
        "dwSize to 4,096, with a buffer of this size,",
        {"dwSize": 4_096, "lpBuffer": bytes(4_096)},
        (
            *("MQQP-3.2.4.3-17", "MQQP-3.2.4.3-27", "MQQP-3.2.4.5-17", "MQQP-3.2.4.5-27"),
            *("MQQP-3.2.4.6-16", "MQQP-3.2.4.6-26"),
        ),
    ),
    "lpbuffer-not-null": (
        "lpBuffer to a pointer to an empty buffer",
        {"lpBuffer": b""},
        (
            *("MQQP-3.2.4.3-18", "MQQP-3.2.4.3-28", "MQQP-3.2.4.5-18", "MQQP-3.2.4.5-28"),
            *("MQQP-3.2.4.6-17", "MQQP-3.2.4.6-27"),
        ),
    ),
    "ul-action-peek-current": (
        "ulAction of a receive to PEEK_CURRENT",
        {"ulAction": int(ReadAction.MQ_ACTION_PEEK_CURRENT)},
        ("MQQP-3.2.4.3-19", "MQQP-3.2.4.3-29", "MQQP-3.2.4.6-18", "MQQP-3.2.4.6-28"),
    ),
}

for field, (what, changed, rules) in FIELDS.items():
    for when, (words, holds_for) in CONDITIONS.items():
        chosen = _receives(holds_for) if field.startswith("ul-action") else holds_for
        part = type("ChangedFieldOfRead", (ChangedField,), {"changes": changed, "condition": chosen})
        add(f"client-{when}-{field}", rules, f"The client sets {what} in {words}.", replace_part(part), blind=True)
