"""Faults of a client whose server accepts one call at a time on a connection: MQQP-3.2.4.1-08."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError


@fault("client-does-not-call-server-without-multiplexing", breaks="MQQP-3.2.4.1-08")
class ClientDoesNotCallServerWithoutMultiplexing(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue if the server did not set PFC_CONC_MPX in its bind_ack."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        if queue.binding is not None and not queue.binding.association.multiplexed:
            raise RemoteError("the server does not multiplex calls")
        return (yield from super().call_open_queue(queue))
