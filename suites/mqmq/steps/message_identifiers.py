"""Predicates on the identifiers of messages. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import (
    ConnectionSummary,
    Context,
    Finding,
    NotExercised,
    RecentValues,
    parse_frame_strictly,
)

USER_MESSAGE_KIND = "UserMessage"


class HashesOfSentMessagesByIdentifier(ConnectionSummary):
    """For each identifier of a message from the SUT on a connection, a hash of the properties of the first message with
    that identifier.
    """

    def __init__(self) -> None:
        self.first = RecentValues[tuple[Any, int], int]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Remember a message of the SUT."""
        record = parse_frame_strictly(frame) if frame.from_sut and frame.kind == USER_MESSAGE_KIND else None
        if record is not None:
            user, properties = record.UserHeader, record.MessagePropertiesHeader
            self.first.store_new_value((user.SourceQueueManager, user.MessageID), hash(properties))


def check_message_id_ordinal(packet: Any, context: Context) -> Finding:
    """Check that a message whose identifier has been used before is the earlier message, sent again."""
    user, messages = packet.UserHeader, context.before(HashesOfSentMessagesByIdentifier)
    if not messages.first:
        return NotExercised("the message is the first message on its connection")
    first = messages.first.get((user.SourceQueueManager, user.MessageID))
    if first is not None and first != hash(packet.MessagePropertiesHeader):
        return False, f"MessageID {user.MessageID} is also the MessageID of another message"
    return True, f"MessageID is {user.MessageID}"
