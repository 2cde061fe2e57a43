"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6 in the reads of a client, which only special cases reveal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import add
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage, Version
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS, Ack
from reference_qm.model.statuses import Status


@dataclass(frozen=True)
class _Kind:
    """A kind of read, with the rules about each field for RemoteQMStartReceive and for RemoteQMStartReceive2."""

    name: str
    receives: bool
    by_cursor: bool
    rules: dict[str, tuple[str, str]]

    def includes(self, read: RemoteRead) -> bool:
        """Return whether a read is of the kind that this object represents."""
        return read.LookupId is None and (read.receives, bool(read.CursorHandle)) == (self.receives, self.by_cursor)


KINDS = (
    _Kind(
        "peek",
        receives=False,
        by_cursor=False,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.2-14", "MQQP-3.2.4.2-24"),
            "dwQueue": ("MQQP-3.2.4.2-15", "MQQP-3.2.4.2-25"),
            "dwSize": ("MQQP-3.2.4.2-16", "MQQP-3.2.4.2-26"),
            "lpBuffer": ("MQQP-3.2.4.2-17", "MQQP-3.2.4.2-27"),
            "hCursor": ("MQQP-3.2.4.2-18", "MQQP-3.2.4.2-28"),
            "ulTimeout": ("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30"),
            "dwRequestID": ("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"),
        },
    ),
    _Kind(
        "receive",
        receives=True,
        by_cursor=False,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.3-14", "MQQP-3.2.4.3-24"),
            "dwQueue": ("MQQP-3.2.4.3-15", "MQQP-3.2.4.3-25"),
            "hCursor": ("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"),
            "dwSize": ("MQQP-3.2.4.3-17", "MQQP-3.2.4.3-27"),
            "lpBuffer": ("MQQP-3.2.4.3-18", "MQQP-3.2.4.3-28"),
            "ulTimeout": ("MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
            "dwRequestID": ("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
        },
    ),
    _Kind(
        "peek-by-cursor",
        receives=False,
        by_cursor=True,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.5-14", "MQQP-3.2.4.5-24"),
            "dwQueue": ("MQQP-3.2.4.5-15", "MQQP-3.2.4.5-25"),
            "hCursor": ("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26"),
            "dwSize": ("MQQP-3.2.4.5-17", "MQQP-3.2.4.5-27"),
            "lpBuffer": ("MQQP-3.2.4.5-18", "MQQP-3.2.4.5-28"),
            "ulTimeout": ("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30"),
            "dwRequestID": ("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
        },
    ),
    _Kind(
        "receive-by-cursor",
        receives=True,
        by_cursor=True,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.6-13", "MQQP-3.2.4.6-23"),
            "dwQueue": ("MQQP-3.2.4.6-14", "MQQP-3.2.4.6-24"),
            "hCursor": ("MQQP-3.2.4.6-15", "MQQP-3.2.4.6-25"),
            "dwSize": ("MQQP-3.2.4.6-16", "MQQP-3.2.4.6-26"),
            "lpBuffer": ("MQQP-3.2.4.6-17", "MQQP-3.2.4.6-27"),
            "ulTimeout": ("MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
            "dwRequestID": ("MQQP-3.2.4.6-20", "MQQP-3.2.4.6-30"),
        },
    ),
)
Change = Callable[[Any, RemoteRead], Any]


def _add_field_fault(kind: _Kind, field: str, wrong: str, says: str, change: Change) -> None:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def describe(qm: Any, read: RemoteRead) -> Any:
            given = original(qm, read)
            return {**given, field: change(qm, read)} if kind.includes(read) else given

        return describe

    add(
        f"client-{kind.name}-{field.lower()}-{wrong}",
        kind.rules[field],
        f"The client sets {field} of a {kind.name.replace('-', ' ')} to {says}.",
        replace_part(override_method(ClientReading.describe_read, make)),
    )


def _handle_in_16_bits(qm: Any, read: RemoteRead) -> int:
    return read.queue.QueueHandle & 0xFFFF


