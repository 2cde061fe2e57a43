"""Faults that break rules of MS-MQDMPR 3.1.7.1.4 Delete Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState


@fault("receiver-locked-message-of-deleted-queue-reported-as-purged", breaks="MQDMPR-3.1.7.1.4-05", blind=True)
class ReceiverLockedMessageOfDeletedQueueReportedAsPurged(Positions):
    """The acknowledgment for a message that a reader had locked when its queue was deleted has the class
    NACK_Q_PURGED.
    """

    def delete_message(self, position: MessagePosition, reason: MessageClass) -> None:
        locked = position.State is MessagePositionState.LOCKED and not position.awaits_disk
        if locked and reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        super().delete_message(position, reason)
