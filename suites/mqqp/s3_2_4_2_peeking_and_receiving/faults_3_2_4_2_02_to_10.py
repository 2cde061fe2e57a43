"""Faults that break the rules MQQP-3.2.4.2-02 to MQQP-3.2.4.2-10."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence


@fault(
    "client-adds-no-pending-read-entry",
    breaks=(
        "MQQP-3.2.4.2-02",
        "MQQP-3.2.4.2-06",
        "MQQP-3.2.4.3-02",
        "MQQP-3.2.4.3-06",
        "MQQP-3.2.4.5-02",
        "MQQP-3.2.4.5-06",
        "MQQP-3.2.4.6-02",
        "MQQP-3.2.4.6-06",
        "MQQP-3.2.1.2-01",
    ),
)
class ClientAddsNoPendingReadEntry(ClientMessageReading):
    """The client does not keep a pending read in rPendingRemoteReadEntryCollection."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


class _PendingReadCreatorWithWrongQueueHandle(ClientMessageReading):
    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        entry.OpenQueueDescriptorHandle += 1
        return entry


class _PendingReadFinderByRequestIdOnly(ClientReadCancelling):
    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        return next(entry for entry in entries if entry.RequestId == request_id)


add(
    "client-pending-read-has-wrong-queue-handle",
    ("MQQP-3.2.4.2-03", "MQQP-3.2.4.3-03", "MQQP-3.2.4.5-03", "MQQP-3.2.4.6-03"),
    "The client's PendingRemoteReadEntry contains the handle of a wrong queue.",
    combine_installers(
        replace_part(_PendingReadCreatorWithWrongQueueHandle), replace_part(_PendingReadFinderByRequestIdOnly)
    ),
)


@fault(
    "client-read-request-id-always-7",
    breaks=(
        "MQQP-3.2.4.2-04",
        "MQQP-3.2.4.2-05",
        "MQQP-3.2.4.3-04",
        "MQQP-3.2.4.3-05",
        "MQQP-3.2.4.5-04",
        "MQQP-3.2.4.5-05",
        "MQQP-3.2.4.6-04",
        "MQQP-3.2.4.6-05",
        "MQQP-2.2.2.1-04",
        "MQQP-2.2.2.1-05",
    ),
)
class ClientReadRequestIdAlways7(ClientMessageReading):
    """The client sends all its reads with dwRequestID 7."""

    def assign_request_id(self) -> int:
        return 7


@fault("client-pending-reads-of-different-queues-share-request-id", breaks="MQQP-3.2.4.2-04", blind=True)
class ClientPendingReadsOfDifferentQueuesShareRequestId(ClientMessageReading):
    """The client assigns the same RequestId to pending reads of different queues."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry.RequestId = sum(other.queue is entry.queue for other in pending)
        return entry


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


class _RequestIdCounterByGroupOfReads(ClientMessageReading):
    """The client divides its reads into groups and numbers the RequestIds of each group separately."""

    def is_read_in_first_group(self, read: RemoteRead) -> bool:
        """Return the group of a read."""
        return read.receives

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        counts: dict[bool, int] = self.__dict__.setdefault("counts", {})
        group = self.is_read_in_first_group(read)
        counts[group] = counts.get(group, 0) + 1
        entry.RequestId = counts[group]
        return entry


@fault("client-request-ids-of-peeks-and-receives-counted-apart", breaks=REQUEST_ID_RULES, blind=True)
class ClientRequestIdsOfPeeksAndReceivesCountedApart(_RequestIdCounterByGroupOfReads):
    """The client assigns the RequestId of a pending peek also to a receive."""


@fault("client-request-ids-of-reads-by-cursor-counted-apart", breaks=REQUEST_ID_RULES, blind=True)
class ClientRequestIdsOfReadsByCursorCountedApart(_RequestIdCounterByGroupOfReads):
    """The client assigns the RequestId of a pending read without a cursor also to a read by a cursor."""

    def is_read_in_first_group(self, read: RemoteRead) -> bool:
        return bool(read.CursorHandle)


@fault(
    "client-request-ids-counted-per-queue",
    breaks=("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-05", "MQQP-3.2.4.5-05", "MQQP-3.2.4.6-05"),
    blind=True,
)
class ClientRequestIdsCountedPerQueue(ClientMessageReading):
    """The client counts the RequestIds of each queue from 1."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry.RequestId = sum(one.queue is read.queue for one in pending)
        return entry


@fault(
    "client-numbers-read-by-count-of-pending-reads",
    breaks=("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-05", "MQQP-3.2.4.5-05", "MQQP-3.2.4.6-05"),
)
class ClientNumbersReadByCountOfPendingReads(ClientMessageReading):
    """The client assigns the number of its pending reads plus one as the RequestId of a new read."""

    def assign_request_id(self) -> int:
        return len(self.qm.remote_client.PendingRemoteReadEntryCollection) + 1


