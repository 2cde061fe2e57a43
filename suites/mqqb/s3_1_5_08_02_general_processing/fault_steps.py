"""Steps that several fault files of this section share."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import (
    MessageClass,
)
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

MISSING_QUEUE_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


def omit_nack_of_express_message(refused: MessageClass) -> Install:
    """Omit negative acknowledgments of the given class for express messages."""

    class Omitted(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
            if message_class is not refused or not express:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(Omitted)
