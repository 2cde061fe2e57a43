"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def change_session_after_message_update(change: Callable[[Session, OutgoingMessagePosition], None]) -> Install:
    """Change the session and the position of a message after the message was updated."""

    class ChangedAfterUpdate(MessageSending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            change(session, position)
            return packet

    return replace_part(ChangedAfterUpdate)


Condition = Callable[[Any, Any, Any], bool]
"""The type of conditions: a function of the part, the session and the OutgoingMessagePosition."""


def is_express(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message is an express message."""
    return not position.recoverable


def is_recoverable(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message is recoverable but not transactional."""
    return bool(position.recoverable) and not position.TxSequenceNumber


def is_transactional(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message is transactional."""
    return bool(position.TxSequenceNumber)


def is_from_this_queue_manager(self: Any, session: Any, position: Any) -> bool:
    """Return whether the queue manager itself created the message."""
    return bool(position.UserMessage.MessagePropertiesHeader.MessageClass)


def has_high_priority(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message has a priority above 3."""
    return bool(position.UserMessage.BaseHeader.PR > 3)


def was_message_transmitted_before(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message was already sent on its session."""
    return bool(position.Transmitted)


def is_message_on_later_session(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message is sent on a connection other than the first connection."""
    earlier = self.__dict__.setdefault("sessions", {})
    first = earlier.setdefault("first", session.transport)
    return bool(first != session.transport)


def is_message_of_second_outgoing_queue(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message belongs to an outgoing queue other than the first outgoing queue."""
    first = self.__dict__.setdefault("first_queue", session.number)
    return bool(first != session.number)


def has_large_body(self: Any, session: Any, position: Any) -> bool:
    """Return whether the message has a body of more than 4 KB."""
    return len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4096


MESSAGE_CONDITIONS_WITH_NAME_AND_TEXT: tuple[tuple[str, str, Condition], ...] = (
    ("express-message", "an express message", is_express),
    ("recoverable-message", "a recoverable message", is_recoverable),
    ("transactional-message", "a transactional message", is_transactional),
    ("own-message", "a message that it created itself", is_from_this_queue_manager),
    ("urgent-message", "a message with a priority above 3", has_high_priority),
    ("resent-message", "a message that it sends again on the same session", was_message_transmitted_before),
    ("message-on-later-connection", "a message on a later connection", is_message_on_later_session),
    ("message-of-second-queue", "a message of the second outgoing queue", is_message_of_second_outgoing_queue),
    ("large-message", "a message with a body of more than 4 KB", has_large_body),
)

TEXT_AND_CONDITION_BY_NAME = {name: (words, when) for name, words, when in MESSAGE_CONDITIONS_WITH_NAME_AND_TEXT}
"""The description and the condition of each kind of message, by its name in names of faults."""
