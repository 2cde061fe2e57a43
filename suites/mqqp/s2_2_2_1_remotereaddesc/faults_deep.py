"""Faults of MS-MQQP 2.2.2.1 REMOTEREADDESC that only special cases reveal: waits, other methods and reserved fields."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


class _Answer(RemoteReads):
    def change(self, desc: Desc, call: Call, entry: RemoteReadEntry | None, status: Status) -> dict[str, Any]:
        """Return the fields of the answer that get wrong values."""
        return {}

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        def change_desc(given: Desc | None) -> Desc | None:
            return given if given is None else {**given, **self.change(given, call, entry, status)}

        def change_desc2(given: dict[str, Any]) -> dict[str, Any]:
            return {**given, "pRemoteReadDesc": change_desc(given["pRemoteReadDesc"])}

        if "lpRemoteReadDesc2" in call.arguments:
            call = change_answer_values(call, lpRemoteReadDesc2=change_desc2)
        else:
            call = change_answer_values(call, lpRemoteReadDesc=change_desc)
        super().answer_read(call, status, entry)


@fault("server-dwarrivetime-time-of-read", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeTimeOfRead(RemoteReads):
    """The server sets dwArriveTime of a receive to the time of the receive."""

    now_s = 0

    def remote_receive(self, entry: RemoteReadEntry, descriptor: Any, cursor: Any, now: Now) -> None:
        self.now_s = now.utc_s
        super().remote_receive(entry, descriptor, cursor, now)
        self.now_s = 0

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        given = super().describe_remote_message(position)
        return {**given, "dwArriveTime": self.now_s or given["dwArriveTime"]}


@fault("server-dwarrivetime-of-waited-read-0", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeOfWaitedRead0(_Answer):
    """The server sets dwArriveTime to 0 for a read that waited for its message."""

    def change(self, desc: Desc, call: Call, entry: RemoteReadEntry | None, status: Status) -> dict[str, Any]:
        return {"dwArriveTime": 0} if entry is not None and entry.Timeout else {}


@fault("server-dwarrivetime-time-of-sending", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeTimeOfSending(RemoteReads):
    """The server sets dwArriveTime to the SentTime of the message."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        given = super().describe_remote_message(position)
        return {**given, "dwArriveTime": position.MessageReference.SentTime}


@fault("server-reserved-of-lookup-copied", breaks="MQQP-2.2.2.1-D03")
class ServerReservedOfLookupCopied(_Answer):
    """The server copies Reserved of the request to the answer of RemoteQMStartReceiveByLookupId."""

    def change(self, desc: Desc, call: Call, entry: RemoteReadEntry | None, status: Status) -> dict[str, Any]:
        if call.method.name != "RemoteQMStartReceiveByLookupId":
            return {}
        return {"Reserved": call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]["Reserved"]}


@fault("server-eacknack-2-ends-receive", breaks="MQQP-2.2.2.1-09")
class ServerEacknack2EndsReceive(RemoteReads):
    """The server removes the message of a receive at once when eAckNack of the request is RR_ACK."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        desc = entry.call.arguments.get("lpRemoteReadDesc")
        desc = desc or entry.call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if position is not None and desc["eAckNack"] == 2 and position.State.name == "LOCKED":
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-read-with-reserved-not-0-does-not-wait", breaks="MQQP-2.2.2.1-06")
class ServerReadWithReservedNot0DoesNotWait(RemoteStarting):
    """The server does not wait for a message if Reserved of the request is not 0."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if desc["Reserved"]:
            entry.Timeout = 0
        return entry


@fault("server-endless-read-ends-after-one-hour", breaks="MQQP-2.2.2.1-02")
class ServerEndlessReadEndsAfterOneHour(RemoteStarting):
    """The server ends a read without a timeout after one hour."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if entry.Timeout == INFINITE_MS:
            entry.Timeout = 3_600_000
        return entry


@fault("client-reserved-above-1-of-answer-refused", breaks="MQQP-2.2.2.1-06")
class ClientReservedAbove1OfAnswerRefused(ClientReading):
    """The client treats a read as failed if Reserved of the answer is above 1."""

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if desc["Reserved"] not in (0, 1):
            raise RemoteError("Reserved is wrong")
        return super().reconstruct_message(results, server)


@fault("client-eacknack-of-answer-used-as-ack", breaks="MQQP-2.2.2.1-09")
class ClientEacknackOfAnswerUsedAsAck(ClientReading):
    """The client does not end a receive when eAckNack of the answer is RR_ACK."""

    acked = False

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        self.acked = desc["eAckNack"] == 2
        return super().reconstruct_message(results, server)

    def end_receive(self, entry: Any, ack: Any) -> Sequence:
        if not self.acked:
            yield from super().end_receive(entry, ack)


@fault("client-reserved-1-in-read-by-cursor", breaks="MQQP-2.2.2.1-D03")
class ClientReserved1InReadByCursor(ClientReading):
    """The client sets Reserved to 1 in a read by a cursor."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().describe_read(read), "Reserved": int(bool(read.CursorHandle))}
