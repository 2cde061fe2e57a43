"""Predicates on the identifiers of messages. Spec: MS-MQMQ 2.2.18.1.3, 2.2.19.2."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import Context, Finding, NotExercised, Recent, Summary, record_of

MESSAGE = "UserMessage"


class Messages(Summary):
    """The messages that a SUT has sent on a connection: of each identifier the properties that came first, hashed."""

    def __init__(self) -> None:
        self.first = Recent[tuple[Any, int], int]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Note a message."""
        record = record_of(frame) if frame.from_sut and frame.kind == MESSAGE else None
        if record is not None:
            user, properties = record.UserHeader, record.MessagePropertiesHeader
            self.first.keep((user.SourceQueueManager, user.MessageID), hash(properties))


def ordinal(packet: Any, context: Context) -> Finding:
    """Compare with the messages sent before: the same identifier means the same message, sent again."""
    user, messages = packet.UserHeader, context.before(Messages)
    if not messages.first:
        return NotExercised("it is the first message on its connection")
    first = messages.first.get((user.SourceQueueManager, user.MessageID))
    if first is not None and first != hash(packet.MessagePropertiesHeader):
        return False, f"MessageID {user.MessageID} is that of another message too"
    return True, f"MessageID is {user.MessageID}"
