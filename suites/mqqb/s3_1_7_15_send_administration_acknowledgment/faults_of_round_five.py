"""Faults of round five that break rules of MS-MQQB 3.1.7.15 Send Administration Acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import replace_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message


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
    replace_during(AdminAcks.send, Sending.construct_user_message, _copy_privacy_level),
    blind=True,
)
