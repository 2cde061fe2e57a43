"""The state machine of a transaction that sends, receives and moves a message while a second transaction is open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.peer.peer import Peer
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_answer_outcome
from harness.sut.shown import lookup_id
from suites.applications import PendingRequest

NOT_LISTED_STATE = "not listed"


class Transaction(Machine, path=Path(__file__)):
    """A transaction whose operations concern a queue with a journal and a subqueue, and a second queue. The first queue
    also contains the message ``third``, and the message ``other``, which a second, prepared transaction has received.
    The subqueue contains the message ``ahead``, whose LookupIdentifier is higher than those of all other messages.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer, self._sut = peer, peer.sut
        self._begun: list[str] = []
        self._queue = self._sut.new_queue("decided", transactional=True, journaling=True)
        self._subqueue = f"{self._queue};mqc-sub"
        self._sut.create_queue(self._subqueue, transactional=True)
        self._second_queue = self._sut.new_queue("beside", transactional=True)
        self._sut.send_here(self._queue, ["other", "first", "second", "third", "ahead"], delivery="transactional")
        self._sut.send_here(self._second_queue, ["apart"], delivery="transactional")
        ahead = self._call_verb("peek", queue=self._queue)["messages"][-1]
        self._call_verb("move", queue=self._queue, lookup_id=lookup_id(ahead), to=self._subqueue)
        self._other = self._begin_transaction(external=True)
        self._call_verb("receive", queue=self._queue, transaction=self._other)
        self._call_verb("prepare", transaction=self._other)
        self._subject = ""
        self._messages_before = self._read_messages()
        self._count_before = self._count_messages()
        peer.call_at_end_of_test(self._abort_all_transactions)

    # -- states ---------------------------------------------------------------------------------------------------

    @state("internal")
    def begin_internal_transaction(self) -> None:
        """Begin a transaction without a coordinator, with its three operations."""
        self._begin_tested_transaction(external=False)

    @state("external")
    def begin_external_transaction(self) -> None:
        """Begin a transaction of a coordinator, with its three operations."""
        self._begin_tested_transaction(external=True)

    @state("prepared")
    def prepare_external_transaction(self) -> None:
        """Prepare the transaction of a coordinator."""
        self.begin_external_transaction()
        self._call_verb("prepare", transaction=self._subject)

    @state("committed")
    def commit_prepared_transaction(self) -> None:
        """Prepare and commit the transaction of a coordinator."""
        self.prepare_external_transaction()
        self._call_verb("commit", transaction=self._subject)

    @state("aborted")
    def abort_prepared_transaction(self) -> None:
        """Prepare and abort the transaction of a coordinator."""
        self.prepare_external_transaction()
        self._call_verb("abort", transaction=self._subject)

    @state("in doubt")
    def restart_after_prepare(self) -> None:
        """Prepare the transaction of a coordinator, and then restart the system."""
        self.prepare_external_transaction()
        self._sut.restart()

    @state("internal, purged")
    def purge_during_internal_transaction(self) -> None:
        """Purge the queue during a transaction without a coordinator."""
        self.begin_internal_transaction()
        self._call_verb("purge", queue=self._queue)

    @state("prepared, purged")
    def purge_after_prepare(self) -> None:
        """Prepare the transaction of a coordinator, and then purge the queue."""
        self.prepare_external_transaction()
        self._call_verb("purge", queue=self._queue)

    # -- events ---------------------------------------------------------------------------------------------------

    @event("send")
    def send_in_transaction(self) -> str:
        """Send a further message in the transaction."""
        fields = {"label": "late", "body": "late", "transaction": self._subject}
        return self._get_verb_outcome("send", to=self._sut.direct_name(self._queue), **fields)

    @event("receive")
    def receive_in_transaction(self) -> str:
        """Receive the first available message in the transaction."""
        return self._get_verb_outcome("receive", queue=self._queue, timeout_ms=0, transaction=self._subject)

    @event("prepare")
    def prepare(self) -> str:
        """Prepare the transaction."""
        return self._get_verb_outcome("prepare", transaction=self._subject)

    @event("commit")
    def commit(self) -> str:
        """Commit the transaction."""
        return self._get_verb_outcome("commit", transaction=self._subject)

    @event("abort")
    def abort(self) -> str:
        """Abort the transaction."""
        return self._get_verb_outcome("abort", transaction=self._subject)

    @event("purge")
    def purge(self) -> str:
        """Purge the queue."""
        return self._get_verb_outcome("purge", queue=self._queue)

    @event("restart")
    def restart(self) -> str:
        """Restart the system."""
        return self._sut.attempt(self._sut.restart)

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("labels in the queue")
    def list_labels_of_queue(self) -> list[str]:
        """Return the labels of the available messages of the queue."""
        return self._sut.labels(self._queue)

    @mark_as_probe("labels in the subqueue")
    def list_labels_of_subqueue(self) -> list[str]:
        """Return the labels of the messages of the subqueue, to which the transaction moves a message."""
        return self._sut.labels(self._subqueue)

    @mark_as_probe("labels in the second queue")
    def list_labels_of_second_queue(self) -> list[str]:
        """Return the labels of the available messages of the second queue."""
        return self._sut.labels(self._second_queue)

    @mark_as_probe("labels of changed messages")
    def list_changed_messages(self) -> list[str]:
        """Return the labels of the messages that differ in any property from the messages before the transaction."""
        found = self._read_messages()
        return [label for label, one in found.items() if one != self._messages_before.get(label, one)]

    @mark_as_probe("growth of the queue")
    def count_added_messages(self) -> int:
        """Return the number of messages in the queue, including locked messages, minus the number before the
        transaction.
        """
        return self._count_messages() - self._count_before

    @mark_as_probe("labels in the journal")
    def list_labels_of_journal(self) -> list[str]:
        """Return the labels of the received messages, which are in the journal."""
        return self._sut.labels(f"{self._queue};journal")

    @mark_as_probe("state of the transaction")
    def find_transaction_state(self) -> str:
        """Return the listed state of the transaction."""
        return self._find_state_of_transaction(self._subject)

    @mark_as_probe("labels in the queue after a later commit")
    def list_labels_of_queue_after_commit(self) -> list[str]:
        """Commit the transaction, and return the labels of the available messages of the queue."""
        self._get_verb_outcome("commit", transaction=self._subject)
        return self.list_labels_of_queue()

    @mark_as_probe("state of a second transaction")
    def find_state_of_other_transaction(self) -> str:
        """Return the listed state of the other transaction."""
        return self._find_state_of_transaction(self._other)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _begin_transaction(self, *, external: bool) -> str:
        begun: str = self._call_verb("begin", external=external)["transaction"]
        self._begun.append(begun)
        return begun

    def _abort_all_transactions(self) -> None:
        for transaction in self._begun:
            self._sut.attempt("abort", transaction=transaction)

    def _begin_tested_transaction(self, *, external: bool) -> None:
        self._subject = self._begin_transaction(external=external)
        self._call_verb("receive", queue=self._queue, transaction=self._subject)
        self._call_verb("receive", queue=self._second_queue, transaction=self._subject)
        second = self._call_verb("peek", queue=self._queue, limit=1)["messages"][0]
        moved = {"queue": self._queue, "lookup_id": lookup_id(second), "to": self._subqueue}
        self._call_verb("move", **moved, transaction=self._subject)
        self._sut.send_here(self._queue, ["sent"], transaction=self._subject)

    def _read_messages(self) -> dict[str, Any]:
        """Return the available messages of all queues, with all their properties, by label."""
        queues = (self._queue, self._subqueue, self._second_queue)
        found = [one for queue in queues for one in self._call_verb("peek", queue=queue)["messages"]]
        return {one["label"]: one for one in found}

    def _count_messages(self) -> int:
        """Return the number of messages in the queue; if the system does not report this number, count the available
        messages.
        """
        count = self._call_verb("get_queue", name=self._queue).get("count")
        return len(self.list_labels_of_queue()) if count is None else int(count)

    def _call_verb(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return self._sut.control.call(verb, **arguments)

    def _get_verb_outcome(self, verb: str, **arguments: Any) -> str:
        request = PendingRequest(self._peer, verb, **arguments)
        request.await_outcome()
        return get_answer_outcome(request.answer)

    def _find_state_of_transaction(self, transaction: str) -> str:
        listed = {one["transaction"].lower(): one["state"].lower() for one in self._call_verb("list")["transactions"]}
        state: str = listed.get(transaction.lower(), NOT_LISTED_STATE)
        return state
