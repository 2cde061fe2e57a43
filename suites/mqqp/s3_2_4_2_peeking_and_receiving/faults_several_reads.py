"""Faults of MS-MQQP 3.2.4.3, 3.2.4.5 and 3.2.4.6 that concern only one of several reads or queues of a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction

ENTRY_CREATION_RULES = ("MQQP-3.2.4.3-02", "MQQP-3.2.4.5-02", "MQQP-3.2.4.6-02")
ENTRY_HANDLE_RULES = ("MQQP-3.2.4.3-03", "MQQP-3.2.4.5-03", "MQQP-3.2.4.6-03")
OLD_SERVER_METHOD_RULES = ("MQQP-3.2.4.2-13", "MQQP-3.2.4.3-13", "MQQP-3.2.4.5-13", "MQQP-3.2.4.6-12")
PENDING_READ_ENTRY_KEPT_RULE = "MQQP-3.2.4.3-06"


# -- the entry of a read


class PendingReadEntryOmitter(ClientMessageReading):
    """Keep no PendingRemoteReadEntry for some reads; a subclass selects which."""

    def is_pending_entry_omitted(self, read: RemoteRead) -> bool:
        """Return whether a read has no entry in the collection."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        omitted = self.is_pending_entry_omitted(read)
        entry = super().create_pending_read(read)
        if omitted:
            self.remove_pending_read(entry)
        return entry


@fault("client-read-beside-pending-read-has-no-pending-read-entry", breaks=ENTRY_CREATION_RULES, blind=True)
class ClientReadBesidePendingReadHasNoPendingReadEntry(PendingReadEntryOmitter):
    """The client keeps no PendingRemoteReadEntry for a read while another read is pending."""

    def is_pending_entry_omitted(self, read: RemoteRead) -> bool:
        return bool(self.qm.remote_client.PendingRemoteReadEntryCollection)


