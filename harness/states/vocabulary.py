"""Define all words that the outcome of a cell may use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.sut.outcomes import Outcome

WAITS = "waits"
CLOSED = "closed"
SILENCE = "nothing"
REFUSED_BY_ACCEPTOR = "EstablishConnection with CS"

VOCABULARY: Mapping[str, str] = MappingProxyType(
    {
        Outcome.DONE: "The system carries out the request.",
        Outcome.REFUSED: "The system refuses the request, or the read fails, with any error.",
        SILENCE: "The system does not react; a read finds no message.",
        WAITS: "The system does not answer the request within the silence window.",
        CLOSED: "The system closes the connection.",
        "first": "The read returns the first message.",
        "second": "The read returns the second message.",
        "third": "The read returns the third message.",
        "prepared": "The transaction is prepared.",
        "committed": "The transaction is committed.",
        "aborted": "The transaction is aborted.",
        "accepted": "The message is in its queue.",
        "discarded": "The message is acknowledged and not in its queue.",
        "EstablishConnection": "The system sends an EstablishConnection packet without CS.",
        REFUSED_BY_ACCEPTOR: "The system sends an EstablishConnection packet with CS.",
        "ConnectionParameters": "The system sends a ConnectionParameters packet.",
        "SessionAck": "The system sends a SessionAck.",
        "UserMessage": "The system sends a user message.",
    }
)
"""The words of outcomes. An outcome of several reactions joins their words, in order, with `` + ``."""
PACKET_SEPARATOR = " + "


def find_unknown_words(outcome: str) -> list[str]:
    """Return the words of an outcome that the vocabulary lacks."""
    return [word for word in outcome.split(PACKET_SEPARATOR) if word not in VOCABULARY]
