"""Define all words that may describe the outcome of a cell in a state table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.sut.outcomes import Outcome

WAITS_OUTCOME = "waits"
CLOSED_OUTCOME = "closed"
SILENCE_OUTCOME = "nothing"
REFUSED_BY_ACCEPTOR_OUTCOME = "EstablishConnection with CS"

MEANING_BY_WORD: Mapping[str, str] = MappingProxyType(
    {
        Outcome.DONE: "the system carries out the request",
        Outcome.REFUSED: "the system refuses the request with any error",
        SILENCE_OUTCOME: "the system does not react, and a read finds no message",
        WAITS_OUTCOME: "the system does not answer the request within the silence window",
        CLOSED_OUTCOME: "the system closes the connection",
        "first": "the read returns the first message",
        "second": "the read returns the second message",
        "third": "the read returns the third message",
        "prepared": "the transaction is prepared",
        "committed": "the transaction is committed",
        "aborted": "the transaction is aborted",
        "accepted": "the message is in its queue",
        "discarded": "the message is acknowledged, and is not in its queue",
        "EstablishConnection": "the system sends an EstablishConnection packet without CS",
        REFUSED_BY_ACCEPTOR_OUTCOME: "the system sends an EstablishConnection packet with CS",
        "ConnectionParameters": "the system sends a ConnectionParameters packet",
        "SessionAck": "the system sends a SessionAck",
        "UserMessage": "the system sends a user message",
    }
)
"""The words for outcomes. The text of an outcome with several reactions consists of the words for these reactions,
in order, joined by `` + ``.
"""
PACKET_SEPARATOR = " + "


def describe_outcome(outcome: str) -> str:
    """Return an outcome as a sentence without a period. If the outcome contains an unknown word, return it
    unchanged.
    """
    if find_unknown_outcome_words(outcome):
        return outcome
    return ", then ".join(MEANING_BY_WORD[word] for word in outcome.split(PACKET_SEPARATOR))


def find_unknown_outcome_words(outcome: str) -> list[str]:
    """Return the words of an outcome that the vocabulary does not contain."""
    return [word for word in outcome.split(PACKET_SEPARATOR) if word not in MEANING_BY_WORD]
