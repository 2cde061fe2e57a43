"""Faults of round five that break rules of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending


def _copy_privacy_level(
    original: Callable[..., Any], qm: object, session: object, packet: UserMessagePacket, *rest: object
) -> Callable[..., Any]:
    level = packet.MessagePropertiesHeader.PrivacyLevel
    if not level:
        return original
    return lambda *arguments: set_fields(original(*arguments), {"MessagePropertiesHeader.PrivacyLevel": level})


add(
    "receiver-negative-final-ack-privacy-level-of-refused-message",
    "MQQB-3.1.7.17-D02",
    "The receiver copies PrivacyLevel of a refused encrypted message into the FinalAck of this message.",
    replace_method_during(
        FinalAcks.send_negative_final_ack, MessageSending.construct_user_message, _copy_privacy_level
    ),
    blind=True,
)