@fault("client-read-with-infinite-timeout-has-no-pending-read-entry", breaks=ENTRY_CREATION_RULES, blind=True)
class ClientReadWithInfiniteTimeoutHasNoPendingReadEntry(PendingReadEntryOmitter):
    """The client keeps no PendingRemoteReadEntry for a read without a time limit."""

    def is_pending_entry_omitted(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-read-of-second-queue-has-no-pending-read-entry", breaks=ENTRY_CREATION_RULES, blind=True)
class ClientReadOfSecondQueueHasNoPendingReadEntry(PendingReadEntryOmitter):
    """The client keeps no PendingRemoteReadEntry for a read of a queue that was not opened first."""

    def is_pending_entry_omitted(self, read: RemoteRead) -> bool:
        return read.queue is not next(iter(self.qm.remote_client.queues.values()))


class WrongHandleSetterOfPendingReadEntries(ClientMessageReading):
    """Create entries with a wrong OpenQueueDescriptorHandle."""

    def choose_wrong_handle(self, read: RemoteRead) -> int:
        """Return the wrong OpenQueueDescriptorHandle for the entry of a read."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        handle = self.choose_wrong_handle(read)
        entry = super().create_pending_read(read)
        entry.OpenQueueDescriptorHandle = handle
        return entry


@fault("client-pending-read-entry-has-handle-of-first-queue", breaks=ENTRY_HANDLE_RULES, blind=True)
class ClientPendingReadEntryHasHandleOfFirstQueue(WrongHandleSetterOfPendingReadEntries):
    """OpenQueueDescriptorHandle of each PendingRemoteReadEntry is the handle of the queue that was opened first."""

    def choose_wrong_handle(self, read: RemoteRead) -> int:
        return next(iter(self.qm.remote_client.queues.values())).QueueHandle


@fault("client-pending-read-entry-has-handle-of-newest-queue", breaks=ENTRY_HANDLE_RULES, blind=True)
class ClientPendingReadEntryHasHandleOfNewestQueue(WrongHandleSetterOfPendingReadEntries):
    """OpenQueueDescriptorHandle of each PendingRemoteReadEntry is the handle of the queue that was opened last."""

    def choose_wrong_handle(self, read: RemoteRead) -> int:
        return list(self.qm.remote_client.queues.values())[-1].QueueHandle


@fault("client-pending-read-entry-has-handle-of-oldest-pending-read", breaks=ENTRY_HANDLE_RULES, blind=True)
class ClientPendingReadEntryHasHandleOfOldestPendingRead(WrongHandleSetterOfPendingReadEntries):
    """OpenQueueDescriptorHandle of a PendingRemoteReadEntry is the handle of the read that has been pending longest."""

    def choose_wrong_handle(self, read: RemoteRead) -> int:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return pending[0].OpenQueueDescriptorHandle if pending else read.queue.QueueHandle


@fault("client-next-read-removes-entry-of-pending-receive", breaks=PENDING_READ_ENTRY_KEPT_RULE, blind=True)
class ClientNextReadRemovesEntryOfPendingReceive(ClientMessageReading):
    """The client removes the PendingRemoteReadEntry of a receive when another read of the same queue begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is read.queue:
                self.remove_pending_read(entry)
        return super().create_pending_read(read)


@fault("client-answer-removes-entries-of-all-pending-reads", breaks=PENDING_READ_ENTRY_KEPT_RULE, blind=True)
class ClientAnswerRemovesEntriesOfAllPendingReads(ClientMessageReading):
    """The client removes all PendingRemoteReadEntries when the server answers one of the reads."""

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            super().remove_pending_read(one)


@fault("client-removes-entry-of-receive-without-time-limit-when-sent", breaks=PENDING_READ_ENTRY_KEPT_RULE, blind=True)
class ClientRemovesEntryOfReceiveWithoutTimeLimitWhenSent(ClientMessageReading):
    """The client removes the PendingRemoteReadEntry of a receive without a time limit when it sends the request."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        if read.entry is not None and read.TimeOut == INFINITE_MS:
            self.remove_pending_read(read.entry)
        return super().build_start_receive_description(read)


# -- the method for an old server


class StartReceive2CallerOnOldServer(ClientMessageReading):
    """Call RemoteQMStartReceive2 of an old server for some reads; a subclass selects which."""

    read_count = 0

    def is_start_receive2_called(self, read: RemoteRead) -> bool:
        """Return whether the client calls RemoteQMStartReceive2 for a read."""
        raise NotImplementedError

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        self.read_count += 1
        if self.is_start_receive2_called(read):
            return (yield from self.start_receive2(read))
        return (yield from super().start_receive(read))


@fault("client-read-of-old-server-with-infinite-timeout-by-start-receive2", breaks=OLD_SERVER_METHOD_RULES, blind=True)
class ClientReadOfOldServerWithInfiniteTimeoutByStartReceive2(StartReceive2CallerOnOldServer):
    """The client calls RemoteQMStartReceive2 of an old server for a read without a time limit."""

    def is_start_receive2_called(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-read-of-old-server-beside-pending-read-by-start-receive2", breaks=OLD_SERVER_METHOD_RULES, blind=True)
class ClientReadOfOldServerBesidePendingReadByStartReceive2(StartReceive2CallerOnOldServer):
    """The client calls RemoteQMStartReceive2 of an old server for a read while another read is pending."""

    def is_start_receive2_called(self, read: RemoteRead) -> bool:
        return len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1


# -- the fields of a read

ReadCondition = Callable[["ReadFieldChanger", RemoteRead], bool]


class ReadFieldChanger(ClientMessageReading):
    """Change a field of some reads."""

    changes: dict[str, Any]
    condition: ReadCondition

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[tuple[ReadAction, bool], int] = {}

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        way = read.Action, bool(read.CursorHandle)
        self.counts[way] = self.counts.get(way, 0) + 1
        return given | self.changes if type(self).condition(self, read) else given


def _is_second_read(part: ReadFieldChanger, read: RemoteRead) -> bool:
    return part.counts[read.Action, bool(read.CursorHandle)] == 2


def _is_infinite_read(part: ReadFieldChanger, read: RemoteRead) -> bool:
    return read.TimeOut == INFINITE_MS


def _begins_while_other_read_is_pending(part: ReadFieldChanger, read: RemoteRead) -> bool:
    return len(part.qm.remote_client.PendingRemoteReadEntryCollection) > 1


def _make_condition_for_receives_only(condition: ReadCondition) -> ReadCondition:
    return lambda part, read: read.receives and condition(part, read)


DESCRIPTION_AND_READ_CONDITION_BY_NAME: dict[str, tuple[str, ReadCondition]] = {
    "second-read": ("its second read of a kind", _is_second_read),
    "read-with-infinite-timeout": ("a read without a time limit", _is_infinite_read),
    "read-beside-pending-read": ("a read while another read is pending", _begins_while_other_read_is_pending),
}
FIELD_CHANGE_BY_NAME: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
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

for field, (what, changed, rules) in FIELD_CHANGE_BY_NAME.items():
    for when, (words, holds_for) in DESCRIPTION_AND_READ_CONDITION_BY_NAME.items():
        chosen = _make_condition_for_receives_only(holds_for) if field.startswith("ul-action") else holds_for
        part = type("ChangedFieldOfRead", (ReadFieldChanger,), {"changes": changed, "condition": chosen})
        add(f"client-{when}-{field}", rules, f"The client sets {what} in {words}.", replace_part(part), blind=True)
