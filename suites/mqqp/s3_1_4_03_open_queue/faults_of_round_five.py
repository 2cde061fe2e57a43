"""Faults of round five that break rules of MS-MQQP 3.1.4.3 RemoteQMOpenQueue."""

from __future__ import annotations

from contextlib import suppress

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError


@fault("client-close-queue-called-before-second-open-queue", breaks="MQQP-3.1.4.3-04", blind=True)
class ClientCloseQueueCalledBeforeSecondOpenQueue(ClientQueueOpening):
    """When a client opens a remote queue that it has opened before, it calls RemoteQMCloseQueue with a NULL handle
    before RemoteQMOpenQueue.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.opened_names: set[str] = set()

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        if queue.FormatName in self.opened_names:
            assert queue.binding is not None
            with suppress(RemoteError):
                yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMCloseQueue", pphContext=None)
        self.opened_names.add(queue.FormatName)
        return (yield from super().call_open_queue(queue))
