"""An application beside the system: it reads and sends through the control channel, alone and within transactions."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.messages import Sequence, recoverable_message
from suites.mqqb.steps.opening import opened
from suites.mqqb.steps.sender import eventually

LIMIT = 1_000


class Application:
    """An application that has one queue of the SUT for itself."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool = False) -> None:
        self.peer = peer
        self.sut = sut
        self.transactional = transactional
        self.queue = sut.new_queue("application", transactional=transactional)
        self.sequence = Sequence(peer)

    def fill(self, *labels: str, **base: Any) -> None:
        """Let the peer send messages to the queue; ConformanceFailure when they do not come there.

        ``base``: fields of BaseHeader.
        """
        before = len(self.labels())
        connection = opened(self.peer)
        for label in labels:
            rest: dict[str, Any] = {"destination": rf"TCP:{self.sut.address}\{self.queue}", "label": label}
            if self.transactional:
                connection.send(self.sequence.message(**rest))
            else:
                connection.send(recoverable_message(self.peer, base=base, **rest))
        if not self.await_labels(before + len(labels)):
            raise ConformanceFailure("the SUT did not take the messages")
        connection.close()

    def send(self, label: str, **fields: Any) -> None:
        """Let the SUT send a message to the queue, which is its own."""
        self.sut.send(rf"DIRECT=TCP:{self.sut.address}\{self.queue}", label=label, body=label, **fields)

    def shown(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Return the messages of the queue, or of another one, that can be received, in order."""
        return list(self.sut.control.call("peek", queue=queue or self.queue, limit=LIMIT)["messages"])

    def labels(self, queue: str | None = None) -> list[str]:
        """Return their labels."""
        return [str(one["label"]) for one in self.shown(queue)]

    def await_labels(self, count: int) -> bool:
        """Wait for so many messages; return whether they are there."""
        return eventually(self.peer, lambda: len(self.labels()) >= count)

    def identifiers(self, queue: str | None = None) -> dict[str, int]:
        """Return the LookupIdentifiers of the messages, by label."""
        return {str(one["label"]): int(one["lookup_id"]) for one in self.shown(queue)}

    def take(self, **how: Any) -> str | None:
        """Receive the first message; return its label, None when there is none."""
        return _label(self.sut.control.call("receive", queue=self.queue, timeout_ms=0, **how)["message"])

    def take_that(self, lookup_id: int, **how: Any) -> str | None:
        """Receive a message by its LookupIdentifier; return its label."""
        asked = {"queue": self.queue, "lookup_id": lookup_id, "seek": "current", **how}
        return _label(self.sut.control.call("receive_by_lookup_id", **asked)["message"])

    def begin(self, **how: Any) -> str:
        """Begin a transaction; return its identifier."""
        return str(self.sut.control.call("begin", **how)["transaction"])

    def decide(self, verb: str, transaction: str) -> None:
        """Commit or abort a transaction; a refusal shows in what becomes of its messages."""
        number = self.sut.control.begin(verb, transaction=transaction)
        eventually(self.peer, lambda: self.sut.control.answer(number) is not None)

    def operations(self, *transactions: str) -> dict[str, int]:
        """Return how many operations those of some transactions have that the SUT lists."""
        listed = {
            str(one["transaction"]): int(one["operations"]) for one in self.sut.control.call("list")["transactions"]
        }
        return {one: listed[one] for one in transactions if one in listed}


def _label(message: dict[str, Any] | None) -> str | None:
    return None if message is None else str(message["label"])
