"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6 in entries, versions, messages and ends of reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage, Version
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS, Ack

SECTIONS = ("MQQP-3.2.4.2", "MQQP-3.2.4.3", "MQQP-3.2.4.5", "MQQP-3.2.4.6")
UNIQUE = tuple(f"{one}-{number}" for one in SECTIONS for number in ("04", "05"))
BELOW_5 = ("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08")
NEW_METHOD = ("MQQP-3.2.4.2-23", "MQQP-3.2.4.3-23", "MQQP-3.2.4.5-23", "MQQP-3.2.4.6-22")
VERSION_ASKED = ("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01")
DELIVERED = ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34")
REMOVED = ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38")
ENDED = ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35")
HANDLE = ("MQQP-3.2.4.3-34", "MQQP-3.2.4.3-37", "MQQP-3.2.4.6-33", "MQQP-3.2.4.6-36")
ACKNOWLEDGED = ("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37")


@fault("client-request-id-of-5-values", breaks=UNIQUE)
class ClientRequestIdOf5Values(ClientReading):
    """The client has five RequestIds, which it uses in turn, also while a read with the RequestId is pending."""

    def new_request_id(self) -> int:
        self.qm.remote_client.last_request_id = self.qm.remote_client.last_request_id % 5 + 1
        return self.qm.remote_client.last_request_id


@fault("client-request-ids-of-cursor-reads-counted-apart", breaks=UNIQUE)
class ClientRequestIdsOfCursorReadsCountedApart(ClientReading):
    """The client counts the RequestIds of reads with and without a cursor separately."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts = {False: 0, True: 0}

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        by_cursor = bool(read.CursorHandle)
        self.counts[by_cursor] += 1
        entry.RequestId = self.counts[by_cursor]
        return entry


@fault("client-version-asked-once-per-queue", breaks=VERSION_ASKED)
class ClientVersionAskedOncePerQueue(ClientReading):
    """The client calls RemoteQmGetVersion only before the first read of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.versions: dict[int, Any] = {}

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        if read.queue.number not in self.versions:
            self.versions[read.queue.number] = yield from super().ask_server_version(read)
        return self.versions[read.queue.number]


@fault("client-version-10-compared-as-text", breaks=NEW_METHOD)
class ClientVersion10ComparedAsText(ClientReading):
    """The client compares pMajor as text, so that version 10 counts as older than 5."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or str(version.Major) < "5" or super().is_old_version(version)


@fault("client-version-5.1-too-old", breaks=NEW_METHOD)
class Version51Old(ClientReading):
    """The client treats a server of version 5.1 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or (version.Major, version.Minor) <= (5, 1)


@fault("client-version-minor-0-too-old", breaks=NEW_METHOD)
class ClientVersionMinor0TooOld(ClientReading):
    """The client treats a server of version 6.0 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or version.Minor < 1 or super().is_old_version(version)


@fault("client-version-small-build-too-old", breaks=NEW_METHOD)
class ClientVersionSmallBuildTooOld(ClientReading):
    """The client treats a server with a build number below 951 as too old, also with a new version."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or version.BuildNumber < 951 or super().is_old_version(version)


@fault("client-version-4.9-new-enough", breaks=BELOW_5)
class Version49New(ClientReading):
    """The client calls RemoteQMStartReceive2 on a server of version 4 with a minor version of 1 or more."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or (version.Minor < 1 and super().is_old_version(version))


@fault("client-version-4-with-high-build-new-enough", breaks=BELOW_5)
class ClientVersion4WithHighBuildNewEnough(ClientReading):
    """The client calls RemoteQMStartReceive2 on a server of version 4 or 5.0 with a build number above 3000."""

    def is_old_version(self, version: Version | None) -> bool:
        return version is None or (version.BuildNumber <= 3000 and super().is_old_version(version))


@fault("client-second-message-same-as-first", breaks=DELIVERED)
class ClientSecondMessageSameAsFirst(ClientReading):
    """The client delivers the message of the first read again after later reads."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: RemoteMessage | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.first = self.first or found
        return self.first


