"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment that occur only with some values of a message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

WRONG_PRIORITY = 4


@fault("receiver-ignores-pa-of-recoverable-message-above-priority-4", breaks="MQQB-3.1.7.15-06")
class ReceiverIgnoresPaOfRecoverableMessageAbovePriority4(AdminAcks):
    """The receiver does not acknowledge the arrival of a recoverable message with PA whose priority is above 4."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Priority <= WRONG_PRIORITY or message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().acknowledge_arrival(position, now)
