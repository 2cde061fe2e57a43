"""Expectations of packets from the SUT: by kind, by fields, or by the class of an acknowledgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.capture.recorder import Frame
from harness.expectations.base import Expectation, ExpectationDifference
from harness.expectations.fields import NamedValues, fields
from harness.expectations.items import ListedItems
from harness.expectations.protocol import (
    CLOSED_BY_SUT_TEXT,
    ConnectionWithObservedEnd,
    describe_acknowledgment,
    get_class_name,
)

NO_PACKETS_TEXT = "nothing"


class AnsweringConversation(ConnectionWithObservedEnd, Protocol):
    """The interface of a conversation that records the packets from the SUT."""

    @property
    def received(self) -> Sequence[Frame]:
        """The packets that the SUT sent."""


class Packet(Expectation):
    """The expectation of a packet that has the given fields, and the given kind if one is given.

    The observation is the packet. If no packet was received, the observation is None or the conversation.
    """

    def __init__(self, kind: str | None, wanted: NamedValues | None) -> None:
        self.kind = kind
        self.wanted = None if wanted is None else wanted.with_name(kind or "")

    def __str__(self) -> str:
        return _append_text(self.kind or "a packet of any kind", str(self.wanted) if self.wanted else None)

    def show(self, observed: Frame | ConnectionWithObservedEnd | None) -> str:
        if not isinstance(observed, Frame):
            return NO_PACKETS_TEXT if observed is None else observed.outcome()
        is_comparable = self.wanted is not None and self.kind in (None, observed.kind)
        return _append_text(observed.kind, self.wanted.show(observed) if self.wanted and is_comparable else None)

    def compare(self, observed: Frame | ConnectionWithObservedEnd | None) -> ExpectationDifference | None:
        is_kept = (
            isinstance(observed, Frame)
            and self.kind in (None, observed.kind)
            and (self.wanted is None or self.wanted.compare(observed) is None)
        )
        return None if is_kept else ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class AcknowledgmentOfClass(Expectation):
    """The expectation of an acknowledgment with a given MessageClass. The observation is the frame of the
    acknowledgment, or None.
    """

    value: int

    def __str__(self) -> str:
        return get_class_name(self.value)

    def show(self, observed: Frame | None) -> str:
        return describe_acknowledgment(observed)

    def compare(self, observed: Frame | None) -> ExpectationDifference | None:
        message = None if observed is None else observed.message
        is_kept = message is not None and message.MessageClass == self.value
        return None if is_kept else ExpectationDifference(self.show(observed))


@dataclass(frozen=True, slots=True, eq=False)
class ClosedWithoutAnswer(Expectation):
    """The expectation that the SUT closed the observed conversation and sent no packets after the first
    ``known_packet_count`` packets.
    """

    known_packet_count: int

    def __str__(self) -> str:
        return f"{CLOSED_BY_SUT_TEXT} without an answer"

    def show(self, observed: AnsweringConversation) -> str:
        answers = ", ".join(frame.kind for frame in observed.received[self.known_packet_count :])
        state = CLOSED_BY_SUT_TEXT if observed.closed_by_sut else observed.outcome()
        return f"{state} after answering {answers}" if answers else f"{state} without an answer"

    def compare(self, observed: AnsweringConversation) -> ExpectationDifference | None:
        is_kept = observed.closed_by_sut and len(observed.received) == self.known_packet_count
        return None if is_kept else ExpectationDifference(self.show(observed))


def packet(kind: str | None = None, wanted: Mapping[str, Any] | None = None) -> Packet:
    """Return the expectation of a packet that has the given fields, by printed name, and the given kind, such as
    ``SessionAck``, if one is given.

    The observation is the packet. If no packet was received, the observation is None, or the conversation, whose
    text describes the SUT's last action.
    """
    return Packet(kind, None if wanted is None else fields(wanted))


def packets(*expected: str | Packet) -> ListedItems:
    """Return the expectation of exactly the given packets, in this order. Each packet is given by its kind, or by a
    ``packet`` expectation with fields.
    """
    items = [packet(one) if isinstance(one, str) else one for one in expected]
    return ListedItems(items, ordered=True, name=_get_packet_kind)


def acknowledgment_of_class(value: int) -> AcknowledgmentOfClass:
    """Return the expectation of an acknowledgment with the given MessageClass. The observation is the frame of the
    acknowledgment.
    """
    return AcknowledgmentOfClass(value)


def acknowledgments_of_classes(*values: int) -> ListedItems:
    """Return the expectation of exactly one acknowledgment with each of the given classes, in any order, and of no
    other acknowledgment. The observation is the list of frames.
    """
    return ListedItems(map(AcknowledgmentOfClass, values), ordered=False, name=describe_acknowledgment)


def closed_without_answer(known: int) -> ClosedWithoutAnswer:
    """Return the expectation that the SUT closed a conversation and sent nothing after its first ``known`` packets."""
    return ClosedWithoutAnswer(known)


def _get_packet_kind(frame: Frame | None) -> str:
    return NO_PACKETS_TEXT if frame is None else frame.kind


def _append_text(kind: str, text: str | None) -> str:
    return f"{kind} with {text}" if text else kind
