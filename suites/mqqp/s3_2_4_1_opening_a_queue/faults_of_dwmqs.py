"""Faults in dwMQS of later openings (MS-MQQP 3.2.4.1)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening


@fault("client-open-queue-dw-mqs-1-while-other-queue-is-open", breaks="MQQP-3.2.4.1-11", blind=True)
class ClientOpenQueueDwMqs1WhileOtherQueueIsOpen(ClientQueueOpening):
    """The client sets dwMQS to 1 while another remote queue is open."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        arguments = super().build_open_queue_arguments(queue)
        return {**arguments, "dwMQS": 1} if self.qm.remote_client.queues else arguments


@fault("client-open-queue-dw-mqs-1-for-queue-opened-to-peek", breaks="MQQP-3.2.4.1-11", blind=True)
class ClientOpenQueueDwMqs1ForQueueOpenedToPeek(ClientQueueOpening):
    """The client sets dwMQS to 1 when it opens a queue to peek."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        arguments = super().build_open_queue_arguments(queue)
        return arguments if queue.may_receive else {**arguments, "dwMQS": 1}
