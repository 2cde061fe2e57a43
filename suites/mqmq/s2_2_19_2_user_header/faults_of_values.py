"""Faults of MS-MQMQ 2.2.19.2 UserHeader that only some values of messages reveal."""

from __future__ import annotations

from uuid import UUID

from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket

add(
    "sender-sets-queue-manager-address-if-priority-7-message-requests-acks",
    "MQMQ-2.2.19.2-02",
    "The sender's UserMessage to a direct name carries a QueueManagerAddress if its priority is 7 and it "
    "requests acknowledgments.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.QueueManagerAddress": UUID(int=7)},
        lambda packet: packet.BaseHeader.PR == 7 and packet.MessagePropertiesHeader.Flags,
    ),
)
