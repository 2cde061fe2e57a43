"""Faults of MS-MQQP 2.2.2.1 that affect only one field of REMOTEREADDESC and one kind of read."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc import Call


def _with_desc(call: Call, **fields: Any) -> Call:
    if "lpRemoteReadDesc2" in call.arguments:

        def change_second(old: dict[str, Any]) -> dict[str, Any]:
            return {**old, "pRemoteReadDesc": {**old["pRemoteReadDesc"], **fields}}

        return change_answer_values(call, lpRemoteReadDesc2=change_second)
    return change_answer_values(call, lpRemoteReadDesc=lambda old: {**old, **fields})


@fault("server-arrive-time-of-returned-message-is-time-of-nack", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerArriveTimeOfReturnedMessageIsTimeOfNack(RemoteReads):
    """When the receive of a message ended with RR_NACK, the server returns a dwArriveTime that is one second too late
    in the next receive.
    """

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        seen = self.__dict__.setdefault("seen", set())
        if id(position) in seen:
            return {**found, "dwArriveTime": found["dwArriveTime"] + 1}
        return found

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, status, entry)
        if entry is not None and entry.UserMessagePacket is not None and entry.Action in RECEIVE_ACTIONS:
            self.__dict__.setdefault("seen", set()).add(id(entry.UserMessagePacket))


@fault("server-arrive-time-of-peek-0", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerArriveTimeOfPeek0(RemoteReads):
    """The server sets dwArriveTime to 0 for a peek."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action not in RECEIVE_ACTIONS:
            call = _with_desc(call, dwArriveTime=0)
        super().answer_read(call, status, entry)


@fault("server-arrive-time-in-local-time", breaks="MQQP-2.2.2.1-08", blind=True)
class ServerArriveTimeInLocalTime(RemoteReads):
    """The server sets dwArriveTime to the local time of a time zone that is one hour ahead of UTC."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return {**found, "dwArriveTime": found["dwArriveTime"] + 3600}


@fault("server-lookup-with-nonzero-reserved-refused", breaks="MQQP-2.2.2.1-06", blind=True)
class ServerLookupWithNonzeroReservedRefused(RemoteStarting):
    """The server refuses a read by LookupIdentifier whose Reserved is above 1."""

    def check_lookup_queue(self, desc: Desc) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["Reserved"] > 1 else super().check_lookup_queue(desc)


@fault("server-peek-with-eacknack-refused", breaks="MQQP-2.2.2.1-09", blind=True)
class ServerPeekWithEacknackRefused(RemoteStarting):
    """The server refuses a read by LookupIdentifier whose eAckNack is not 0."""

    def check_lookup_queue(self, desc: Desc) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["eAckNack"] else super().check_lookup_queue(desc)


@fault("server-reserved-of-failed-read-0", breaks="MQQP-2.2.2.1-D03", blind=True)
class ServerReservedOfFailedRead0(RemoteReads):
    """The server returns Reserved 0 for a peek."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action not in RECEIVE_ACTIONS:
            call = _with_desc(call, Reserved=0)
        super().answer_read(call, status, entry)


@fault("server-dwsize-of-timed-out-read-not-0", breaks=("MQQP-2.2.2.1-D02", "MQQP-2.2.2.1-03"), blind=True)
class ServerDwsizeOfTimedOutReadNot0(RemoteReads):
    """For a peek, the server returns the packet with 8 to 15 extra bytes, and counts these bytes in dwSize."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and entry.UserMessagePacket is not None and entry.Action not in RECEIVE_ACTIONS:
            packet = self.serialize_remote_message(entry.UserMessagePacket)
            size = -(-len(packet) // 8) * 8 + 8
            call = _with_desc(call, dwSize=size, lpBuffer=packet + bytes(size - len(packet)))
        super().answer_read(call, status, entry)


@fault(
    "server-call-timer-restarted-by-arrival-for-other-reader", breaks=("MQQP-2.2.2.1-D01", "MQQP-3.1.2-03"), blind=True
)
class ServerCallTimerRestartedByArrivalForOtherReader(Waiting):
    """When a message arrives for one waiting read, the server restarts the Call Timers of the other waiting reads of
    the queue.
    """

    def release_readers(self, position: MessagePosition) -> None:
        super().release_readers(position)
        for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
            for reader in descriptor.WaitingMessageReadOperationCollection:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                if self.qm.timers.is_running(key):
                    self.qm.timers.start(key, self.qm.timers._running[key].due_ms, 2000)


@fault("client-receive-eacknack-refused-when-nack", breaks="MQQP-2.2.2.1-09", blind=True)
class ClientReceiveEacknackRefusedWhenNack(ClientReading):
    """The client treats a receive as failed if eAckNack of the answer is RR_NACK."""

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> Any:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if desc["eAckNack"] == 1:
            desc["lpBuffer"] = None
        return super().reconstruct_message(results, server)


@fault("client-lookup-reserved-1", breaks="MQQP-2.2.2.1-D03", blind=True)
class ClientLookupReserved1(ClientReading):
    """The client sets Reserved to 1 in a read by LookupIdentifier."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().describe_read(read), "Reserved": int(read.LookupId is not None)}


@fault("client-request-id-reused-before-end-receive", breaks="MQQP-2.2.2.1-05", blind=True)
class ClientRequestIdReusedBeforeEndReceive(ClientReading):
    """The client assigns the dwRequestID of a pending read by a cursor also to the next read."""

    def create_pending_read(self, read: RemoteRead) -> Any:
        entry = super().create_pending_read(read)
        if read.CursorHandle:
            self.qm.remote_client.last_request_id -= 1
        return entry

    def new_request_id(self) -> int:
        client = self.qm.remote_client
        client.last_request_id += 1
        return client.last_request_id


@fault("server-cancel-finds-request-id-in-low-31-bits", breaks="MQQP-2.2.2.1-04", blind=True)
class ServerCancelFindsRequestIdInLow31Bits(RemoteEnding):
    """RemoteQMCancelReceive compares only the low 31 bits of dwRequestID."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        for entry in self.qm.remote.RemoteReadEntryCollection.of(h_queue):
            if not (entry.RequestId ^ request_id) & 0x7FFFFFFF:
                return Status.MQ_OK, entry
        return super().find_read_to_cancel(h_queue, request_id)
