"""Faults with which express messages survive a restart."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_message_entry
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import DeliveryGuarantee


@fault("sender-express-message-in-outgoing-queue-kept-over-restart", breaks="MQSO-3.2.1-D01", blind=True)
class SenderExpressMessageInOutgoingQueueKeptOverRestart(DurableRecords):
    """The sender saves an express message that waits in an outgoing queue, and sends it after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        message = position.MessageReference
        waits = isinstance(position.QueueReference, OutgoingQueue)
        if self.qm.disk.used and waits and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            position.key = self.qm.assign_persist_token()
            change = change | build_message_entry(position, serialize_message(message).build())
        return change
