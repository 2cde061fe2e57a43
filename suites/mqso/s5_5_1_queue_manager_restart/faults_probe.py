"""Faults of MS-MQSO 5.5.1 that an author wrote without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durability import Durability
from reference_qm.core.store.entries import message_entry
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import DeliveryGuarantee


@fault("sender-waiting-express-message-survives-restart", breaks="MQSO-5.5.1-06", blind=True)
class SenderWaitingExpressMessageSurvivesRestart(Durability):
    """The sender saves an express message in an outgoing queue, so that it is sent after a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change: Change = super().build_send_record(position)
        message = position.MessageReference
        if (
            self.qm.disk.used
            and isinstance(position.QueueReference, OutgoingQueue)
            and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        ):
            position.key = self.qm.next_persist_token()
            change |= message_entry(position, serialize_message(message).build())
        return change