def _descriptor_in_31_bits(qm: Any, read: RemoteRead) -> int:
    return read.queue.QueueDescriptor & 0x7FFFFFFF


for _kind in KINDS:
    _add_field_fault(
        _kind,
        "hRemoteQueue",
        "of-last-opened-queue",
        "the handle of the queue that was opened last",
        lambda qm, read: list(qm.remote_client.queues.values())[-1].QueueHandle,
    )
    _add_field_fault(
        _kind,
        "hRemoteQueue",
        "in-16-bits",
        "the low 16 bits of the handle",
        _handle_in_16_bits,
    )
    _add_field_fault(
        _kind,
        "dwQueue",
        "of-first-opened-queue",
        "the value of the queue that was opened first",
        lambda qm, read: next(iter(qm.remote_client.queues.values())).QueueDescriptor,
    )
    _add_field_fault(
        _kind,
        "dwQueue",
        "in-31-bits",
        "the low 31 bits of dwpQueue",
        _descriptor_in_31_bits,
    )
    _add_field_fault(
        _kind,
        "ulTimeout",
        "rounded-to-seconds",
        "the timeout rounded up to seconds",
        lambda qm, read: read.TimeOut if read.TimeOut == INFINITE_MS else -(-read.TimeOut // 1000) * 1000,
    )
    _add_field_fault(_kind, "ulTimeout", "in-16-bits", "at most 0xFFFF", lambda qm, read: min(read.TimeOut, 0xFFFF))
    _add_field_fault(
        _kind,
        "ulTimeout",
        "of-endless-read-in-31-bits",
        "0x7FFFFFFF when the application sets no time limit",
        lambda qm, read: min(read.TimeOut, 0x7FFFFFFF),
    )
    _add_field_fault(_kind, "ulTimeout", "0-as-1", "1 when the timeout is 0", lambda qm, read: max(read.TimeOut, 1))
    _add_field_fault(
        _kind,
        "dwRequestID",
        "of-first-pending-read",
        "the RequestId of the first pending read of the same queue",
        lambda qm, read: next(
            one.RequestId for one in qm.remote_client.PendingRemoteReadEntryCollection if one.queue is read.queue
        ),
    )
    if _kind.by_cursor:
        _add_field_fault(
            _kind,
            "hCursor",
            "of-last-opened-cursor",
            "the cursor that was opened last",
            lambda qm, read: list(qm.remote_client.cursors.values())[-1][1],
        )
        _add_field_fault(
            _kind, "hCursor", "in-16-bits", "the low 16 bits of the cursor", lambda qm, read: read.CursorHandle & 0xFFFF
        )
    else:
        _add_field_fault(
            _kind,
            "hCursor",
            "of-open-cursor",
            "a cursor that is open on the same queue",
            lambda qm, read: next(
                (handle for queue, handle in qm.remote_client.cursors.values() if queue is read.queue), 0
            ),
        )


class _PreviousAnswerRemembered(ClientReading):
    """Remember the answer to the last read."""

    last_size = 0
    last_sequential_id = 0
    last_handle: UUID | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        second = results.get("lpRemoteReadDesc2")
        if second is None:
            self.last_size = results["lpRemoteReadDesc"]["dwSize"]
        else:
            self.last_size = second["pRemoteReadDesc"]["dwSize"]
            self.last_sequential_id = second["SequentialId"]
        return super().reconstruct_message(results, server)


def _list_rules_of_field(field: str) -> tuple[str, ...]:
    return tuple(rule for kind in KINDS for rule in kind.rules[field])


@fault("client-read-lpbuffer-not-null-in-second-read", breaks=_list_rules_of_field("lpBuffer"))
class ClientReadLpbufferNotNullInSecondRead(_PreviousAnswerRemembered):
    """When the client has read a message, it sets lpBuffer of later reads to an empty buffer instead of NULL."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().describe_read(read), **({"lpBuffer": b""} if self.last_size else {})}


@fault(
    "client-read-sequentialid-of-previous-message",
    breaks=("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31"),
)
class ClientReadSequentialidOfPreviousMessage(_PreviousAnswerRemembered):
    """The client sets SequentialId of a read to the SequentialId of the message that it read previously."""

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().describe_read2(read), "SequentialId": self.last_sequential_id}


NEW_SERVER_RULES = ("MQQP-3.2.4.2-23", "MQQP-3.2.4.3-23", "MQQP-3.2.4.5-23", "MQQP-3.2.4.6-22")
VERSION_BELOW_5_1_RULES = ("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10", "MQQP-3.2.4.5-10", "MQQP-3.2.4.6-09")


@fault("client-server-of-version-6-0-taken-as-old", breaks=NEW_SERVER_RULES)
class ClientServerOfVersion60TakenAsOld(ClientReading):
    """The client treats a server of version 6.0 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: Version | None) -> bool:
        return super().is_old_version(version) or (version is not None and version.Minor < 1)


