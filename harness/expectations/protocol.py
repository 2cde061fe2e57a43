"""Expectations of protocol behavior. They state that a connection is closed, or that messages are acknowledged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from harness.capture.recorder import Frame
from harness.expectations.base import Expectation, ExpectationDifference
from harness.expectations.items import ListedItems
from reference_qm.codec import MessageClass, MessageIdentifier

CLOSED_BY_SUT_TEXT = "connection closed by the SUT"


class ConnectionWithObservedEnd(Protocol):
    """The interface of an object that records how a connection ended, such as a conversation with the SUT."""

    @property
    def closed_by_sut(self) -> bool:
        """Whether the SUT closed the connection."""

    def outcome(self) -> str:
        """Return a description of the last action of the SUT."""


@dataclass(frozen=True, slots=True, eq=False)
class ClosedBySut(Expectation):
    """The expectation that the SUT closed the observed connection."""

    def __str__(self) -> str:
        return CLOSED_BY_SUT_TEXT

    def show(self, observed: ConnectionWithObservedEnd) -> str:
        return CLOSED_BY_SUT_TEXT if observed.closed_by_sut else observed.outcome()

    def compare(self, observed: ConnectionWithObservedEnd) -> ExpectationDifference | None:
        return None if observed.closed_by_sut else ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class Acknowledgment(Expectation):
    """The expectation of an acknowledgment. Its CorrelationID must identify the given message, and it must have the
    given message class, if one is given.
    """

    message: MessageIdentifier
    of_class: int | None

    def __str__(self) -> str:
        return _describe_class_and_message(self.of_class, self.message)

    def show(self, observed: Frame | None) -> str:
        return describe_acknowledgment(observed)

    def compare(self, observed: Frame | None) -> ExpectationDifference | None:
        found = None if observed is None else observed.message
        if (
            found is not None
            and found.acknowledged_message_identifier == self.message
            and self.of_class in (None, found.MessageClass)
        ):
            return None
        return ExpectationDifference(self.show(observed))


def connection_closed_by_sut() -> ClosedBySut:
    """Return the expectation that the SUT closed a connection. The value to judge is the conversation on the
    connection.
    """
    return ClosedBySut()


def acknowledgment(message: Any, of_class: int | None = None) -> Acknowledgment:
    """Return the expectation of an acknowledgment for a message, which is given as a packet or frame. The
    observation is the frame of the acknowledgment.
    """
    user = message["UserHeader"]
    return Acknowledgment(MessageIdentifier(user.SourceQueueManager, user.MessageID), of_class)


def acknowledged(*messages: Any, of_class: int | None = None) -> ListedItems:
    """Return the expectation of one acknowledgment for each of the given messages, in any order, and of no other
    acknowledgment.
    """
    expected = [acknowledgment(message, of_class) for message in messages]
    return ListedItems(expected, ordered=False, name=describe_acknowledgment)


def describe_acknowledgment(frame: Frame | None) -> str:
    """Return a description of a received acknowledgment, with its class and the message that it acknowledges."""
    if frame is None or frame.message is None:
        return "nothing" if frame is None else frame.kind
    message = frame.message
    is_correlated = message.acknowledged_message_identifier.Ordinal != 0
    return (
        _describe_class_and_message(message.MessageClass, message.acknowledged_message_identifier)
        if is_correlated
        else get_class_name(message.MessageClass)
    )


def _describe_class_and_message(of_class: int | None, message: MessageIdentifier) -> str:
    kind = "an acknowledgment of" if of_class is None else f"{get_class_name(of_class)} for"
    return f"{kind} message {message.Ordinal}"


def get_class_name(value: int) -> str:
    """Return the name of a message class, or its number if it has no name."""
    known = {int(one): one.name.removeprefix("MQMSG_CLASS_") for one in MessageClass}
    return known.get(value, f"0x{value:04X}")
