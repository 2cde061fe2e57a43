"""Steps of an application that receives messages from a queue of the SUT, whose acknowledgments go to the sender of the
messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.applications import Application
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    get_correlation_id,
    get_final_ack_identifier,
    identifier,
)


class AcknowledgedApplication(Application):
    """Lets an application receive messages from the peer, each of which requests an acknowledgment."""

    READ_TIMEOUT_MS = 60_000
    """The timeout of reads that wait for a message."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool) -> None:
        super().__init__(peer, sut, transactional=transactional)
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.sequence = self.receiver.sequence
        self.sent: dict[str, Frame] = {}

    def fill_queue(self, *labels: str, **base: Any) -> list[Frame]:
        """Send messages, wait for the last message, and return all; raise ConformanceFailure if the last
        message is not in the queue.
        """
        for label in labels:
            self._send_message(label, base=base)
        if not self.peer.await_label(labels[-1], self.queue):
            raise ConformanceFailure("the SUT did not accept the messages")
        return [self.sent[label] for label in labels]

    def _send_message(self, label: str, **headers: Any) -> None:
        requests: dict[str, Any] = {"properties": {"PR": 1, "NR": 1}, **headers}
        if self.transactional:
            requests["transaction"] = {"FA": 1}
        self.sent[label] = self.receiver.send_packet(
            self.build_message(label, self.receiver.add_admin_queue_fields(), **requests)
        )

    def begin_read_before_arrival(self, label: str, verb: str, **arguments: Any) -> None:
        """Begin a read that waits for a message, and then send the message."""
        number = self.sut.control.begin(verb, timeout_ms=self.READ_TIMEOUT_MS, **arguments)
        self.peer.settle()
        self._send_message(label)
        self.peer.eventually(lambda: self.sut.control.answer(number) is not None)

    def await_receive_acks(self, count: int) -> list[str]:
        """Wait for the given number of acknowledgments; return the sorted labels of the messages with ACK_RECEIVE."""
        self.receiver.await_acks(count)
        return self.list_labels(
            map(get_correlation_id, self.receiver.list_acks_of_class(AckClass.RECEIVE, *self.sent.values()))
        )

    def await_final_acks(self, count: int) -> list[str]:
        """Wait for the given number of FinalAcks; return the sorted labels of the messages with a FinalAck."""
        came = self.receiver.await_messages_of_sut(self.receiver.list_final_acks, count)
        return self.list_labels(map(get_final_ack_identifier, came))

    def list_labels(self, identifiers: Iterable[str]) -> list[str]:
        """Return the labels of the messages with the given identifiers, sorted."""
        labels = {identifier(frame): label for label, frame in self.sent.items()}
        return sorted(labels.get(one, "another") for one in identifiers)
