"""Faults of round five that break rules of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, SEEK_BY_READ_ACTION, RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-lookup-read-message-of-other-queue-returned", breaks="MQQP-3.1.4.11-37", blind=True)
class ServerLookupReadMessageOfOtherQueueReturned(RemoteReads):
    """If the open queue has no message with the LookupId of a RemoteQMStartReceiveByLookupId, the server reads the
    message with this LookupIdentifier in another queue.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        if queue is not None and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.queue_names.list_every_queue():
                if other.MessagePositionList.find(lookup_id) is not None:
                    descriptor = replace(descriptor, QueueReference=other)
                    break
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("server-lookup-read-request-id-in-use-after-failure", breaks="MQQP-3.1.4.11-56", blind=True)
class ServerLookupReadRequestIdInUseAfterFailure(RemoteReads):
    """The server does not remove the entry of a RemoteQMStartReceiveByLookupId that found no message, so that its
    dwRequestID stays in use.
    """

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is None and entry.Action in SEEK_BY_READ_ACTION:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("client-lookup-read-of-last-message-ul-timeout-infinite", breaks="MQQP-3.1.4.11-15", blind=True)
class ClientLookupReadOfLastMessageUlTimeoutInfinite(ClientMessageReading):
    """In a LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV for the last message, the client sets ulTimeout to 0xFFFFFFFF."""

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        backwards = read.Action in (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        if backwards and read.LookupId == LAST_LOOKUP_ID:
            described["pRemoteReadDesc"]["ulTimeout"] = INFINITE_MS
        return described


@fault("server-lookup-read-open-cursor-accepted", breaks="MQQP-3.1.4.11-24", blind=True)
class ServerLookupReadOpenCursorAccepted(RemoteReadStarting):
    """The server accepts a RemoteQMStartReceiveByLookupId whose hCursor is an open cursor of the queue handle."""

    def check_lookup_cursor(self, desc: ReadDescription) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        if descriptor is not None and self.find_remote_cursor(descriptor, desc["hCursor"]) is not None:
            return Status.MQ_OK
        return super().check_lookup_cursor(desc)


@fault("server-lookup-read-h-remote-queue-0-replaced-by-dw-queue", breaks="MQQP-3.1.4.11-22", blind=True)
class ServerLookupReadHRemoteQueue0ReplacedByDwQueue(RemoteReadStarting):
    """In a RemoteQMStartReceiveByLookupId with hRemoteQueue 0, the server reads from the queue that dwQueue names."""

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if desc is not None and desc["hRemoteQueue"] == 0:
            desc["hRemoteQueue"] = desc["dwQueue"]
        super().remote_qm_start_receive_by_lookup_id(call, now)
