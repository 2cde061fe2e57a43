"""An application that takes messages of a queue of the SUT, in transactions or not, and what their sender learns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.applications import Application
from suites.mqqb.steps.disposition import (
    RECEIVE,
    AcknowledgingReceiver,
    arrives,
    correlation,
    final_identifier,
    identifier,
)

WAIT_MS = 60_000


class AcknowledgedApplication(Application):
    """An application of whose messages the peer wants to know what became of each."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool) -> None:
        super().__init__(peer, sut, transactional=transactional)
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.sequence = self.receiver.sequence
        self.sent: dict[str, Frame] = {}

    def fill(self, *labels: str, **base: Any) -> list[Frame]:
        """Send messages, wait for the last, return them; ConformanceFailure when it does not come into the queue."""
        for label in labels:
            self._give(label, base=base)
        if arrives(self.sut, self.receiver.session, labels[-1], self.queue) != "in its queue":
            raise ConformanceFailure("the SUT did not take the messages")
        return [self.sent[label] for label in labels]

    def _give(self, label: str, **headers: Any) -> None:
        asks: dict[str, Any] = {"properties": {"PR": 1, "NR": 1}, **headers}
        if self.transactional:
            asks["transaction"] = {"FA": 1}
        self.sent[label] = self.receiver.give(self.packet(label, self.receiver.administered(), **asks))

    def wait_for(self, label: str, verb: str, **arguments: Any) -> None:
        """Let a read wait, then send the message that it waits for."""
        number = self.sut.control.begin(verb, timeout_ms=WAIT_MS, **arguments)
        self.peer.settle()
        self._give(label)
        self.peer.eventually(lambda: self.sut.control.answer(number) is not None)

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
