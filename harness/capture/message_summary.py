"""The values of a UserMessage that waiting steps need, kept when it arrives: no wait reads a packet twice."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reference_qm.codec import MessageIdentifier, UserMessagePacket


class MessageSummary(NamedTuple):
    """Fields of a UserMessage under their printed names: MS-MQMQ 2.2.19.2 (UserHeader), 2.2.19.3 (the others)."""

    SourceQueueManager: UUID
    MessageID: int
    MessageClass: int
    ApplicationTag: int
    CorrelationID: bytes
    """20 bytes; of an acknowledgment the identifier of the message that it answers."""

    @classmethod
    def of(cls, packet: UserMessagePacket) -> MessageSummary:
        """Summarise the strict codec's record of a message."""
        user, properties = packet.UserHeader, packet.MessagePropertiesHeader
        return cls(
            user.SourceQueueManager,
            user.MessageID,
            properties.MessageClass,
            properties.ApplicationTag,
            properties.CorrelationID,
        )

    @property
    def answered(self) -> MessageIdentifier:
        """The identifier of the message that an acknowledgment answers."""
        return MessageIdentifier.parse(self.CorrelationID)
