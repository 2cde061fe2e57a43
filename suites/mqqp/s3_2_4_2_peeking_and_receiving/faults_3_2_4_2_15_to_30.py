"""Faults that break the rules MQQP-3.2.4.2-15 to MQQP-3.2.4.2-30."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import change_pdus
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage, ServerVersion
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction, RemoteReadAck
from reference_qm.rpc.bodies import Request
from suites.mqqp.s3_2_4_2_peeking_and_receiving.fault_steps import ReadDescriptionChanger

DW_QUEUE_RULES = (
    *("MQQP-3.2.4.2-15", "MQQP-3.2.4.2-25", "MQQP-3.2.4.3-15", "MQQP-3.2.4.3-25"),
    *("MQQP-3.2.4.5-15", "MQQP-3.2.4.5-25", "MQQP-3.2.4.6-14", "MQQP-3.2.4.6-24"),
)


@fault("client-dw-queue-is-ph-queue-in-every-second-read", breaks=DW_QUEUE_RULES)
class ClientDwQueueIsPhQueueInEverySecondRead(ReadDescriptionChanger):
    """The client sets dwQueue to phQueue in every second read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {} if self.count % 2 else {"dwQueue": read.queue.QueueHandle}


@fault("client-dw-queue-is-ph-queue-in-read-without-time-limit", breaks=DW_QUEUE_RULES)
class ClientDwQueueIsPhQueueInReadWithoutTimeLimit(ReadDescriptionChanger):
    """The client sets dwQueue to phQueue in a read without a time limit."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwQueue": read.queue.QueueHandle} if read.TimeOut == INFINITE_MS else {}


DW_SIZE_OFFSET_BY_OPNUM = {0: 16, 9: 32}
"""For each opnum, the offset of dwSize in the stub of RemoteQMStartReceive, and of RemoteQMStartReceive2 in NDR64."""


def _announce_size_of_null_buffer(request: Request) -> Request:
    """Set dwSize to 1 in the stub although lpBuffer is NULL. The project's NDR encoder refuses to encode such a
    REMOTEREADDESC.
    """
    at = DW_SIZE_OFFSET_BY_OPNUM.get(request.opnum)
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
    change_pdus(Request, _announce_size_of_null_buffer),
)


DW_SIZE_RULES = (
    *("MQQP-3.2.4.2-16", "MQQP-3.2.4.2-26", "MQQP-3.2.4.3-17", "MQQP-3.2.4.3-27"),
    *("MQQP-3.2.4.5-17", "MQQP-3.2.4.5-27", "MQQP-3.2.4.6-16", "MQQP-3.2.4.6-26"),
)


@fault("client-dw-size-of-second-read-is-size-of-last-packet", breaks=DW_SIZE_RULES)
class ClientDwSizeOfSecondReadIsSizeOfLastPacket(ReadDescriptionChanger):
    """In a read, the client passes a buffer that is as large as the packet that the server returned last, and sets
    dwSize to this size.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.size = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwSize": self.size, "lpBuffer": bytes(self.size)} if self.size else {}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        self.size = 0 if desc is None else desc["dwSize"]
        return super().reconstruct_message(results, server)


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
class ClientReadLpBufferNotNull(ClientMessageReading):
    """The client sends a read with an lpBuffer that is not NULL."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return super().build_start_receive_description(read) | {"lpBuffer": b""}


ZERO_CURSOR_RULES = ("MQQP-3.2.4.2-18", "MQQP-3.2.4.2-28", "MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26")


@fault("client-h-cursor-of-plain-read-left-from-cursor-read", breaks=ZERO_CURSOR_RULES)
class ClientHCursorOfPlainReadLeftFromCursorRead(ReadDescriptionChanger):
    """The client sets hCursor of a read without a cursor to the cursor of the read before it."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        self.last = read.CursorHandle or self.last
        return {"hCursor": self.last}


WRONG_ACTION_BY_ACTION = {0: 0x80000000, 0x80000000: 0, 0x80000001: 0x80000000}
"""For each ulAction, the wrong action that replaces it: PEEK_CURRENT replaces RECEIVE and PEEK_NEXT, and RECEIVE
replaces PEEK_CURRENT.
"""


