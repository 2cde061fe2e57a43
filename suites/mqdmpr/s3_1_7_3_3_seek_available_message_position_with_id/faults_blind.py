"""Faults of MS-MQDMPR 3.1.7.3.3, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status


@fault("search-for-previous-message-ends-at-locked-message", breaks="MQDMPR-3.1.7.3.3-22", blind=True)
class SearchForPreviousMessageEndsAtLockedMessage(Seeking):
    """A search for the previous message ends without a message at a locked message, although an earlier message is
    available.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        if position is not None and lookup_action is MessageSeekAction.PREVIOUS:
            before = position.Previous
            if not isinstance(before, MessagePosition) or not self.is_readable(before, peek_operation):
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
