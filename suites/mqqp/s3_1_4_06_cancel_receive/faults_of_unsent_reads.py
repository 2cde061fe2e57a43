"""Faults of a client that cancels a read before the request of the read is sent (MS-MQQP 3.1.4.6)."""

from __future__ import annotations

from contextlib import suppress

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError


@fault("client-close-queue-calls-cancel-receive-for-unsent-reads", breaks="MQQP-3.1.4.6-03", blind=True)
class ClientCloseQueueCallsCancelReceiveForUnsentReads(ClientReadCancelling):
    """The client calls RemoteQMCancelReceive for reads that were not sent when it closes their queue."""

    def cancel_every_pending_read(self, queue: RemoteQueue) -> RemoteCallSequence:
        for entry in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if entry.queue is queue and not entry.is_sent_to_server:
                with suppress(RemoteError):
                    yield from self.call_cancel_receive(entry)
        yield from super().cancel_every_pending_read(queue)


@fault("client-calls-cancel-receive-for-unsent-read-beside-pending-read", breaks="MQQP-3.1.4.6-03", blind=True)
class ClientCallsCancelReceiveForUnsentReadBesidePendingRead(ClientReadCancelling):
    """The client calls RemoteQMCancelReceive for an unsent read while another read of the queue is pending."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> RemoteCallSequence:
        entry = self.find_pending_read(queue, request_id)
        others = self.qm.remote_client.PendingRemoteReadEntryCollection
        if not entry.is_sent_to_server and any(one.queue is queue and one.is_sent_to_server for one in others):
            with suppress(RemoteError):
                yield from self.call_cancel_receive(entry)
        yield from super().cancel_pending_read(queue, request_id)
