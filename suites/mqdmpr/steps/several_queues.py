"""Steps that checks of reads and transactions share: they fill and read two journaled queues and a subqueue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.expectations import in_queue
from harness.peer.peer import Peer
from harness.sut.outcomes import Outcome, get_label
from harness.sut.sut import Sut
from suites.applications import Application
from suites.mqdmpr.steps.rich_messages import map_properties_by_label, store_messages_with_all_properties

QUEUE_NAME_BY_JOURNAL_NAME = {"journal": "queue", "other journal": "other"}
"""For the name of each journal, the name of the queue of this journal."""


class JournaledQueuesWithMessages:
    """Two journaled queues with messages in which every property differs, and a third queue. If the SUT supports
    subqueues, the first queue has a subqueue.

    ``names``: the path names of these queues, of their journals and of the subqueue; the keys are the names that
    verdicts use.
    """

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool = False) -> None:
        self.sut = sut
        self.packets: list[Any] = []
        """The messages that the peer sent."""
        self.from_subqueue: set[str] = set()
        """The labels of the messages that were put into the subqueue."""
        self.applications = {
            name: Application(peer, sut, transactional=transactional) for name in ("queue", "other", "third")
        }
        self.names = {name: one.queue for name, one in self.applications.items()}
        for journal, queue in QUEUE_NAME_BY_JOURNAL_NAME.items():
            sut.control.call("set_queue", name=self.names[queue], journaling=True)
            self.names[journal] = f"{self.names[queue]};journal"
        if sut.has("subqueues"):
            self.names["subqueue"] = f"{self.names['queue']};mqc-sub"
            sut.create_queue(self.names["subqueue"], transactional=transactional)

    def fill_queue(self, place: str, labels: str, priorities: Iterable[int] = ()) -> None:
        """Let the peer send to a queue, for each letter, one message in which every property differs from its default.
        If ``place`` is "subqueue", move the messages to the subqueue, or do nothing if the SUT has no subqueues.
        """
        if place not in self.names:
            return
        application = self.applications["queue" if place == "subqueue" else place]
        self.packets += store_messages_with_all_properties(application, labels, priorities).values()
        if place == "subqueue":
            self.from_subqueue |= {*labels}
            for label, one in application.get_lookup_ids_by_label().items():
                if label in labels:
                    self.sut.control.call("move", queue=application.queue, lookup_id=one, to=self.names[place])

    def lookup_id(self, place: str, label: str) -> int:
        """Return the LookupIdentifier of a message, or 0 for a message that cannot be received."""
        return self.applications["queue"].get_lookup_ids_by_label(self.names[place]).get(label, 0)

    def receive(self, place: str, **how: Any) -> str:
        """Receive the first message of a queue or subqueue; return its label, or the outcome if no
        message is received.
        """
        return self._execute_read_and_get_label("receive", queue=self.names[place], timeout_ms=0, **how)

    def receive_by_lookup(self, place: str, label: str, seek: str = "current", **how: Any) -> str:
        """Receive a message by LookupIdentifier, relative to the message with the given label; return the label of the
        received message, or the outcome if no message is received.
        """
        arguments = {"queue": self.names[place], "lookup_id": self.lookup_id(place, label), "seek": seek, **how}
        return self._execute_read_and_get_label("receive_by_lookup_id", **arguments)

    def _execute_read_and_get_label(self, verb: str, **arguments: Any) -> str:
        found: dict[str, Any] = {}

        def store_result_of_read() -> None:
            found.update(self.sut.control.call(verb, **arguments))

        outcome = self.sut.attempt(store_result_of_read)
        return get_label(found.get("message")) if outcome == Outcome.DONE else outcome

    def labels(self) -> dict[str, list[str]]:
        """Return the labels of the messages in each queue, subqueue and journal, in order. The function omits copies of
        messages that were received from a subqueue, because no document states whether they are copied to the journal.
        """
        return {
            place: [
                label
                for label in self.sut.labels(name)
                if place not in QUEUE_NAME_BY_JOURNAL_NAME or label not in self.from_subqueue
            ]
            for place, name in self.names.items()
        }

    def map_message_properties_by_label(self, *, journals: bool = False) -> dict[str, dict[str, Any]]:
        """Return the properties of the messages of the queues, or of the journals, by label."""
        places = [name for place, name in self.names.items() if (place in QUEUE_NAME_BY_JOURNAL_NAME) is journals]
        return map_properties_by_label([one for name in places for one in self.applications["queue"].messages(name)])

    def expect(self, **labels: str) -> dict[str, Any]:
        """Return the expected labels in each queue, subqueue and journal. Each argument has one letter for each label;
        a missing argument stands for an empty queue.

        In the name of an argument, an underscore stands for a space.
        """
        given = {name.replace("_", " "): value for name, value in labels.items()}
        return {place: in_queue(*given.get(place, "")) for place in self.names}