@fault("client-message-body-cut-at-4096-bytes", breaks=DELIVERED)
class ClientMessageBodyCutAt4096Bytes(ClientReading):
    """The client delivers only the first 4,096 bytes of a message body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:4096]))


@fault("client-message-with-empty-body-refused", breaks=DELIVERED)
class ClientMessageWithEmptyBodyRefused(ClientReading):
    """The client delivers no message whose body is empty."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        if not found.message.Body:
            raise RemoteError("the message has no body")
        return found


@fault("client-transactional-message-refused", breaks=DELIVERED)
class ClientTransactionalMessageRefused(ClientReading):
    """The client delivers no message with a TransactionHeader."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        packet = None if desc is None or desc["lpBuffer"] is None else parse_packet(bytes(desc["lpBuffer"]))
        if isinstance(packet, UserMessagePacket) and packet.TransactionHeader is not None:
            raise RemoteError("the message is transactional")
        return super().reconstruct_message(results, server)


@fault("client-entry-of-read-without-message-kept", breaks=REMOVED)
class ClientEntryOfReadWithoutMessageKept(ClientReading):
    """The client keeps the PendingRemoteReadEntry of a read that returned no message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.ended: set[int] = set()

    def note_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        super().note_remote_read_handle(entry, handle)
        self.ended.add(entry.RequestId)

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        if entry.RequestId in self.ended:
            super().remove_pending_read(entry)


@fault("client-entry-of-second-read-kept", breaks=REMOVED)
class ClientEntryOfSecondReadKept(ClientReading):
    """The client keeps the PendingRemoteReadEntry of every second read."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        self.count += 1
        if self.count % 2:
            super().remove_pending_read(entry)


@fault("client-end-of-read-removes-oldest-entry", breaks=REMOVED)
class ClientEndOfReadRemovesOldestEntry(ClientReading):
    """The client removes the oldest PendingRemoteReadEntry when a read ends."""

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if entry in pending:
            del pending[0]


@fault("client-end-receive-omitted-for-receive-without-wait", breaks=ENDED)
class ClientEndReceiveOmittedForReceiveWithoutWait(ClientReading):
    """The client does not call RemoteQMEndReceive after every second receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        self.count += 1
        if self.count % 2:
            yield from super().end_receive(entry, ack)


@fault("client-end-receive-called-twice-for-second-receive", breaks=ENDED)
class ClientEndReceiveCalledTwiceForSecondReceive(ClientReading):
    """The client calls RemoteQMEndReceive twice after every second receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        self.count += 1
        yield from super().end_receive(entry, ack)
        if not self.count % 2:
            yield from super().end_receive(entry, ack)


@fault("client-end-receive-handle-of-first-receive", breaks=HANDLE)
class ClientEndReceiveHandleOfFirstReceive(ClientReading):
    """The client calls RemoteQMEndReceive with the handle of its first receive after every receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: UUID | None = None

    def note_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        self.first = self.first or handle
        super().note_remote_read_handle(entry, self.first)


@fault("client-end-of-second-receive-rr-nack", breaks=ACKNOWLEDGED)
class ClientEndOfSecondReceiveRrNack(ClientReading):
    """The client sets dwAck to RR_NACK in every second RemoteQMEndReceive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        self.count += 1
        yield from super().end_receive(entry, ack if self.count % 2 else Ack.RR_NACK)


@fault("client-end-of-infinite-receive-rr-nack", breaks=ACKNOWLEDGED)
class ClientEndOfInfiniteReceiveRrNack(ClientReading):
    """The client sets dwAck to RR_NACK after a receive without a time limit."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        self.infinite = read.TimeOut == INFINITE_MS
        return (yield from super().start_receive2(read))

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.infinite = False

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        yield from super().end_receive(entry, Ack.RR_NACK if self.infinite else ack)