@fault(
    "client-sends-wrong-ul-action-in-each-read",
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
class ClientSendsWrongUlActionInEachRead(ClientMessageReading):
    """The client sends a wrong ulAction: PEEK_CURRENT for a receive, and a different action for each peek."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        return described | {"ulAction": WRONG_ACTION_BY_ACTION[described["ulAction"]]}


TIMEOUT = (
    *("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30", "MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
    *("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30", "MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
)


@fault("client-sends-ul-timeout-above-0x7fffffff-as-0x7fffffff", breaks=TIMEOUT)
class ClientSendsUlTimeoutAbove0x7fffffffAs0x7fffffff(ReadDescriptionChanger):
    """The client sets ulTimeout to 0x7FFFFFFF for a read with a longer timeout that is not infinite."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": min(read.TimeOut, 0x7FFFFFFF)} if read.TimeOut != INFINITE_MS else {}


@fault("client-rounds-ul-timeout-down-to-seconds", breaks=TIMEOUT)
class ClientRoundsUlTimeoutDownToSeconds(ReadDescriptionChanger):
    """The client rounds ulTimeout down to whole seconds."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": read.TimeOut // 1000 * 1000} if read.TimeOut != INFINITE_MS else {}


@fault("client-ul-timeout-of-later-read-is-that-of-first-read", breaks=TIMEOUT)
class ClientUlTimeoutOfLaterReadIsThatOfFirstRead(ReadDescriptionChanger):
    """The client sets ulTimeout of each read of a queue to the timeout of the first read of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, int] = {}

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": self.first.setdefault(read.queue.number, read.TimeOut)}