@fault("client-server-with-build-below-951-taken-as-old", breaks=NEW_SERVER_RULES)
class ClientServerWithBuildBelow951TakenAsOld(ClientReading):
    """The client treats a server of version 6.1 with a build below 951 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: Version | None) -> bool:
        small = version is not None and version.Major == 6 and version.BuildNumber < 951
        return small or super().is_old_version(version)


@fault("client-server-of-version-10-taken-as-old", breaks=NEW_SERVER_RULES)
class ClientServerOfVersion10TakenAsOld(ClientReading):
    """The client compares version numbers as text, so it treats a server of version 10.0 as too old for
    RemoteQMStartReceive2.
    """

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or (str(version.Major), str(version.Minor)) < ("5", "1")


@fault("client-server-of-version-5-0-with-high-build-taken-as-new", breaks=VERSION_BELOW_5_1_RULES)
class ClientServerOfVersion50WithHighBuildTakenAsNew(ClientReading):
    """The client calls RemoteQMStartReceive2 of a server of version 5.0 with a build number of 951 or above."""

    def is_old_version(self, version: Version | None) -> bool:
        high = version is not None and version.Major == 5 and version.BuildNumber >= 951
        return not high and super().is_old_version(version)


@fault(
    "client-server-of-version-4-with-high-minor-taken-as-new",
    breaks=("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08"),
)
class ClientServerOfVersion4WithHighMinorTakenAsNew(ClientReading):
    """The client calls RemoteQMStartReceive2 of a server of version 4 with a minor version above 0."""

    def is_old_version(self, version: Version | None) -> bool:
        return super().is_old_version(version) and not (version is not None and version.Minor >= 1)


@fault("client-version-of-first-server-used-for-later-queue", breaks=VERSION_BELOW_5_1_RULES)
class ClientVersionOfFirstServerUsedForLaterQueue(ClientReading):
    """The client uses the version that it found before the first read for all later reads, even if the server now
    returns a different version.
    """

    known: Version | None = None

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        version = yield from super().ask_server_version(read)
        self.known = self.known or version
        return self.known


END_RECEIVE_RULES = ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35")
END_HANDLE_RULES = ("MQQP-3.2.4.3-37", "MQQP-3.2.4.6-36")
END_ACK_RULES = ("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37")
READ_HANDLE_RULES = ("MQQP-3.2.4.3-34", "MQQP-3.2.4.6-33")


@fault("client-end-receive-called-twice-while-other-read-is-pending", breaks=END_RECEIVE_RULES)
class ClientEndReceiveCalledTwiceWhileOtherReadIsPending(ClientReading):
    """While another read is pending, the client calls RemoteQMEndReceive twice for one receive."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        yield from super().end_receive(entry, ack)
        if len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1:
            yield from super().end_receive(entry, ack)


@fault("client-receive-of-empty-message-not-ended", breaks=END_RECEIVE_RULES)
class ClientReceiveOfEmptyMessageNotEnded(_PreviousAnswerRemembered):
    """The client does not call RemoteQMEndReceive for a message without a body."""

    empty = False

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.empty = not found.message.Body
        return found

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        if not self.empty:
            yield from super().end_receive(entry, ack)


