"""Faults that break rules of MS-MQDMPR 3.1.1.2 Queue, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status


@fault(
    "queue-manager-read-by-lookup-identifier-of-emptied-queue-returns-former-message",
    breaks="MQDMPR-3.1.1.2-21",
    blind=True,
)
class QueueManagerReadByLookupIdentifierOfEmptiedQueueReturnsFormerMessage(MessageSearch):
    """When an application peeks by LookupIdentifier at a queue that has been emptied, the queue manager returns the
    message that the last successful search by LookupIdentifier found in this queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        found_before: dict[Queue, MessagePosition] = vars(self).setdefault("found_before", {})
        status, position = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if position is not None:
            found_before[queue] = position
        elif peek_operation and not len(queue.MessagePositionList) and queue in found_before:
            return Status.MQ_OK, found_before[queue]
        return status, position
