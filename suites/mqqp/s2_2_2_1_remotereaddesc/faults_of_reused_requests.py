"""Faults in dwRequestIDs that are used again while certain reads are pending (MS-MQQP 2.2.2.1)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead


@fault("client-repeats-dw-request-id-of-pending-peek-in-receive", breaks="MQQP-2.2.2.1-05", blind=True)
class ClientRepeatsDwRequestIdOfPendingPeekInReceive(ClientMessageReading):
    """The client gives a receive the dwRequestID of a peek of the same queue that is pending."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        pending = [one for one in self.qm.remote_client.PendingRemoteReadEntryCollection if one.queue is read.queue]
        entry = super().create_pending_read(read)
        if read.receives and pending:
            entry.RequestId = pending[-1].RequestId
        return entry
