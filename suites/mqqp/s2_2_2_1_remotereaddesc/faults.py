"""Faults of MS-MQQP 2.2.2.1 REMOTEREADDESC."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, during, inputs, skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import FormatError
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcBytes

# -- the server -------------------------------------------------------------------------------------------------------


@fault("server-answer-dw-arrive-time-zero", breaks="MQQP-2.2.2.1-07")
class ServerAnswerDwArriveTimeZero(RemoteReads):
    """The server returns dwArriveTime 0."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": 0}


@fault("server-answer-dw-arrive-time-in-minutes", breaks="MQQP-2.2.2.1-08")
class ServerAnswerDwArriveTimeInMinutes(RemoteReads):
    """The server returns dwArriveTime in minutes, not in seconds."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        described = super().describe_remote_message(position)
        return described | {"dwArriveTime": described["dwArriveTime"] // 60}


@fault("server-infinite-ul-timeout-cut-to-1-second", breaks=("MQQP-2.2.2.1-02", "MQDMPR-3.1.2.3-03"))
class ServerInfiniteUlTimeoutCutTo1Second(RemoteReads):
    """The server lets a read with ulTimeout 0xFFFFFFFF wait for only one second."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout == INFINITE_MS:
            entry.Timeout = 1000
        super().remote_receive(entry, descriptor, cursor, now)


@fault("server-cancel-receive-ends-wrong-read", breaks="MQQP-2.2.2.1-04")
class ServerCancelReceiveEndsWrongRead(RemoteEnding):
    """If a queue has several waiting reads, RemoteQMCancelReceive cancels a read with a different dwRequestID instead
    of the requested read.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        other = next((one for one in entries if one.RequestId != request_id), None)
        return super().find_read_to_cancel(h_queue, request_id if other is None else other.RequestId)


def _refuse_nonzero_field(name: str) -> Install:
    """Build a fault in which the server refuses a REMOTEREADDESC with a nonzero value in a field that servers must
    ignore.
    """

    class Refusing(RemoteStarting):
        def check_description(self, desc: Desc | None) -> Status:
            if desc is not None and desc[name]:
                return Status.MQ_ERROR_INVALID_PARAMETER
            return super().check_description(desc)

    return replace_part(Refusing)


add(
    "server-nonzero-reserved-refused",
    "MQQP-2.2.2.1-06",
    "The server refuses a read whose Reserved is not 0.",
    _refuse_nonzero_field("Reserved"),
)
add(
    "server-nonzero-e-ack-nack-refused",
    "MQQP-2.2.2.1-09",
    "The server refuses a read whose eAckNack is not 0.",
    _refuse_nonzero_field("eAckNack"),
)


@fault("server-answer-reserved-copied-from-request", breaks="MQQP-2.2.2.1-D03")
class ServerAnswerReservedCopiedFromRequest(RemoteReads):
    """The server returns the value of Reserved from the request instead of 1."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        given = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]

        def keep_reserved_field(value: Any) -> Any:
            if second is None:
                return value | {"Reserved": given["Reserved"]}
            return value | {"pRemoteReadDesc": value["pRemoteReadDesc"] | {"Reserved": given["Reserved"]}}

        name = "lpRemoteReadDesc" if second is None else "lpRemoteReadDesc2"
        super().answer_read(
            call if given is None else change_answer_values(call, **{name: keep_reserved_field}), status, entry
        )


@fault("server-answer-packet-cut-at-64-kib", breaks="MQQP-2.2.2.1-D04")
class ServerAnswerPacketCutAt64Kib(RemoteReads):
    """The server returns only the first 65,535 bytes of a packet."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position)[:0xFFFF]


TOO_LARGE_DW_SIZE = (0x0042_0001).to_bytes(4, "little")


def _accept_any_size(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytes):
        event = replace(event, data=event.data.replace(TOO_LARGE_DW_SIZE, bytes(4)))
    return [event]


add(
    "server-dw-size-above-range-accepted",
    "MQQP-2.2.2.1-D02",
    "The server accepts a dwSize above 0x00420000.",
    inputs(_accept_any_size),
)

# -- the client -------------------------------------------------------------------------------------------------------


@fault("client-sends-infinite-ul-timeout-with-one-digit-less", breaks="MQQP-2.2.2.1-02")
class ClientSendsInfiniteUlTimeoutWithOneDigitLess(ClientReading):
    """The client sets ulTimeout to 0x0FFFFFFF in a read without a timeout."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"ulTimeout": described["ulTimeout"] & 0x0FFFFFFF}


def _refuse_answer_unless(name: str, usual: int) -> Install:
    """Build a fault in which the client treats a response as malformed if a field that clients must ignore has a value
    other than the expected one.
    """

    class MalformedUnless(ClientReading):
        def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
            both = results.get("lpRemoteReadDesc2") or {"pRemoteReadDesc": results.get("lpRemoteReadDesc")}
            if both["pRemoteReadDesc"][name] != usual:
                raise FormatError(name, 0, "a fault", f"is not {usual}")
            return super().reconstruct_message(results, server)

    return replace_part(MalformedUnless)


add(
    "client-refuses-read-answer-with-changed-reserved-field",
    "MQQP-2.2.2.1-06",
    "The client treats a response whose Reserved is not 1 as malformed.",
    _refuse_answer_unless("Reserved", 1),
)
add(
    "client-refuses-read-answer-with-nonzero-e-ack-nack",
    "MQQP-2.2.2.1-09",
    "The client treats a response whose eAckNack is not 0 as malformed.",
    _refuse_answer_unless("eAckNack", 0),
)


@fault("server-answer-dw-arrive-time-is-sent-time", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerAnswerDwArriveTimeIsSentTime(RemoteReads):
    """The server returns SentTime of the message in dwArriveTime."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": position.MessageReference.SentTime}


@fault(
    "server-answer-lp-buffer-null",
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
class ServerAnswerLpBufferNull(RemoteReads):
    """The server returns lpBuffer NULL and dwSize 0."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"lpBuffer": None, "dwSize": 0}


add(
    "server-dw-request-id-in-use-accepted",
    ("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"),
    "The server accepts a read with a dwRequestID that is in use.",
    skip(RemoteStarting.check_request_id),
)


def _accept_any_cursor(original: Callable[..., Cursor | None], *outer: Any) -> Callable[..., Cursor | None]:
    def find_remote_cursor(qm: Any, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        return original(qm, descriptor, handle) or next(iter(descriptor.CursorCollection.values()), None)

    return find_remote_cursor


add(
    "server-unknown-h-cursor-means-first-cursor",
    ("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12", "MQQP-2.2.2.1-01", "MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"),
    "The server reads by the first cursor of the queue if hCursor is not a cursor of the queue.",
    both(
        during(RemoteStarting.remote_qm_start_receive, RemoteStarting.find_remote_cursor, _accept_any_cursor),
        during(RemoteStarting.remote_qm_start_receive2, RemoteStarting.find_remote_cursor, _accept_any_cursor),
    ),
)