@fault("client-second-receive-of-queue-not-ended", breaks=END_RECEIVE_RULES)
class ClientSecondReceiveOfQueueNotEnded(ClientReading):
    """The client calls RemoteQMEndReceive only for the first receive of a queue."""

    ended: set[int]

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        known = self.__dict__.setdefault("ended", set())
        if entry.queue.number not in known:
            known.add(entry.queue.number)
            yield from super().end_receive(entry, ack)


@fault("client-end-receive-handle-of-first-answer", breaks=END_HANDLE_RULES + READ_HANDLE_RULES)
class ClientEndReceiveHandleOfFirstAnswer(ClientReading):
    """The client calls RemoteQMEndReceive for every receive with the first context handle that the server returned."""

    first: UUID | None = None

    def note_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        self.first = self.first or handle
        super().note_remote_read_handle(entry, self.first)


@fault("client-end-receive-dwack-nack-for-second-receive", breaks=END_ACK_RULES)
class ClientEndReceiveDwackNackForSecondReceive(ClientReading):
    """The client ends only its first receive with RR_ACK, and later receives with RR_NACK."""

    used = False

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        wanted, self.used = (Ack.RR_NACK if self.used else ack), True
        yield from super().end_receive(entry, wanted)


DELIVERY_RULES = ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34")


@fault("client-read-message-body-limited-to-64-kb", breaks=DELIVERY_RULES)
class ClientReadMessageBodyLimitedTo64Kb(ClientReading):
    """The client delivers only the first 65,535 bytes of the body of a message to its application."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:0xFFFF]))


@fault("client-read-message-label-missing", breaks=DELIVERY_RULES)
class ClientReadMessageLabelMissing(ClientReading):
    """The client delivers a message without its label to its application."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Label=""))


@fault("client-read-first-message-delivered-again", breaks=DELIVERY_RULES)
class ClientReadFirstMessageDeliveredAgain(ClientReading):
    """When the client reads a queue again, it delivers the message of its first read of this queue."""

    first: RemoteMessage | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.first = self.first or found
        return self.first


@fault("client-read-message-application-tag-missing", breaks=DELIVERY_RULES)
class ClientReadMessageApplicationTagMissing(ClientReading):
    """The client delivers a message without its application tag."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, AppSpecific=0))


ENTRY_REMOVAL_RULES = ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38")
ENTRY_KEPT_RULES = ("MQQP-3.2.4.2-06", "MQQP-3.2.4.3-06", "MQQP-3.2.4.5-06", "MQQP-3.2.4.6-06")


@fault("client-pending-read-entry-of-failed-read-kept", breaks=ENTRY_REMOVAL_RULES)
class ClientPendingReadEntryOfFailedReadKept(ClientReading):
    """The client keeps the PendingRemoteReadEntry of a read that failed."""

    def read_remote_message(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            if read.entry is not None and error.status != Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT:
                self.qm.remote_client.PendingRemoteReadEntryCollection.append(read.entry)
            raise


@fault("client-pending-read-entries-of-queue-removed-by-first-answer", breaks=ENTRY_KEPT_RULES)
class ClientPendingReadEntriesOfQueueRemovedByFirstAnswer(ClientReading):
    """When the server answers one of several pending reads of a queue, the client removes the entries of
    all of them.
    """

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        super().remove_pending_read(entry)
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                super().remove_pending_read(one)


@fault(
    "client-request-id-of-finished-read-while-others-wait",
    breaks=("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-05", "MQQP-3.2.4.5-05", "MQQP-3.2.4.6-05"),
)
class ClientRequestIdOfFinishedReadWhileOthersWait(ClientReading):
    """The client assigns the number of its pending reads plus one as the RequestId of a new read."""

    def new_request_id(self) -> int:
        return len(self.qm.remote_client.PendingRemoteReadEntryCollection) + 1
