"""Faults of MS-MQQP 3.2.4.2 Peeking a Message, 3.2.4.3, 3.2.4.5 and 3.2.4.6.

The four sections state the same requirements, each for RemoteQMStartReceive and for RemoteQMStartReceive2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, pdus, skip, skip_sequence
from harness.faults.registry import Install, add
from reference_qm.codec import PrivateName
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage, Version
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import INFINITE_MS, Ack
from reference_qm.rpc.bodies import Request

# -- the entry --------------------------------------------------------------------------------------------------------


@fault(
    "client-pending-read-not-kept",
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
class ClientPendingReadNotKept(ClientReading):
    """The client does not keep a pending read in rPendingRemoteReadEntryCollection."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


class _EntryOfAnotherQueue(ClientReading):
    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        entry.OpenQueueDescriptorHandle += 1
        return entry


class _FoundByIdentifier(ClientCancelling):
    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        return next(entry for entry in entries if entry.RequestId == request_id)


add(
    "client-pending-read-has-wrong-queue-handle",
    ("MQQP-3.2.4.2-03", "MQQP-3.2.4.3-03", "MQQP-3.2.4.5-03", "MQQP-3.2.4.6-03"),
    "The client's PendingRemoteReadEntry contains the handle of a wrong queue.",
    both(replace_part(_EntryOfAnotherQueue), replace_part(_FoundByIdentifier)),
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
class ClientReadRequestIdAlways7(ClientReading):
    """The client sends all its reads with dwRequestID 7."""

    def new_request_id(self) -> int:
        return 7


add(
    "client-completed-read-stays-pending",
    ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38"),
    "The client keeps the PendingRemoteReadEntry of a completed read.",
    skip(ClientReading.remove_pending_read),
)


# -- the description --------------------------------------------------------------------------------------------------


def _increment_read_field(name: str) -> Install:
    """Build a fault in which the client adds one to a field of REMOTEREADDESC."""

    class OneMore(ClientReading):
        def describe_read(self, read: RemoteRead) -> dict[str, Any]:
            described = super().describe_read(read)
            return described | {name: described[name] + 1}

    return replace_part(OneMore)


for _name, _breaks, _field in (
    (
        "client-read-h-remote-queue-one-too-high",
        (
            "MQQP-3.2.4.2-14",
            "MQQP-3.2.4.2-24",
            "MQQP-3.2.4.3-14",
            "MQQP-3.2.4.3-24",
            "MQQP-3.2.4.5-14",
            "MQQP-3.2.4.5-24",
            "MQQP-3.2.4.6-13",
            "MQQP-3.2.4.6-23",
            "MQQP-3.1.4.10-06",
        ),
        "hRemoteQueue",
    ),
    (
        "client-read-dw-queue-one-too-high",
        (
            "MQQP-3.2.4.2-15",
            "MQQP-3.2.4.2-25",
            "MQQP-3.2.4.3-15",
            "MQQP-3.2.4.3-25",
            "MQQP-3.2.4.5-15",
            "MQQP-3.2.4.5-25",
            "MQQP-3.2.4.6-14",
            "MQQP-3.2.4.6-24",
        ),
        "dwQueue",
    ),
    (
        "client-read-h-cursor-one-too-high",
        (
            "MQQP-3.2.4.2-18",
            "MQQP-3.2.4.2-28",
            "MQQP-3.2.4.3-16",
            "MQQP-3.2.4.3-26",
            "MQQP-3.2.4.5-16",
            "MQQP-3.2.4.5-26",
            "MQQP-3.2.4.6-15",
            "MQQP-3.2.4.6-25",
        ),
        "hCursor",
    ),
    (
        "client-read-ul-timeout-one-too-high",
        (
            "MQQP-3.2.4.2-20",
            "MQQP-3.2.4.2-30",
            "MQQP-3.2.4.3-20",
            "MQQP-3.2.4.3-30",
            "MQQP-3.2.4.5-20",
            "MQQP-3.2.4.5-30",
            "MQQP-3.2.4.6-19",
            "MQQP-3.2.4.6-29",
        ),
        "ulTimeout",
    ),
    (
        "client-read-dw-request-id-one-too-high",
        (
            "MQQP-3.2.4.2-21",
            "MQQP-3.2.4.2-31",
            "MQQP-3.2.4.3-21",
            "MQQP-3.2.4.3-31",
            "MQQP-3.2.4.5-21",
            "MQQP-3.2.4.5-31",
            "MQQP-3.2.4.6-20",
            "MQQP-3.2.4.6-30",
        ),
        "dwRequestID",
    ),
):
    add(
        _name,
        _breaks,
        f"The client sends a read with a {_field} that is greater by 1 than the right value.",
        _increment_read_field(_field),
    )

WRONG_ACTION_BY_ACTION = {0: 0x80000000, 0x80000000: 0, 0x80000001: 0x80000000}
"""For each ulAction, the wrong action that replaces it: PEEK_CURRENT replaces RECEIVE and PEEK_NEXT, and RECEIVE
replaces PEEK_CURRENT.
"""


@fault(
    "client-read-sends-ul-action-receive-for-peek",
    breaks=(
        "MQQP-3.2.4.2-19",
        "MQQP-3.2.4.2-29",
        "MQQP-3.2.4.3-19",
        "MQQP-3.2.4.3-29",
        "MQQP-3.2.4.5-19",
        "MQQP-3.2.4.5-29",
        "MQQP-3.2.4.6-18",
        "MQQP-3.2.4.6-28",
    ),
)
class ClientReadSendsUlActionReceiveForPeek(ClientReading):
    """The client sends a wrong ulAction: PEEK_CURRENT for a receive, and a different action for each peek."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"ulAction": WRONG_ACTION_BY_ACTION[described["ulAction"]]}


@fault(
    "client-read-lp-buffer-not-null",
    breaks=(
        "MQQP-3.2.4.2-17",
        "MQQP-3.2.4.2-27",
        "MQQP-3.2.4.3-18",
        "MQQP-3.2.4.3-28",
        "MQQP-3.2.4.5-18",
        "MQQP-3.2.4.5-28",
        "MQQP-3.2.4.6-17",
        "MQQP-3.2.4.6-27",
        "MQQP-2.2.2.1-10",
    ),
)
class ClientReadLpBufferNotNull(ClientReading):
    """The client sends a read with an lpBuffer that is not NULL."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        return super().describe_read(read) | {"lpBuffer": b""}


@fault(
    "client-read-sequential-id-not-zero",
    breaks=("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31"),
)
class ClientReadSequentialIdNotZero(ClientReading):
    """The client calls RemoteQMStartReceive2 with a nonzero SequentialId."""

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        return super().describe_read2(read) | {"SequentialId": 0x1122334455667788}


DW_SIZE_OFFSET = {0: 16, 9: 32}
"""For each opnum, the offset of dwSize in the stub of RemoteQMStartReceive, and of RemoteQMStartReceive2 in NDR64."""


def _announce_size_of_null_buffer(request: Request) -> Request:
    """Set dwSize to 1 in the stub although lpBuffer is NULL. The project's NDR encoder refuses to encode such a
    REMOTEREADDESC.
    """
    at = DW_SIZE_OFFSET.get(request.opnum)
    if at is None or len(request.stub) < at + 20:
        return request
    return replace(request, stub=request.stub[:at] + b"\1\0\0\0" + request.stub[at + 4 :])


add(
    "client-read-dw-size-not-zero",
    (
        "MQQP-3.2.4.2-16",
        "MQQP-3.2.4.2-26",
        "MQQP-3.2.4.3-17",
        "MQQP-3.2.4.3-27",
        "MQQP-3.2.4.5-17",
        "MQQP-3.2.4.5-27",
        "MQQP-3.2.4.6-16",
        "MQQP-3.2.4.6-26",
        "MQQP-2.2.2.1-03",
    ),
    "The client sends a read with dwSize 1.",
    pdus(Request, _announce_size_of_null_buffer),
)

# -- the returned message ----------------------------------------------------------------------------------------------

add(
    "client-receive-handle-not-kept",
    ("MQQP-3.2.4.3-34", "MQQP-3.2.4.6-33"),
    "The client does not keep the context handle of a receive.",
    skip(ClientReading.note_remote_read_handle),
)


@fault(
    "client-read-body-one-byte-short",
    breaks=("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
)
class ClientReadBodyOneByteShort(ClientReading):
    """The client delivers a message without the last byte of its body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:-1]))


VALUES_OF_REMOVED_PROPERTIES: dict[str, Any] = {"CorrelationIdentifier": bytes(20)}
"""The replacement value of a removed property, for each property that needs a value other than the default of its type.
"""


def _remove_read_property(name: str) -> Install:
    """Build a fault in which the client delivers a message without one property."""

    class Without(ClientReading):
        def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
            found = super().reconstruct_message(results, server)
            lost = VALUES_OF_REMOVED_PROPERTIES.get(name) or type(getattr(found.message, name))()
            return found._replace(message=replace(found.message, **{name: lost}))

    return replace_part(Without)


for _property in ("Extension", "CorrelationIdentifier", "AppSpecific", "BodyType", "SentTime", "ArrivalTime"):
    add(
        f"client-read-without-{_property}",
        ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
        f"The client delivers a message without its {_property}.",
        _remove_read_property(_property),
    )


add(
    "client-end-receive-not-called",
    ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35", "MQQP-2.2.1.2-01", "MQQP-3.1.4.1-01", "MQQP-3.1.4.2-01"),
    "The client does not call RemoteQMEndReceive.",
    skip_sequence(ClientReading.end_receive),
)


@fault("client-end-receive-sends-wrong-context-handle", breaks=("MQQP-3.2.4.3-37", "MQQP-3.2.4.6-36"))
class ClientEndReceiveSendsWrongContextHandle(ClientReading):
    """The client calls RemoteQMEndReceive with a wrong context handle."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        entry.RemoteReadHandle = UUID(int=0xBAD)
        yield from super().end_receive(entry, ack)


@fault("client-end-receive-nack-for-ack", breaks=("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37"))
class ClientEndReceiveNackForAck(ClientReading):
    """The client calls RemoteQMEndReceive with RR_NACK after a successful receive."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        yield from super().end_receive(entry, Ack.RR_NACK if ack is Ack.RR_ACK else Ack.RR_ACK)


@fault(
    "client-private-names-resolved-at-sender",
    breaks=("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
)
class ClientPrivateNamesResolvedAtSender(ClientReading):
    """The client ignores RQ: it resolves every private response queue on the computer of the sender."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        name = found.message.ResponseQueueFormatName or ""
        if not name.startswith("PRIVATE="):
            return found
        name = str(PrivateName(found.message.Identifier.QueueManagerGuid, int(name.rpartition("\\")[2], 16)))
        return found._replace(message=replace(found.message, ResponseQueueFormatName=name))


@fault("client-get-version-called-once-per-queue", breaks=("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07"), blind=True)
class ClientGetVersionCalledOncePerQueue(ClientReading):
    """The client calls RemoteQmGetVersion only before the first read of a queue."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: dict[int, Version | None] = {}

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        if read.queue.number not in self._known:
            self._known[read.queue.number] = yield from super().ask_server_version(read)
        return self._known[read.queue.number]


@fault("client-treats-late-build-of-version-5-0-as-new", breaks=("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10"), blind=True)
class ClientTreatsLateBuildOfVersion50AsNew(ClientReading):
    """The client treats a server of version 5.0 with build 951 or later as a server of version 5.1 or later."""

    def is_old_version(self, version: Version | None) -> bool:
        late = version is not None and (version.Major, version.Minor) == (5, 0) and version.BuildNumber >= 951
        return super().is_old_version(version) and not late


@fault(
    "client-request-ids-counted-per-queue",
    breaks=("MQQP-3.2.4.2-05", "MQQP-3.2.4.3-05", "MQQP-3.2.4.5-05", "MQQP-3.2.4.6-05"),
    blind=True,
)
class ClientRequestIdsCountedPerQueue(ClientReading):
    """The client counts the RequestIds of each queue from 1."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        entry.RequestId = sum(one.queue is read.queue for one in pending)
        return entry


@fault("client-zero-timeout-sent-as-infinite", breaks=("MQQP-3.2.4.2-30", "MQQP-3.2.4.3-30"), blind=True)
class ClientZeroTimeoutSentAsInfinite(ClientReading):
    """The client sends ulTimeout 0xFFFFFFFF for a read with timeout 0."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"ulTimeout": described["ulTimeout"] or INFINITE_MS}
