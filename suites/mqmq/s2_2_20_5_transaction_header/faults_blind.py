"""Faults of MS-MQMQ 2.2.20.5, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-omitted-for-deleted-queue", breaks="MQMQ-2.2.20.5-D02", blind=True)
class ReceiverFinalAckOmittedForDeletedQueue(FinalAcks):
    """The receiver sends no FinalAck for a message with FA that leaves its queue because the queue is deleted."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            super().acknowledge_final(position, reason, now)
