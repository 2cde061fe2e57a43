"""Faults of MS-MQQP 2.2.2.1 REMOTEREADDESC."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, during, inputs, skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import answering
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


@fault("remote-arrival-time-unset", breaks="MQQP-2.2.2.1-07")
class ArrivalTimeUnset(RemoteReads):
    """dwArriveTime is 0."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": 0}


@fault("remote-arrival-time-in-minutes", breaks="MQQP-2.2.2.1-08")
class ArrivalTimeInMinutes(RemoteReads):
    """dwArriveTime is in minutes."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        described = super().describe_remote_message(position)
        return described | {"dwArriveTime": described["dwArriveTime"] // 60}


@fault("remote-infinite-is-a-second", breaks=("MQQP-2.2.2.1-02", "MQDMPR-3.1.2.3-03"))
class InfiniteIsASecond(RemoteReads):
    """0xFFFFFFFF is a second."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if entry.Timeout == INFINITE_MS:
            entry.Timeout = 1000
        super().remote_receive(entry, descriptor, cursor, now)


@fault("remote-cancel-other-cancelled", breaks="MQQP-2.2.2.1-04")
class OtherReadCancelled(RemoteEnding):
    """Another read is cancelled, if there is one."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        other = next((one for one in entries if one.RequestId != request_id), None)
        return super().find_read_to_cancel(h_queue, request_id if other is None else other.RequestId)


def _refusing(name: str) -> Install:
    """Refuse descriptions in which a field, which a server ignores, is not 0."""

    class Refusing(RemoteStarting):
        def check_description(self, desc: Desc | None) -> Status:
            if desc is not None and desc[name]:
                return Status.MQ_ERROR_INVALID_PARAMETER
            return super().check_description(desc)

    return replace_part(Refusing)


add("remote-reserved-matters", "MQQP-2.2.2.1-06", "Reserved has to be 0.", _refusing("Reserved"))
add("remote-ack-nack-matters", "MQQP-2.2.2.1-09", "eAckNack has to be 0.", _refusing("eAckNack"))


@fault("remote-reserved-of-client", breaks="MQQP-2.2.2.1-D03")
class ReservedOfClient(RemoteReads):
    """Reserved comes back as it went."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        given = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]

        def kept(value: Any) -> Any:
            if second is None:
                return value | {"Reserved": given["Reserved"]}
            return value | {"pRemoteReadDesc": value["pRemoteReadDesc"] | {"Reserved": given["Reserved"]}}

        name = "lpRemoteReadDesc" if second is None else "lpRemoteReadDesc2"
        super().answer_read(call if given is None else answering(call, **{name: kept}), status, entry)


@fault("remote-packet-cut", breaks="MQQP-2.2.2.1-D04")
class PacketCut(RemoteReads):
    """A packet of more than 64 KiB comes without its end."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position)[:0xFFFF]


BEYOND = (0x0042_0001).to_bytes(4, "little")


def _any_size(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytes):
        event = replace(event, data=event.data.replace(BEYOND, bytes(4)))
    return [event]


add("remote-size-range-ignored", "MQQP-2.2.2.1-D02", "A dwSize above 0x00420000 is taken.", inputs(_any_size))

# -- the client -------------------------------------------------------------------------------------------------------


@fault("remote-read-infinite-short", breaks="MQQP-2.2.2.1-02")
class InfiniteShort(ClientReading):
    """An infinite time-out is one hexadecimal digit short, as it was printed once."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        return described | {"ulTimeout": described["ulTimeout"] & 0x0FFFFFFF}


def _malformed_unless(name: str, usual: int) -> Install:
    """Take an answer for malformed in which a field, which a client ignores, has another value than is usual."""

    class MalformedUnless(ClientReading):
        def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
            both = results.get("lpRemoteReadDesc2") or {"pRemoteReadDesc": results.get("lpRemoteReadDesc")}
            if both["pRemoteReadDesc"][name] != usual:
                raise FormatError(name, 0, "a fault", f"is not {usual}")
            return super().reconstruct_message(results, server)

    return replace_part(MalformedUnless)


add(
    "remote-read-minds-reserved",
    "MQQP-2.2.2.1-06",
    "Reserved has to be what it is mostly.",
    _malformed_unless("Reserved", 1),
)
add("remote-read-minds-ack", "MQQP-2.2.2.1-09", "eAckNack has to be zero.", _malformed_unless("eAckNack", 0))


@fault("arrive-time-is-the-sent-time", breaks="MQQP-2.2.2.1-07", blind=True)
class ArriveTimeIsTheSentTime(RemoteReads):
    """dwArriveTime is when the message was sent."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": position.MessageReference.SentTime}


@fault(
    "remote-packet-left-out",
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
class PacketLeftOut(RemoteReads):
    """lpBuffer is NULL."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"lpBuffer": None, "dwSize": 0}


add(
    "remote-request-used-twice",
    ("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"),
    "A dwRequestID that is in use is taken.",
    skip(RemoteStarting.check_request_id),
)


def _any_cursor(original: Callable[..., Cursor | None], *outer: Any) -> Callable[..., Cursor | None]:
    def find_remote_cursor(qm: Any, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        return original(qm, descriptor, handle) or next(iter(descriptor.CursorCollection.values()), None)

    return find_remote_cursor


add(
    "remote-unknown-cursor-taken",
    ("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12", "MQQP-2.2.2.1-01", "MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"),
    "An unknown cursor is the first one.",
    both(
        during(RemoteStarting.remote_qm_start_receive, RemoteStarting.find_remote_cursor, _any_cursor),
        during(RemoteStarting.remote_qm_start_receive2, RemoteStarting.find_remote_cursor, _any_cursor),
    ),
)
