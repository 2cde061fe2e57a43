from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from reference_qm.codec import NULL_GUID, FormatError, UserMessagePacket, parse_packet
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.message_positions import build_lookup_identifier
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import CallMethodStep, RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, RemoteReadAck
from reference_qm.core.store.messages import deserialize_message
from reference_qm.model.adm import Message
from reference_qm.model.statuses import Status
from reference_qm.rpc import FaultStatus

HIGHEST_REQUEST_ID = 0xFFFFFFFF


class ServerVersion(NamedTuple):
    """The version that RemoteQmGetVersion returns. Spec: MS-MQQP 3.1.4.9."""

    Major: int
    Minor: int
    BuildNumber: int


class RemoteMessage(NamedTuple):
    """A message from a server. LookupIdentifier is a u64, or None if the server did not return it."""

    message: Message
    LookupIdentifier: int | None


class ClientMessageReading(QueueManagerPart):
    """Peeks at and receives messages of remote queues. Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6, 3.1.4.11.

    The four sections 3.2.4.2 to 3.2.4.6 specify the same sequence with different values of hCursor and ulAction.
    Only a received message is acknowledged.
    """

    __slots__ = ()

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        """Peek at or receive a message, with or without a cursor. Return a RemoteMessage.

        Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.
        """
        entry = read.entry = self.create_pending_read(read)
        try:
            found = yield from self._read_with_entry(read, entry)
        except RemoteError:
            self.remove_pending_read(entry)
            raise
        self.remove_pending_read(entry)
        return found

    def _read_with_entry(self, read: RemoteRead, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        version = yield from self.ask_server_version(read)
        if entry.is_cancelled_before_sending:
            raise _make_cancellation_error("before the request was sent to the server")
        entry.is_sent_to_server = True
        if read.LookupId is None and self.is_old_version(version):
            results = yield from self.start_receive(read)
        else:
            results = yield from self.start_receive2(read)
        self.store_remote_read_handle(entry, results["pphContext"])
        if entry not in self.qm.remote_client.PendingRemoteReadEntryCollection:
            return (
                yield from self._reject_received_message(
                    read, entry, _make_cancellation_error("after the server had sent the message")
                )
            )
        try:
            found = self.reconstruct_message(results, self.qm.server_names.find_server_identifier(read.queue))
        except FormatError as malformed:
            error = RemoteError(f"the server sent a malformed UserMessage Packet: {malformed}")
            return (yield from self._reject_received_message(read, entry, error))
        if read.receives:
            yield from self.call_end_receive(entry, RemoteReadAck.RR_ACK)
        return found

    def _reject_received_message(
        self, read: RemoteRead, entry: PendingRemoteReadEntry, error: RemoteError
    ) -> RemoteCallSequence:
        """Report to the server that a message was not received. The server then keeps the message. Spec: MS-MQQP
        3.1.4.2.
        """
        if read.receives:
            yield from self.call_end_receive(entry, RemoteReadAck.RR_NACK)
        raise error

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        """Add the entry of a new read. Spec: MS-MQQP 3.2.4.2."""
        entry = PendingRemoteReadEntry(
            OpenQueueDescriptorHandle=read.queue.QueueHandle,
            RequestId=self.assign_request_id(),
            queue=read.queue,
            token=read.token,
        )
        self.qm.remote_client.PendingRemoteReadEntryCollection.append(entry)
        return entry

    def assign_request_id(self) -> int:
        """Return a RequestId (u32) that differs from the RequestIds of all pending reads. Spec: MS-MQQP 3.2.4.2."""
        client = self.qm.remote_client
        taken = {entry.RequestId for entry in client.PendingRemoteReadEntryCollection}
        while True:
            client.last_request_id = client.last_request_id % HIGHEST_REQUEST_ID + 1
            if client.last_request_id not in taken:
                return client.last_request_id

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        """Call RemoteQmGetVersion and return a Version, or None if the server does not have this method (note
        <21>).

        Spec: MS-MQQP 3.2.4.2, 3.1.4.9.
        """
        assert read.queue.binding is not None
        try:
            found = yield CallMethodStep(read.queue.binding, "RemoteQmGetVersion", {}, self.qm.settings.remote_call_ms)
        except RemoteError as error:
            if error.status == FaultStatus.NCA_S_OP_RNG_ERROR:
                return None
            raise
        return ServerVersion(found["pMajor"], found["pMinor"], found["pBuildNumber"])

    def is_old_version(self, version: ServerVersion | None) -> bool:
        """Return whether a server with the given version lacks RemoteQMStartReceive2. Spec: MS-MQQP 3.2.4.2.

        The third condition of the document (version 5.0 with a build below 951) is included in the second
        condition.
        """
        return version is None or (version.Major, version.Minor) < (5, 1)

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        """Return the REMOTEREADDESC for a read. Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6, 2.2.2.1."""
        assert read.entry is not None
        return {
            "hRemoteQueue": read.queue.QueueHandle,
            "hCursor": read.CursorHandle,
            "ulAction": int(read.Action),
            "ulTimeout": read.TimeOut,
            "dwSize": 0,
            "dwQueue": read.queue.QueueDescriptor,
            "dwRequestID": read.entry.RequestId,
            "Reserved": 0,
            "dwArriveTime": 0,
            "eAckNack": 0,
            "lpBuffer": None,
        }

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        """Return the REMOTEREADDESC2 for a read. Spec: MS-MQQP 3.2.4.2, 2.2.2.2."""
        return {"pRemoteReadDesc": self.build_start_receive_description(read), "SequentialId": 0}

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        """Call RemoteQMStartReceive and return its results by name. Spec: MS-MQQP 3.2.4.2, 3.1.4.1."""
        arguments = {"lpRemoteReadDesc": self.build_start_receive_description(read)}
        return (yield from self._call_start_method(read, "RemoteQMStartReceive", arguments))

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        """Call RemoteQMStartReceive2 or RemoteQMStartReceiveByLookupId, and return the results by name.

        Spec: MS-MQQP 3.2.4.2, 3.1.4.10, 3.1.4.11.
        """
        arguments: dict[str, Any] = {"lpRemoteReadDesc2": self.build_start_receive2_description(read)}
        if read.LookupId is None:
            return (yield from self._call_start_method(read, "RemoteQMStartReceive2", arguments))
        arguments["LookupId"] = read.LookupId
        return (yield from self._call_start_method(read, "RemoteQMStartReceiveByLookupId", arguments))

    def _call_start_method(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> RemoteCallSequence:
        """Call a method that waits for a message; raise RemoteError if the read was cancelled.

        The results of a cancelled read contain neither a message nor a failure HRESULT.
        """
        assert read.queue.binding is not None
        timeout = (
            None
            if read.TimeOut == INFINITE_MS
            else read.TimeOut * self.qm.settings.scale + self.qm.settings.remote_call_ms
        )
        results = yield CallMethodStep(read.queue.binding, method, arguments, timeout)
        self.qm.server_bindings.check(method, results)
        if results["Return"] == Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT:
            raise RemoteError(
                "the read was cancelled (MS-MQQP 3.2.4.7)", Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
            )
        return results

    def store_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        """Store the context handle that the server returned for a read. Spec: MS-MQQP 3.2.4.2."""
        entry.RemoteReadHandle = handle

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        """Build the message that the server returned; raise FormatError for invalid results. Spec: MS-MQQP 3.2.4.2,
        MS-MQMQ 2.2.18, 2.2.20.

        SequentialId contains only the seven low bytes of the LookupIdentifier (3.1.4.10).
        RemoteQMStartReceiveByLookupId requires all eight bytes. The high byte is derived from the message
        (MS-MQDMPR 3.1.7.1.9). ``server`` is the Identifier of the queue manager that has the message. This
        Identifier is needed because a message to a direct name has NULL as its QueueManagerAddress (E28).
        """
        sequential_id = None
        description = results.get("lpRemoteReadDesc")
        if description is None:
            description, sequential_id = (
                results["lpRemoteReadDesc2"][name] for name in ("pRemoteReadDesc", "SequentialId")
            )
        if description is None or description["lpBuffer"] is None:
            raise FormatError("lpBuffer", 0, "MS-MQQP 2.2.2.1", "the pointer is NULL although a message was read")
        packet = parse_packet(bytes(description["lpBuffer"]))
        if not isinstance(packet, UserMessagePacket):
            raise FormatError("lpBuffer", 0, "MS-MQQP 2.2.2.1", f"the value contains a {type(packet).__name__}")
        owner = packet.UserHeader.QueueManagerAddress
        message = deserialize_message(packet, server if owner == NULL_GUID else owner, description["dwArriveTime"])
        return RemoteMessage(
            message, None if sequential_id is None else build_lookup_identifier(message, sequential_id)
        )

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        """Call RemoteQMEndReceive, which reports whether a message was received. Spec: MS-MQQP 3.2.4.3, 3.1.4.2."""
        assert entry.queue.binding is not None
        arguments = {"pphContext": entry.RemoteReadHandle, "dwAck": int(ack)}
        results = yield CallMethodStep(
            entry.queue.binding, "RemoteQMEndReceive", arguments, self.qm.settings.remote_call_ms
        )
        self.qm.server_bindings.check("RemoteQMEndReceive", results)

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        """Remove the entry of a read that has ended, unless a cancel has already removed the entry. Spec: MS-MQQP
        3.2.4.2, 3.2.4.7.
        """
        if entry in self.qm.remote_client.PendingRemoteReadEntryCollection:
            self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)


def _make_cancellation_error(when: str) -> RemoteError:
    return RemoteError(f"the read was cancelled {when}", Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT)
