"""Faults that break the rules MQQP-2.2.2.1-01 to MQQP-2.2.2.1-06."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import combine_installers, omit_step, replace_method_during
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from suites.mqqp.s2_2_2_1_remotereaddesc.fault_steps import (
    ReadDescriptionChangerOfAnswersWithMessage,
    ReadRefuser,
    ReadTimeoutChanger,
    make_call_with_changed_description,
    refuse_answer_with_other_field_value,
    refuse_nonzero_field,
)


def _use_first_cursor_for_unknown_cursor(
    original: Callable[..., Cursor | None], *outer: Any
) -> Callable[..., Cursor | None]:
    def find_remote_cursor(qm: Any, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        return original(qm, descriptor, handle) or next(iter(descriptor.CursorCollection.values()), None)

    return find_remote_cursor


add(
    "server-unknown-h-cursor-means-first-cursor",
    ("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12", "MQQP-2.2.2.1-01", "MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"),
    "The server reads by the first cursor of the queue if hCursor is not a cursor of the queue.",
    combine_installers(
        replace_method_during(
            RemoteReadStarting.remote_qm_start_receive,
            RemoteReadStarting.find_remote_cursor,
            _use_first_cursor_for_unknown_cursor,
        ),
        replace_method_during(
            RemoteReadStarting.remote_qm_start_receive2,
            RemoteReadStarting.find_remote_cursor,
            _use_first_cursor_for_unknown_cursor,
        ),
    ),
)


@fault("server-read-by-second-cursor-uses-first-cursor-of-handle", breaks="MQQP-2.2.2.1-01")
class ServerReadBySecondCursorUsesFirstCursorOfHandle(RemoteReadStarting):
    """Whichever cursor of a handle the client names, the server reads by the first cursor of the handle."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else next(iter(descriptor.CursorCollection.values()))


@fault("server-infinite-ul-timeout-cut-to-1-second", breaks=("MQQP-2.2.2.1-02", "MQDMPR-3.1.2.3-03"))
class ServerInfiniteUlTimeoutCutTo1Second(RemoteReads):
    """The server lets a read with ulTimeout 0xFFFFFFFF wait for only one second."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout == INFINITE_MS:
            entry.Timeout = 1000
        super().remote_receive(entry, descriptor, cursor, now)


@fault("client-sends-infinite-ul-timeout-as-0x0fffffff", breaks="MQQP-2.2.2.1-02")
class ClientSendsInfiniteUlTimeoutAs0x0fffffff(ClientMessageReading):
    """The client sets ulTimeout to 0x0FFFFFFF in a read without a timeout."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        return described | {"ulTimeout": described["ulTimeout"] & 0x0FFFFFFF}


@fault("server-endless-read-ends-after-one-hour", breaks="MQQP-2.2.2.1-02")
class ServerEndlessReadEndsAfterOneHour(RemoteReadStarting):
    """The server ends a read without a timeout after one hour."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout == INFINITE_MS:
            entry.Timeout = 3_600_000
        return entry


@fault("server-infinite-peek-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfinitePeekDoesNotWait(ReadTimeoutChanger):
    """The server does not wait for a message in a peek with ulTimeout 0xFFFFFFFF."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        infinite = entry.Timeout == INFINITE_MS and entry.Action not in RECEIVE_ACTIONS
        return 0 if infinite else entry.Timeout


