"""Faults of round five that break rules of MS-MQDMPR 3.1.1 Abstract Data Model."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK
from reference_qm.model.adm import MessagePosition


@fault("queue-manager-moved-message-position-of-arrival-after-restart", breaks="MQDMPR-3.1.1.11-07", blind=True)
class QueueManagerMovedMessagePositionOfArrivalAfterRestart(StateRestoring):
    """After a restart, the queue manager sorts the recoverable messages of a queue by their LookupIdentifier, so that a
    message that was moved into the queue after a newer message is placed before this newer message.
    """

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        super()._insert_message(position, lookup_identifier)
        positions = position.QueueReference.MessagePositionList
        number = position.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_MASK
        newer = [
            one
            for one in positions
            if one.MessageReference.Priority == position.MessageReference.Priority
            and one.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_MASK > number
        ]
        for one in sorted(newer, key=lambda one: one.LookupIdentifier):
            state = one.State
            positions.remove(one)
            one.State = state
            positions.insert(one)
