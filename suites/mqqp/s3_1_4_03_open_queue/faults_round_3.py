"""Faults that break rules of MS-MQQP 3.1.4.3 RemoteQMOpenQueue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence


@fault("client-second-handle-of-queue-purged-without-open-queue", breaks="MQQP-3.1.4.3-07", blind=True)
class ClientSecondHandleOfQueuePurgedWithoutOpenQueue(ClientOpening):
    """The client does not call RemoteQMOpenQueue for a second handle of a queue that it has already opened, but purges
    the queue with this handle.
    """

    def call_open_queue(self, queue: RemoteQueue) -> Sequence:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            known = entry.queue.RemoteServer, entry.queue.FormatName
            if known == (queue.RemoteServer, queue.FormatName):
                return entry.RRSessionHandle
        return (yield from super().call_open_queue(queue))
