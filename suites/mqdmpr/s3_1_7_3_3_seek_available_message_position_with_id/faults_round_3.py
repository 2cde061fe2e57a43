"""Faults that break rules of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id."""

from __future__ import annotations

from bisect import bisect_left

from harness.faults.parts import fault
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status


@fault("queue-manager-lookup-expects-ascending-identifiers", breaks="MQDMPR-3.1.7.3.3-29", blind=True)
class QueueManagerLookupExpectsAscendingIdentifiers(Seeking):
    """A search for the current message expects ascending LookupIdentifiers, and does not find a message that was
    moved behind a newer message.
    """

    def seek_with_identifier(
        self,
        queue: Queue,
        lookup_id: int,
        peek_operation: bool,
        lookup_action: MessageSeekAction,
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is not None:
            known = [position.LookupIdentifier for position in queue.MessagePositionList]
            if known[bisect_left(known, lookup_id) :][:1] != [lookup_id]:
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
