"""Requests of applications and administrators to the SUT, and the outcomes of these requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import Peer
from harness.sut.outcomes import Outcome, get_label, get_outcome_of_answer, get_outcome_of_call
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.messages import Sequence

MAX_PEEKED_MESSAGES = 1_000


def list_computer_names(sut: Sut) -> tuple[str, ...]:
    """Return the names of the SUT's computer: the name from the SUT's agent and, if this name has a domain, the name
    without the domain.
    """
    name: str = sut.control.call("identity")["name"]
    short = name.partition(".")[0]
    return (name,) if short == name or short.isdigit() else (name, short)


class PendingRequest:
    """A request to the SUT whose answer may arrive later."""

    def __init__(self, peer: Peer, verb: str, **arguments: Any) -> None:
        self.peer = peer
        self.control = peer.sut.control
        self.number = self.control.begin(verb, **arguments)
        self.answer: dict[str, Any] | None = None

    def is_answered(self) -> bool:
        """Return whether the answer has arrived."""
        self.answer = self.answer or self.control.answer(self.number)
        return self.answer is not None

    def await_outcome(self) -> str:
        """Wait for the answer; return DONE, REFUSED or NO_ANSWER."""
        self.peer.eventually(self.is_answered)
        return get_outcome_of_answer(self.answer)

    def await_label(self) -> str:
        """Wait for the answer to a read; return the label of the message that was read, NOTHING, REFUSED
        or NO_ANSWER.
        """
        outcome = self.await_outcome()
        if self.answer is None or outcome != Outcome.DONE:
            return outcome
        return get_label(self.answer.get("message"))


class Application:
    """An application that uses one queue of the SUT exclusively, with and without transactions."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool = False) -> None:
        self.peer = peer
        self.sut = sut
        self.transactional = transactional
        self.queue = sut.new_queue("application", transactional=transactional)
        self.sequence = Sequence(peer)

    def fill_queue(self, *labels: str, **base: Any) -> list[Frame]:
        """Let the peer send messages to the queue, and return the messages.

        Raises ConformanceFailure if the messages do not arrive in the queue. ``base``: fields of BaseHeader.
        """
        count_before = len(self.labels())
        connection = self.peer.open_raw()
        packets = [connection.send(self.build_message(label, base=base)) for label in labels]
        if not self.await_message_count(count_before + len(labels)):
            raise ConformanceFailure("the SUT did not store the messages")
        connection.close()
        return packets

    def build_message(self, label: str, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **headers: Any) -> Any:
        """Build a message that the peer sends to the queue."""
        headers |= {"destination": rf"TCP:{self.sut.address}\{self.queue}", "label": label}
        if self.transactional:
            return self.sequence.message(user, **headers)
        return self.peer.recoverable_message(user, **headers)

    def send(self, label: str, **fields: Any) -> None:
        """Let the SUT send a message to the queue."""
        self.sut.send_here(self.queue, [label], **fields)

    def store(self, *labels: str) -> None:
        """Put messages into the queue: an application of the SUT sends the messages or, if the SUT lacks the facility
        ``send``, the peer sends them.
        """
        if not self.sut.has("send"):
            self.fill_queue(*labels)
            return
        for label in labels:
            self.send(label, delivery="transactional" if self.transactional else "express")

    def store_message_for_waiting_reader(self, label: str) -> None:
        """Put a message into the queue, as ``store`` does, while a reader waits for it; the reader receives the
        message.
        """
        if self.sut.has("send"):
            self.store(label)
        else:
            self.peer.open_raw().send(self.build_message(label))

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Execute a verb of the control channel and return its reply."""
        return self.sut.control.call(verb, **arguments)

    def messages(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Return the messages that can be received from the queue, or from a given queue, in order."""
        return list(self.call("peek", queue=queue or self.queue, limit=MAX_PEEKED_MESSAGES)["messages"])

    def labels(self, queue: str | None = None) -> list[str]:
        """Return the labels of the messages that can be received, in order."""
        return [one["label"] for one in self.messages(queue)]

    def await_message_count(self, count: int) -> bool:
        """Wait until the queue contains ``count`` messages; return whether the messages arrive in time."""
        return self.peer.eventually(lambda: len(self.labels()) >= count)

    def get_lookup_ids_by_label(self, queue: str | None = None) -> dict[str, int]:
        """Return the LookupIdentifiers of the messages, by label."""
        return {one["label"]: lookup_id(one) for one in self.messages(queue)}

    def receive(self, **how: Any) -> str:
        """Receive the first message of the queue, or of a given queue; return its label, or ``NOTHING``."""
        return self.sut.read_label("receive", **{"queue": self.queue, **how})

    def receive_by_label(self, label: str, **how: Any) -> str:
        """Receive the message with a label by its LookupIdentifier, if the message can be received; return the label,
        or ``NOTHING``.
        """
        lookup_ids = self.get_lookup_ids_by_label()
        if label not in lookup_ids:
            return Outcome.NOTHING
        arguments = {"queue": self.queue, "lookup_id": lookup_ids[label], "seek": "current", **how}
        return get_label(self.call("receive_by_lookup_id", **arguments)["message"])

    def begin_transaction(self, **how: Any) -> str:
        """Begin a transaction; return its identifier."""
        identifier: str = self.call("begin", **how)["transaction"]
        return identifier

    def end_transaction(self, verb: str, transaction: str, **how: Any) -> None:
        """Prepare, commit or abort a transaction. Ignore a refusal, because a check observes the result in the
        transaction's messages.
        """
        PendingRequest(self.peer, verb, transaction=transaction, **how).await_outcome()

    def count_operations_of_transactions(self, *transactions: str) -> dict[str, int]:
        """Return the number of operations of each of the given transactions that the SUT lists."""
        listed = {one["transaction"]: one["operations"] for one in self.call("list")["transactions"]}
        return {one: listed[one] for one in transactions if one in listed}


get_request_outcome, DONE, REFUSED = get_outcome_of_call, Outcome.DONE, Outcome.REFUSED
