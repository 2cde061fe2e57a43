"""Store the values of a UserMessage that steps need while they wait for messages. The values are stored when the packet
arrives, so that a waiting step does not parse the packet again.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reference_qm.codec import MessageIdentifier, UserMessagePacket


class MessageSummary(NamedTuple):
    """Fields of a UserMessage, with the names in the documents: MS-MQMQ 2.2.19.2 (UserHeader), 2.2.19.3 (all other
    fields).
    """

    SourceQueueManager: UUID
    MessageID: int
    MessageClass: int
    ApplicationTag: int
    CorrelationID: bytes
    """20 bytes; in an acknowledgment, the identifier of the acknowledged message."""

    @classmethod
    def of(cls, packet: UserMessagePacket) -> MessageSummary:
        """Return the summary of a message that the strict codec parsed."""
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
        """The identifier of the message that an acknowledgment acknowledges."""
        return MessageIdentifier.parse(self.CorrelationID)