UL_TIMEOUT_RULES = (
    *("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30", "MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
    *("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30", "MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
)


@fault("client-ultimeout-above-31-bits-sent-as-infinite", breaks=UL_TIMEOUT_RULES, blind=True)
class ClientUltimeoutAbove31BitsSentAsInfinite(ClientMessageReading):
    """The client sends ulTimeout 0xFFFFFFFF for a timeout above 0x7FFFFFFF."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        return {**given, "ulTimeout": INFINITE_MS} if read.TimeOut > 0x7FFFFFFF else given


@fault("client-ultimeout-limited-to-one-day", breaks=UL_TIMEOUT_RULES, blind=True)
class ClientUltimeoutLimitedToOneDay(ClientMessageReading):
    """The client sends ulTimeout 86400000 for a longer timeout that is not 0xFFFFFFFF."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        wrong = 86_400_000 < read.TimeOut < INFINITE_MS
        return {**given, "ulTimeout": 86_400_000} if wrong else given


REQUEST_ID_RULES = (
    *("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31", "MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
    *("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31", "MQQP-3.2.4.6-20", "MQQP-3.2.4.6-30"),
)


@fault("client-adds-0x100-to-request-id-of-concurrent-read", breaks=REQUEST_ID_RULES)
class ClientAdds0x100ToRequestIdOfConcurrentRead(ReadDescriptionChanger):
    """The client sends the RequestId of a concurrent read plus 0x100."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        assert read.entry is not None
        return {"dwRequestID": read.entry.RequestId + 0x100} if len(pending) > 1 else {}


NEW_SERVER_METHOD_RULES = ("MQQP-3.2.4.2-23", "MQQP-3.2.4.3-23", "MQQP-3.2.4.5-23", "MQQP-3.2.4.6-22")


@fault("client-treats-server-of-version-6-0-as-old", breaks=NEW_SERVER_METHOD_RULES)
class ClientTreatsServerOfVersion60AsOld(ClientMessageReading):
    """The client treats a server of version 6.0 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return super().is_old_version(version) or (version is not None and version.Minor < 1)


@fault("client-treats-server-with-build-below-951-as-old", breaks=NEW_SERVER_METHOD_RULES)
class ClientTreatsServerWithBuildBelow951AsOld(ClientMessageReading):
    """The client treats a server of version 6.1 with a build below 951 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        small = version is not None and version.Major == 6 and version.BuildNumber < 951
        return small or super().is_old_version(version)


@fault("client-treats-server-of-version-10-as-old", breaks=NEW_SERVER_METHOD_RULES)
class ClientTreatsServerOfVersion10AsOld(ClientMessageReading):
    """The client compares version numbers as text, so it treats a server of version 10.0 as too old for
    RemoteQMStartReceive2.
    """

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or (str(version.Major), str(version.Minor)) < ("5", "1")


START_RECEIVE2_RULES = ("MQQP-3.2.4.2-23", "MQQP-3.2.4.3-23", "MQQP-3.2.4.5-23", "MQQP-3.2.4.6-22")


@fault("client-version-10-compared-as-text", breaks=START_RECEIVE2_RULES)
class ClientVersion10ComparedAsText(ClientMessageReading):
    """The client compares pMajor as text, so that version 10 counts as older than 5."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or str(version.Major) < "5" or super().is_old_version(version)


@fault("client-calls-start-receive-on-server-of-version-5-minor-1", breaks=START_RECEIVE2_RULES)
class ClientCallsStartReceiveOnServerOfVersion5Minor1(ClientMessageReading):
    """The client treats a server of version 5.1 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or (version.Major, version.Minor) <= (5, 1)


@fault("client-calls-start-receive-on-server-of-version-6-minor-0", breaks=START_RECEIVE2_RULES)
class ClientCallsStartReceiveOnServerOfVersion6Minor0(ClientMessageReading):
    """The client treats a server of version 6.0 as too old for RemoteQMStartReceive2."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or version.Minor < 1 or super().is_old_version(version)


@fault("client-calls-start-receive-on-new-server-with-build-below-951", breaks=START_RECEIVE2_RULES)
class ClientCallsStartReceiveOnNewServerWithBuildBelow951(ClientMessageReading):
    """The client treats a server with a build number below 951 as too old, even if the version of the server is new
    enough.
    """

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or version.BuildNumber < 951 or super().is_old_version(version)


@fault("client-zero-timeout-sent-as-infinite", breaks=("MQQP-3.2.4.2-30", "MQQP-3.2.4.3-30"), blind=True)
class ClientZeroTimeoutSentAsInfinite(ClientMessageReading):
    """The client sends ulTimeout 0xFFFFFFFF for a read with timeout 0."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        return described | {"ulTimeout": described["ulTimeout"] or INFINITE_MS}


@fault("client-takes-version-6-server-with-minor-0-for-old", breaks="MQQP-3.2.4.2-23", blind=True)
class ClientTakesVersion6ServerWithMinor0ForOld(ClientMessageReading):
    """The client calls RemoteQMStartReceive if pMinor is less than 1, even if pMajor is 6."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return version is None or version.Major < 5 or version.Minor < 1


LONGEST_SIGNED_TIMEOUT_MS = 0x7FFFFFFF


def _is_plain_peek(read: RemoteRead) -> bool:
    return read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT and not read.CursorHandle


def _is_cursor_receive(read: RemoteRead) -> bool:
    return read.Action is ReadAction.MQ_ACTION_RECEIVE and bool(read.CursorHandle)


def _make_empty_call_sequence() -> RemoteCallSequence:
    yield from ()


@fault("client-dw-size-of-peek-is-size-of-previous-packet", breaks="MQQP-3.2.4.2-16", blind=True)
class ClientDwSizeOfPeekIsSizeOfPreviousPacket(ClientMessageReading):
    """The client sets dwSize of a peek to the size of the packet of its last read, and sends this packet again."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        return described | self.__dict__.get("latest", {}) if _is_plain_peek(read) else described

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        first, second = results.get("lpRemoteReadDesc"), results.get("lpRemoteReadDesc2")
        described = second["pRemoteReadDesc"] if second is not None else first
        if described is not None:
            self.__dict__["latest"] = {name: described[name] for name in ("dwSize", "lpBuffer")}
        return super().reconstruct_message(results, server)


@fault("client-h-cursor-of-plain-peek-is-that-of-last-read", breaks="MQQP-3.2.4.2-18", blind=True)
class ClientHCursorOfPlainPeekIsThatOfLastRead(ClientMessageReading):
    """The client sets hCursor of a peek without a cursor to the cursor of the last read of the same queue."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        used: dict[int, int] = self.__dict__.setdefault("used", {})
        if read.CursorHandle:
            used[read.queue.number] = read.CursorHandle
        elif _is_plain_peek(read):
            described["hCursor"] = used.get(read.queue.number, 0)
        return described


@fault("client-dw-queue-of-peek-is-that-of-last-opened-queue", breaks="MQQP-3.2.4.2-25", blind=True)
class ClientDwQueueOfPeekIsThatOfLastOpenedQueue(ClientMessageReading):
    """The client sets dwQueue of a peek to the dwpQueue of the queue that it opened last."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        if _is_plain_peek(read):
            described["dwQueue"] = list(self.qm.remote_client.queues.values())[-1].QueueDescriptor
        return described


@fault("client-sends-long-ul-timeout-of-receive-as-infinite", breaks="MQQP-3.2.4.3-20", blind=True)
class ClientSendsLongUlTimeoutOfReceiveAsInfinite(ClientMessageReading):
    """The client sets ulTimeout of a receive to INFINITE if the timeout is longer than 0x7FFFFFFF ms."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        plain_receive = read.Action is ReadAction.MQ_ACTION_RECEIVE and not read.CursorHandle
        if plain_receive and read.TimeOut > LONGEST_SIGNED_TIMEOUT_MS:
            described["ulTimeout"] = INFINITE_MS
        return described


@fault("client-end-receive-not-called-for-empty-body", breaks="MQQP-3.2.4.3-36", blind=True)
class ClientEndReceiveNotCalledForEmptyBody(ClientMessageReading):
    """The client does not call RemoteQMEndReceive after it has received a message with an empty body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.__dict__["is_empty"] = not found.message.Body
        return found

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if ack is RemoteReadAck.RR_ACK and self.__dict__.get("is_empty"):
            return _make_empty_call_sequence()
        return super().call_end_receive(entry, ack)


@fault("client-entry-of-receive-kept-after-failed-end-receive", breaks="MQQP-3.2.4.3-39", blind=True)
class ClientEntryOfReceiveKeptAfterFailedEndReceive(ClientMessageReading):
    """The client keeps the PendingRemoteReadEntry of a receive whose RemoteQMEndReceive returned a failure."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        try:
            yield from super().call_end_receive(entry, ack)
        except RemoteError:
            self.__dict__.setdefault("kept", []).append(entry)
            raise

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        if entry not in self.__dict__.get("kept", ()):
            super().remove_pending_read(entry)


@fault("client-sequential-id-of-cursor-peek-next-is-that-of-last-read", breaks="MQQP-3.2.4.5-32", blind=True)
class ClientSequentialIdOfCursorPeekNextIsThatOfLastRead(ClientMessageReading):
    """The client sets SequentialId of a PEEK_NEXT by a cursor to the SequentialId of the message that it read last."""

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["SequentialId"] = self.__dict__.get("latest", 0)
        return described

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        second = results.get("lpRemoteReadDesc2")
        self.__dict__["latest"] = 0 if second is None else second["SequentialId"]
        return super().reconstruct_message(results, server)


@fault("client-h-remote-queue-of-cursor-receive-is-first-handle", breaks="MQQP-3.2.4.6-13", blind=True)
class ClientHRemoteQueueOfCursorReceiveIsFirstHandle(ClientMessageReading):
    """The client sets hRemoteQueue of a receive by a cursor to the phQueue with which it first read from the queue,
    even after the queue was closed and opened again.
    """

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        known: dict[str, int] = self.__dict__.setdefault("known", {})
        first = known.setdefault(read.queue.FormatName, read.queue.QueueHandle)
        return described | {"hRemoteQueue": first} if _is_cursor_receive(read) else described


@fault("client-dw-queue-of-cursor-receive-is-pdw-context", breaks="MQQP-3.2.4.6-14", blind=True)
class ClientDwQueueOfCursorReceiveIsPdwContext(ClientMessageReading):
    """The client sets dwQueue of a receive by a cursor to pdwContext instead of dwpQueue."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        return described | {"dwQueue": read.queue.OpenContext} if _is_cursor_receive(read) else described


@fault("client-dw-request-id-of-cursor-receive-is-that-of-newest-read", breaks="MQQP-3.2.4.6-20", blind=True)
class ClientDwRequestIdOfCursorReceiveIsThatOfNewestRead(ClientMessageReading):
    """The client sets dwRequestID of a receive by a cursor to the RequestId of the read that was requested last."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        newest = self.qm.remote_client.last_request_id
        return described | {"dwRequestID": newest} if _is_cursor_receive(read) else described
