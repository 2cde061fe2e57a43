"""One transaction with operations of all kinds: it receives from two queues in four ways, and sends to three queues of
the SUT and to the peer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.peer.peer import Peer
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.applications import PendingRequest
from suites.mqqb.steps.sender import Sender

STORED_LABELS_BY_QUEUE = {"first": ("1", "2", "3", "4", "5"), "second": ("6", "7")}
"""The labels of the messages that are in the two queues before the transaction."""
RECEIVED_LABELS_BY_QUEUE = {"first": ("1", "2", "3", "5"), "second": ("6",)}
"""The labels of the messages that the transaction receives."""
SENT_LABELS_BY_QUEUE = {"first": ("a", "b", "c"), "second": ("d", "e"), "awaited": ("f",)}
"""The labels of the messages that the transaction sends to queues of the SUT."""
SENT_APPLICATION_TAGS = (1, 2)
"""The tags of the messages that the transaction sends to the peer."""
READ_TIMEOUT_MS = 60_000


class TransactionWithObservedEffects:
    """An internal or external transaction with its operations, and the effects that other readers can observe."""

    def __init__(self, peer: Peer, sut: Sut, *, external: bool) -> None:
        self.peer, self.sut, self.external = peer, sut, external
        self.queues = {
            "first": sut.new_queue("first", transactional=True, journaling=True),
            "second": sut.new_queue("second", transactional=True),
            "awaited": sut.new_queue("awaited", transactional=True),
        }
        self.sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
        for name, labels in STORED_LABELS_BY_QUEUE.items():
            sut.send_here(self.queues[name], labels, delivery="transactional")
        self.lookup_id_by_label = {
            one["label"]: lookup_id(one)
            for name in STORED_LABELS_BY_QUEUE
            for one in sut.control.call("peek", queue=self.queues[name], limit=100)["messages"]
        }
        self.waiting = PendingRequest(peer, "receive", queue=self.queues["awaited"], timeout_ms=READ_TIMEOUT_MS)
        peer.settle()
        self.transaction = sut.control.call("begin", external=external)["transaction"]
        self.received = self._receive_by_name_handle_cursor_and_lookup_id()
        self._send_to_each_queue()

    def _receive_by_name_handle_cursor_and_lookup_id(self) -> list[str]:
        """Receive by name, by a handle, by a cursor and by a LookupIdentifier; return the labels."""
        sut, first = self.sut, self.queues["first"]
        labels = [sut.read_label("receive", queue=first, transaction=self.transaction)]
        handle = sut.control.call("open_queue", queue=first, access="receive")["handle"]
        labels.append(sut.read_label("receive", handle=handle, transaction=self.transaction))
        cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
        labels.append(sut.read_label("receive", cursor=cursor, transaction=self.transaction))
        found = sut.control.call(
            "receive_by_lookup_id",
            queue=first,
            lookup_id=self.lookup_id_by_label["5"],
            seek="current",
            transaction=self.transaction,
        )
        labels.append(found["message"]["label"])
        labels.append(sut.read_label("receive", queue=self.queues["second"], transaction=self.transaction))
        return labels

    def _send_to_each_queue(self) -> None:
        how = {"delivery": "transactional", "transaction": self.transaction}
        for name, labels in SENT_LABELS_BY_QUEUE.items():
            self.sut.send_here(self.queues[name], labels, **how)
        for tag in SENT_APPLICATION_TAGS:
            self.sut.send(self.sender.to, body=f"message {tag}", application_tag=tag, **how)

    def labels(self, which: Mapping[str, tuple[str, ...]], *, but: bool = False) -> dict[str, list[str]]:
        """Return the visible labels of each queue: only the given labels or, if ``but`` is set, only
        the other labels.
        """
        shown = {name: self.sut.labels(queue) for name, queue in self.queues.items()}
        return {
            name: [one for one in labels if (one in which.get(name, ())) is not but] for name, labels in shown.items()
        }

    def observe_effects_of_sends(self) -> dict[str, Any]:
        """Return what other readers observe of the messages that the transaction sent: the visible labels, whether the
        waiting read got a message, and whether the SUT opened a session to the peer.
        """
        session = self.peer.await_session(self.sut.quiet_ms)
        return {
            "sent_messages_in_queues": [
                label for labels in self.labels(SENT_LABELS_BY_QUEUE).values() for label in labels
            ],
            "waiting_read": self.waiting.is_answered(),
            "session_opened": session is not None,
        }

    def observe_effects_of_receives(self) -> dict[str, Any]:
        """Return what other readers observe of the messages that the transaction received: the visible labels, the
        results of reads, and the journal.
        """
        sut = self.sut
        first, second = self.queues["first"], self.queues["second"]
        taken = [
            (self.queues[name], self.lookup_id_by_label[label])
            for name in RECEIVED_LABELS_BY_QUEUE
            for label in RECEIVED_LABELS_BY_QUEUE[name]
        ]
        by_identifier = [
            sut.attempt(verb, queue=queue, lookup_id=number, seek="current")
            for queue, number in taken
            for verb in ("peek_by_lookup_id", "receive_by_lookup_id")
        ]
        handle = sut.control.call("open_queue", queue=first, access="peek")["handle"]
        cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
        peeks = [sut.read_label("peek_message", queue=first), sut.read_label("peek_message", cursor=cursor)]
        peeks += [sut.read_label("peek_next", cursor=cursor), sut.read_label("peek_message", queue=second)]
        sut.control.call("close_queue", handle=handle)
        return {
            "received": self.received,
            "left": self.labels(SENT_LABELS_BY_QUEUE, but=True),
            "peeks": peeks,
            "reads_by_identifier": [outcome for outcome in by_identifier if outcome == Outcome.DONE],
            "journal": sut.labels(f"{first};journal"),
        }

    def commit_or_abort(self, outcome: str) -> str:
        """Commit or abort the transaction; return the outcome of the request."""
        return self.sut.attempt(outcome, transaction=self.transaction)

    def list_tags_of_outgoing_messages(self) -> list[int]:
        """Acknowledge the messages that the peer receives; return their tags in order."""
        session = self.sender.poll_session()
        if session is None:
            return []
        tags = Sender.list_tags(self.sender.collect_messages_until_silence(session, len(SENT_APPLICATION_TAGS)))
        session.acknowledge_all()
        return tags
