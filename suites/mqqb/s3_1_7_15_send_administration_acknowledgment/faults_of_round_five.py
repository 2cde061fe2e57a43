"""Faults that break rules of MS-MQQB 3.1.7.15, written without knowledge of the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.store.entries import build_removal_change, is_removal_reported
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.surface.clock import Now


def _copy_privacy_level(
    original: Callable[..., Any], qm: object, message: Message, message_class: MessageClass, *rest: object
) -> Callable[..., Any]:
    level = 0 if message.security is None else message.security.PrivacyLevel
    if not level or message_class is not MessageClass.MQMSG_CLASS_ACK_RECEIVE:
        return original
    return lambda *arguments: set_fields(original(*arguments), {"MessagePropertiesHeader.PrivacyLevel": level})


add(
    "receiver-receive-ack-privacy-level-of-encrypted-message",
    "MQQB-3.1.7.15-D06",
    "The receiver copies PrivacyLevel of an encrypted message into the acknowledgment that the message was received.",
    replace_method_during(AdminAcks.send, MessageSending.construct_user_message, _copy_privacy_level),
    blind=True,
)


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
