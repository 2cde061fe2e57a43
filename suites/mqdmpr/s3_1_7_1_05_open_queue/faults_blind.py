"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid5

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("queue-manager-open-queue-sharing-checked-against-newest-opening", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class QueueManagerOpenQueueSharingCheckedAgainstNewestOpening(QueueOpening):
    """When a queue is opened, the queue manager checks only the sharing mode of the newest handle of that queue, and
    ignores earlier handles.
    """

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        opened = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = dict(list(opened.items())[-1:])
        try:
            return super().is_shared(queue, required_access, shared_mode)
        finally:
            queue.OpenQueueDescriptorCollection = opened


def _close_last_only(
    original: Callable[[QM, OpenQueueDescriptor], None], *_: object
) -> Callable[[QM, OpenQueueDescriptor], None]:
    def close(qm: QM, several: OpenQueueDescriptor) -> None:
        del several.OpenQueueDescriptorCollection[:-1]
        original(qm, several)

    return close


add(
    "queue-manager-several-queues-only-last-one-closed-after-failure",
    "MQDMPR-3.1.7.1.5-29",
    "When one of several queues cannot be opened, the queue manager closes only the queue that it opened last.",
    during(QueueOpening._open_several, QueueOpening.close_queue, _close_last_only),
    blind=True,
)


@fault("queue-manager-outgoing-queue-identifier-same-for-one-host", breaks="MQDMPR-3.1.7.1.5-80", blind=True)
class QueueManagerOutgoingQueueIdentifierSameForOneHost(Destinations):
    """The queue manager assigns the same Identifier to all outgoing queues whose destination queues are on the same
    computer.
    """

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        queue = super().open_outgoing(text, now)
        queue.Identifier = uuid5(self.qm.adm.Identifier, text.lower().partition("\\")[0])
        return queue
