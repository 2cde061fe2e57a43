"""Faults of round five that break rules of MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.cursors import CursorResult, Cursors
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor
from reference_qm.model.enums import CursorState, SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import CursorStatus


@fault("queue-manager-search-of-second-receive-by-cursor-backward", breaks="MQDMPR-3.1.7.3.2-03", blind=True)
class QueueManagerSearchOfSecondReceiveByCursorBackward(Cursors):
    """After a receive by a cursor, the queue manager searches the message for the next receive by this cursor backward,
    if there is a message before the cursor.
    """

    def get_next_message_for_dequeue(self, cursor: Cursor, no_wait: bool) -> CursorResult:
        place = cursor.MessagePositionReference
        if cursor.CursorState is CursorState.UNREAD and not isinstance(place, Boundary):
            earlier = self.qm.seeking.seek_available(place, False, SeekDirection.BACKWARD)
            if earlier is not None:
                return CursorStatus.SUCCEEDED, earlier
        return super().get_next_message_for_dequeue(cursor, no_wait)


@fault("queue-manager-search-from-deleted-message-begins-at-start", breaks="MQDMPR-3.1.7.3.2-11", blind=True)
class QueueManagerSearchFromDeletedMessageBeginsAtStart(Seeking):
    """A forward search that starts at a message that was deleted checks the first message of the queue first."""

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        if (
            isinstance(initial_position, MessagePosition)
            and initial_position.State is MessagePositionState.DELETED
            and seek_direction is SeekDirection.FORWARD
        ):
            initial_position = initial_position.QueueReference.MessagePositionList.Start
        return super().seek_available(initial_position, peek_operation, seek_direction)
