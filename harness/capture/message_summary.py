"""Store the values of a UserMessage that steps need while they wait for messages. The values are stored when the
packet arrives, so that waiting steps need not parse the packet again.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from reference_qm.codec import MessageIdentifier, UserMessagePacket


class MessageSummary(NamedTuple):
    """Fields of a UserMessage, named as in the documents: MS-MQMQ 2.2.19.2 (UserHeader) and 2.2.19.3 (all other
    fields).
    """

    SourceQueueManager: UUID
    MessageID: int
    MessageClass: int
    ApplicationTag: int
    CorrelationID: bytes
    """The CorrelationID, 20 bytes. In an acknowledgment, it is the identifier of the acknowledged message."""

    @classmethod
    def from_packet(cls, packet: UserMessagePacket) -> MessageSummary:
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
    def acknowledged_message_identifier(self) -> MessageIdentifier:
        """The identifier of the message that an acknowledgment acknowledges."""
        return MessageIdentifier.parse(self.CorrelationID)
