"""Faults of MS-MQQB 3.1.7.1.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("router-expired-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class RouterExpiredMessageNotAcknowledged(AdminAcks):
    """A router sends no negative acknowledgment for a routed message that expires before it is sent."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            super().acknowledge_expiration(message, now)
