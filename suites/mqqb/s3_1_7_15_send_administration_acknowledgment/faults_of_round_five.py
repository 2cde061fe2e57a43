"""Blind violations of round five: MS-MQQB 3.1.7.15 Send Administration Acknowledgment."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.store.entries import build_removal_change, is_removal_reported
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now


@fault("receiver-acknowledgment-of-purged-subqueue-class-q-deleted", breaks="MQQB-3.1.7.15-07", blind=True)
class ReceiverAcknowledgmentOfPurgedSubqueueClassQDeleted(FinalAcks):
    """The receiver sets Class of the administration acknowledgment for a message in a purged subqueue to
    NackQueueDeleted.
    """

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        queue = position.QueueReference
        in_subqueue = queue.parent is not None and queue in queue.parent.SubqueueCollection.values()
        if not in_subqueue or reason is not MessageClass.MQMSG_CLASS_NACK_Q_PURGED:
            super().on_message_position_deleted(position, reason, now)
        elif is_removal_reported(position, reason):
            wrong = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
            self.qm.admin_acks.acknowledge_receive(position.MessageReference, wrong, now)
            self.send_final_ack_of_message(position, reason, now)
            self.qm.disk.save(build_removal_change([position]))
