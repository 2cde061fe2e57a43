"""An application that takes messages of a queue of the SUT, in transactions or not, and what their sender learns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.messages import recoverable_message
from suites.mqqb.steps.disposition import (
    RECEIVE,
    AcknowledgingReceiver,
    arrives,
    correlation,
    final_identifier,
    identifier,
)
from suites.mqqb.steps.opening import settle
from suites.mqqb.steps.sender import eventually

WAIT_MS = 60_000


class Application:
    """An application that takes the messages of one queue of the SUT, to each of which the peer wants an answer."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool) -> None:
        self.peer = peer
        self.sut = sut
        self.queue = sut.new_queue("taken", transactional=transactional)
        self.transactional = transactional
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.sent: dict[str, Frame] = {}

    def fill(self, *labels: str) -> None:
        """Send messages, and wait for the last; ConformanceFailure when it does not come into the queue."""
        for label in labels:
            self._give(label)
        if arrives(self.sut, self.receiver.connections[0], labels[-1], self.queue) != "in its queue":
            raise ConformanceFailure("the SUT did not take the messages")

    def _give(self, label: str) -> None:
        asks: dict[str, Any] = {
            "destination": rf"TCP:{self.sut.address}\{self.queue}",
            "properties": {"PR": 1, "NR": 1},
            "label": label,
        }
        user = self.receiver.administered()
        if self.transactional:
            packet = self.receiver.sequence.message(user, transaction={"FA": 1}, **asks)
        else:
            packet = recoverable_message(self.peer, user, **asks)
        self.sent[label] = self.receiver.give(packet)

    def wait_for(self, label: str, verb: str, **arguments: Any) -> None:
        """Let a read wait, then send the message that it waits for."""
        number = self.sut.control.begin(verb, timeout_ms=WAIT_MS, **arguments)
        settle(self.peer)
        self._give(label)
        eventually(self.peer, lambda: self.sut.control.answer(number) is not None)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Ask for something."""
        return self.sut.control.call(verb, **arguments)

    def take(self, **where: Any) -> None:
        """Receive what is there."""
        self.call("receive", timeout_ms=0, **where)

    def begin(self, *, external: bool = False) -> str:
        """Begin a transaction."""
        return str(self.call("begin", external=external)["transaction"])

    def decide(self, verb: str, transaction: str, **arguments: Any) -> None:
        """Say what is to become of a transaction; a refusal shows in what becomes of its messages."""
        number = self.sut.control.begin(verb, transaction=transaction, **arguments)
        eventually(self.peer, lambda: self.sut.control.answer(number) is not None)

    def there(self) -> dict[str, int]:
        """Return the lookup identifiers of what can be received, by label."""
        return self.there_in(self.queue)

    def there_in(self, queue: str) -> dict[str, int]:
        """Return those of another queue."""
        messages = self.call("peek", queue=queue, limit=1_000)["messages"]
        return {str(one["label"]): int(one["lookup_id"]) for one in messages}

    def take_that(self, label: str, **arguments: Any) -> None:
        """Receive a message by its lookup identifier, if it is there."""
        there = self.there()
        if label in there:
            at = {"lookup_id": there[label], "seek": "current"}
            self.call("receive_by_lookup_id", queue=self.queue, **at, **arguments)

    def acknowledged(self, count: int) -> list[str]:
        """Wait for so many acknowledgments; return which messages have one of class ACK_RECEIVE, in order of labels."""
        self.receiver.await_acks(count)
        return self.labels_of(map(correlation, self.receiver.acks_of(RECEIVE, *self.sent.values())))

    def finally_acknowledged(self, count: int) -> list[str]:
        """Wait for so many FinalAcks; return which messages have one."""
        came = self.receiver.await_all(self.receiver.final_acks, count)
        return self.labels_of(map(final_identifier, came))

    def labels_of(self, identifiers: Iterable[str]) -> list[str]:
        """Return which messages have these identifiers, in order."""
        labels = {identifier(frame): label for label, frame in self.sent.items()}
        return sorted(labels.get(one, "another") for one in identifiers)