@fault("server-infinite-receive-by-cursor-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfiniteReceiveByCursorDoesNotWait(ReadTimeoutChanger):
    """The server does not wait for a message in a read by a cursor with ulTimeout 0xFFFFFFFF."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        return 0 if entry.Timeout == INFINITE_MS and desc["hCursor"] else entry.Timeout


@fault("server-infinite-start-receive-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfiniteStartReceiveDoesNotWait(ReadTimeoutChanger):
    """The server does not wait for a message in a RemoteQMStartReceive with ulTimeout 0xFFFFFFFF."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        old = entry.call.method.name == "RemoteQMStartReceive"
        return 0 if entry.Timeout == INFINITE_MS and old else entry.Timeout


@fault("client-peek-without-time-limit-has-ul-timeout-0x7fffffff", breaks="MQQP-2.2.2.1-02")
class ClientPeekWithoutTimeLimitHasUlTimeout0x7fffffff(ClientMessageReading):
    """The client sets ulTimeout to 0x7FFFFFFF in a peek without a time limit."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        infinite = read.TimeOut == INFINITE_MS and not read.receives
        return super().build_start_receive_description(read) | ({"ulTimeout": 0x7FFFFFFF} if infinite else {})


@fault("client-cursor-read-without-limit-has-ul-timeout-0x7fffffff", breaks="MQQP-2.2.2.1-02")
class ClientCursorReadWithoutLimitHasUlTimeout0x7fffffff(ClientMessageReading):
    """The client sets ulTimeout to 0x7FFFFFFF in a read by a cursor without a time limit."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        infinite = read.TimeOut == INFINITE_MS and bool(read.CursorHandle)
        return super().build_start_receive_description(read) | ({"ulTimeout": 0x7FFFFFFF} if infinite else {})


@fault(
    "server-returns-null-lp-buffer-and-dw-size-0",
    breaks=(
        "MQQP-3.1.4.1-19",
        "MQQP-3.1.4.10-50",
        "MQQP-3.1.4.11-53",
        "MQQP-2.2.2.1-10",
        "MQQP-2.2.2.1-D02",
        "MQQP-2.2.2.1-D04",
        "MQQP-2.2.2.1-03",
    ),
)
class ServerReturnsNullLpBufferAndDwSize0(RemoteReads):
    """The server returns lpBuffer NULL and dwSize 0."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"lpBuffer": None, "dwSize": 0}


@fault("server-shorter-packet-padded-to-size-of-longest", breaks="MQQP-2.2.2.1-03")
class ServerShorterPacketPaddedToSizeOfLongest(ReadDescriptionChangerOfAnswersWithMessage):
    """The server pads lpBuffer of a packet to the size of the longest packet that it returned before."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.size = 0

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        self.size = max(self.size, found["dwSize"])
        return {"dwSize": self.size, "lpBuffer": found["lpBuffer"].ljust(self.size, b"\0")}


@fault("server-large-packet-padded-to-4-kb", breaks=("MQQP-2.2.2.1-03", "MQQP-2.2.2.1-D04"))
class ServerLargePacketPaddedTo4Kb(ReadDescriptionChangerOfAnswersWithMessage):
    """The server pads lpBuffer of a packet above 4,096 bytes to a multiple of 4,096 bytes."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        size = found["dwSize"]
        padded = size if size < 4096 else (size + 4095) // 4096 * 4096
        return {"dwSize": padded, "lpBuffer": found["lpBuffer"].ljust(padded, b"\0")}


@fault(
    "server-peek-returns-packet-with-extra-bytes-in-dw-size", breaks=("MQQP-2.2.2.1-D02", "MQQP-2.2.2.1-03"), blind=True
)
class ServerPeekReturnsPacketWithExtraBytesInDwSize(RemoteReads):
    """For a peek, the server returns the packet with 8 to 15 extra bytes, and counts these bytes in dwSize."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.UserMessagePacket is not None and entry.Action not in RECEIVE_ACTIONS:
            packet = self.serialize_remote_message(entry.UserMessagePacket)
            size = -(-len(packet) // 8) * 8 + 8
            call = make_call_with_changed_description(call, dwSize=size, lpBuffer=packet + bytes(size - len(packet)))
        super().answer_read(call, status, entry)


@fault("server-cancel-receive-ends-wrong-read", breaks="MQQP-2.2.2.1-04")
class ServerCancelReceiveEndsWrongRead(RemoteReadEnding):
    """If a queue has several waiting reads, RemoteQMCancelReceive cancels a read with a different dwRequestID instead
    of the requested read.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue)
        other = next((one for one in entries if one.RequestId != request_id), None)
        return super().find_read_to_cancel(h_queue, request_id if other is None else other.RequestId)


@fault("server-cancel-compares-only-low-31-bits-of-request-id", breaks="MQQP-2.2.2.1-04", blind=True)
class ServerCancelComparesOnlyLow31BitsOfRequestId(RemoteReadEnding):
    """RemoteQMCancelReceive compares only the low 31 bits of dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for entry in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(h_queue):
            if not (entry.RequestId ^ request_id) & 0x7FFFFFFF:
                return Status.MQ_OK, entry
        return super().find_read_to_cancel(h_queue, request_id)


add(
    "server-dw-request-id-in-use-accepted",
    ("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"),
    "The server accepts a read with a dwRequestID that is in use.",
    omit_step(RemoteReadStarting.check_request_id),
)


@fault("client-request-id-reused-before-end-receive", breaks="MQQP-2.2.2.1-05", blind=True)
class ClientRequestIdReusedBeforeEndReceive(ClientMessageReading):
    """The client assigns the dwRequestID of a pending read by a cursor also to the next read."""

    def create_pending_read(self, read: RemoteRead) -> Any:
        entry = super().create_pending_read(read)
        if read.CursorHandle:
            self.qm.remote_client.last_request_id -= 1
        return entry

    def assign_request_id(self) -> int:
        client = self.qm.remote_client
        client.last_request_id += 1
        return client.last_request_id


add(
    "server-nonzero-reserved-refused",
    "MQQP-2.2.2.1-06",
    "The server refuses a read whose Reserved is not 0.",
    refuse_nonzero_field("Reserved"),
)


add(
    "client-refuses-read-answer-with-changed-reserved-field",
    "MQQP-2.2.2.1-06",
    "The client treats a response whose Reserved is not 1 as malformed.",
    refuse_answer_with_other_field_value("Reserved", 1),
)


@fault("server-read-with-reserved-not-0-does-not-wait", breaks="MQQP-2.2.2.1-06")
class ServerReadWithReservedNot0DoesNotWait(RemoteReadStarting):
    """The server does not wait for a message if Reserved of the request is not 0."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if desc["Reserved"]:
            entry.Timeout = 0
        return entry


@fault("client-refuses-read-answer-with-reserved-above-1", breaks="MQQP-2.2.2.1-06")
class ClientRefusesReadAnswerWithReservedAbove1(ClientMessageReading):
    """The client treats a read as failed if Reserved of the answer is above 1."""

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if desc["Reserved"] not in (0, 1):
            raise RemoteError("Reserved of the answer is above 1")
        return super().reconstruct_message(results, server)


@fault("server-peek-with-reserved-refused", breaks="MQQP-2.2.2.1-06")
class ServerPeekWithReservedRefused(ReadRefuser):
    """The server refuses a peek whose Reserved is 0xFFFFFFFF."""

    def is_refused(self, desc: ReadDescription) -> bool:
        return desc["Reserved"] == 0xFFFFFFFF and desc["ulAction"] not in RECEIVE_ACTIONS


@fault("client-refuses-second-read-response-with-reserved-0", breaks="MQQP-2.2.2.1-06")
class ClientRefusesSecondReadResponseWithReserved0(ClientMessageReading):
    """The client refuses a message whose Reserved is 0, in the second read of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        self.count += 1
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if self.count > 1 and desc is not None and desc["Reserved"] == 0:
            raise RemoteError("Reserved of the answer is 0")
        return super().reconstruct_message(results, server)


@fault("server-lookup-with-nonzero-reserved-refused", breaks="MQQP-2.2.2.1-06", blind=True)
class ServerLookupWithNonzeroReservedRefused(RemoteReadStarting):
    """The server refuses a read by LookupIdentifier whose Reserved is above 1."""

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["Reserved"] > 1 else super().check_lookup_queue(desc)