PENDING_ENTRY_RULES = ("MQQP-3.2.4.2-06", "MQQP-3.2.4.3-06", "MQQP-3.2.4.5-06", "MQQP-3.2.4.6-06")


@fault("client-pending-read-entries-of-queue-removed-by-first-answer", breaks=PENDING_ENTRY_RULES)
class ClientPendingReadEntriesOfQueueRemovedByFirstAnswer(ClientMessageReading):
    """When the server answers one of several pending reads of a queue, the client removes the entries of
    all of them.
    """

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        super().remove_pending_read(entry)
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is entry.queue:
                super().remove_pending_read(one)


@fault("client-pending-peek-entry-removed-by-receive", breaks=("MQQP-3.2.4.2-06", "MQQP-3.2.4.5-06"), blind=True)
class ClientPendingPeekEntryRemovedByReceive(ClientMessageReading):
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


@fault("client-get-version-called-once-per-queue", breaks=("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07"), blind=True)
class ClientGetVersionCalledOncePerQueue(ClientMessageReading):
    """The client calls RemoteQmGetVersion only before the first read of a queue."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: dict[int, ServerVersion | None] = {}

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        if read.queue.number not in self._known:
            self._known[read.queue.number] = yield from super().ask_server_version(read)
        return self._known[read.queue.number]


VERSION_REQUEST_RULES = ("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01")


@fault("client-calls-get-version-only-before-first-read-of-queue", breaks=VERSION_REQUEST_RULES)
class ClientCallsGetVersionOnlyBeforeFirstReadOfQueue(ClientMessageReading):
    """The client calls RemoteQmGetVersion only before the first read of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.versions: dict[int, Any] = {}

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        if read.queue.number not in self.versions:
            self.versions[read.queue.number] = yield from super().ask_server_version(read)
        return self.versions[read.queue.number]


VERSION_CALL_RULES = ("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01")


@fault("client-does-not-call-get-version-while-read-of-queue-waits", breaks=VERSION_CALL_RULES, blind=True)
class ClientDoesNotCallGetVersionWhileReadOfQueueWaits(ClientMessageReading):
    """While a read of the queue waits, the client does not call RemoteQmGetVersion for another read."""

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        known: dict[Any, ServerVersion | None] = self.__dict__.setdefault("versions", {})
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if read.queue in known and any(one.queue is read.queue and one is not read.entry for one in pending):
            return known[read.queue]
        known[read.queue] = yield from super().ask_server_version(read)
        return known[read.queue]


@fault(
    "client-treats-server-of-version-4-with-high-minor-as-new",
    breaks=("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08"),
)
class ClientTreatsServerOfVersion4WithHighMinorAsNew(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 of a server of version 4 with a minor version above 0."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return super().is_old_version(version) and not (version is not None and version.Minor >= 1)


VERSION_BELOW_5_RULES = ("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08")


@fault("client-calls-start-receive2-on-version-4-server-with-minor-1", breaks=VERSION_BELOW_5_RULES)
class ClientCallsStartReceive2OnVersion4ServerWithMinor1(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 on a server of version 4 with a minor version of 1 or more."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or (version.Minor < 1 and super().is_old_version(version))


@fault("client-calls-start-receive2-on-old-server-with-high-build", breaks=VERSION_BELOW_5_RULES)
class ClientCallsStartReceive2OnOldServerWithHighBuild(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 on a server of version 4 or 5.0 with a build number above 3000."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or (version.BuildNumber <= 3000 and super().is_old_version(version))


@fault("client-treats-late-build-of-version-5-0-as-new", breaks=("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10"), blind=True)
class ClientTreatsLateBuildOfVersion50AsNew(ClientMessageReading):
    """The client treats a server of version 5.0 with build 951 or later as a server of version 5.1 or later."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        late = version is not None and (version.Major, version.Minor) == (5, 0) and version.BuildNumber >= 951
        return super().is_old_version(version) and not late


VERSION_BELOW_5_1_RULES = ("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10", "MQQP-3.2.4.5-10", "MQQP-3.2.4.6-09")


@fault("client-treats-server-of-version-5-0-with-high-build-as-new", breaks=VERSION_BELOW_5_1_RULES)
class ClientTreatsServerOfVersion50WithHighBuildAsNew(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 of a server of version 5.0 with a build number of 951 or above."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        high = version is not None and version.Major == 5 and version.BuildNumber >= 951
        return not high and super().is_old_version(version)


@fault("client-version-of-first-server-used-for-later-queue", breaks=VERSION_BELOW_5_1_RULES)
class ClientVersionOfFirstServerUsedForLaterQueue(ClientMessageReading):
    """The client uses the version that it found before the first read for all later reads, even if the server now
    returns a different version.
    """

    first_version: ServerVersion | None = None

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        self.first_version = self.first_version or version
        return self.first_version
