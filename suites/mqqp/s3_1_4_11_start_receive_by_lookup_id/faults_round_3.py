"""Faults that break rules of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, LOW_7_BYTES, RemoteReads
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

PREVIOUS_ACTIONS = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)


@fault("client-lookup-peek-next-hcursor-of-open-cursor", breaks="MQQP-3.1.4.11-11", blind=True)
class ClientLookupPeekNextHcursorOfOpenCursor(ClientReading):
    """The client sets hCursor of a LOOKUP_PEEK_NEXT to the cursor that it has opened for the queue."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read(read)
        if read.Action is ReadAction.MQ_LOOKUP_PEEK_NEXT:
            for queue, cursor in self.qm.remote_client.cursors.values():
                if queue is read.queue:
                    described["hCursor"] = cursor
        return described


@fault("server-lookup-prev-in-order-of-arrival", breaks="MQQP-3.1.4.11-44", blind=True)
class ServerLookupPrevInOrderOfArrival(RemoteReads):
    """For a PREV action, the server reads the message that arrived before the message with the given LookupId, even
    if messages with different priorities are between them in the queue.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        named = None if queue is None else queue.MessagePositionList.find(lookup_id)
        if entry.Action not in PREVIOUS_ACTIONS or lookup_id == LAST_LOOKUP_ID or queue is None or named is None:
            super().remote_read_by_lookup(entry, descriptor, lookup_id)
            return
        peek = entry.Action not in RECEIVE_ACTIONS
        earlier = [
            one
            for one in queue.MessagePositionList
            if one.LookupIdentifier & LOW_7_BYTES < lookup_id & LOW_7_BYTES and self.qm.seeking.is_readable(one, peek)
        ]
        if not earlier:
            self.complete_remote_read(entry, Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        found = max(earlier, key=lambda one: one.LookupIdentifier & LOW_7_BYTES)
        self.qm.reading.read_by_lookup_identifier(
            descriptor,
            found.LookupIdentifier,
            MessageSeekAction.CURRENT,
            self._build_completion(entry),
            peek,
            two_phase_read=True,
        )


@fault("server-lookup-receive-next-after-locked-message-refused", breaks="MQQP-3.1.4.11-D05", blind=True)
class ServerLookupReceiveNextAfterLockedMessageRefused(RemoteReads):
    """The server returns MQ_ERROR_MESSAGE_NOT_FOUND from a LOOKUP_RECEIVE_NEXT whose LookupId belongs to a message
    that is locked by a receive.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        named = None if queue is None else queue.MessagePositionList.find(lookup_id)
        is_locked = named is not None and named.State is MessagePositionState.LOCKED
        if is_locked and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            self.complete_remote_read(entry, Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
        else:
            super().remote_read_by_lookup(entry, descriptor, lookup_id)
