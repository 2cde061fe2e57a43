"""MS-MQSO 5.5.5: each kind of operation while the disk is full."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import facts
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut

COMPARED_QUEUE_PROPERTIES = ("label", "journaling", "quota_kb", "base_priority")
EXPRESS_MESSAGE_LABEL = "express"
"""The label of the express message in the queue, which a restart may delete."""
CHANGED_QUEUE_PROPERTIES = {"label": "changed", "journaling": False, "quota_kb": 77, "base_priority": 5}


class OperationOnFullDisk:
    """Queues with messages, and one operation on them while the disk is full."""

    def __init__(self, peer: Peer, sut: Sut) -> None:
        self.sut = sut
        self.plain, self.transactional = (
            sut.new_queue("full", journaling=True),
            sut.new_queue("full-transactional", transactional=True),
        )
        self.remote = [peer.direct_name(f"mqc-full-{number}") for number in range(2)]
        sut.send_here(self.plain, ["0", "1", "2", "3"], delivery="recoverable")
        sut.read_label("receive", queue=self.plain)  # the message is then in the journal
        sut.send_here(self.plain, [EXPRESS_MESSAGE_LABEL], delivery="express")
        sut.send_here(self.transactional, ["4", "5", "6"], delivery="transactional")
        self.second = lookup_id(sut.control.call("peek", queue=self.plain, limit=10)["messages"][1])
        self.transaction: str | None = None

    def prepare(self, operation: str) -> None:
        """Carry out the steps of an operation that precede the failure of the disk."""
        if operation == "commit":
            self.transaction = self.sut.control.call("begin")["transaction"]
            for _ in range(2):
                self.sut.read_label("receive", queue=self.transactional, transaction=self.transaction)
            for to in (self.sut.direct_name(self.transactional), *self.remote):
                for label in ("7", "8"):
                    self.sut.send(to, label=label, body=label, transaction=self.transaction, delivery="transactional")

    def carry_out(self, operation: str) -> str:
        """Carry out the operation; return its outcome."""
        sut, first = self.sut, self.remote[0]
        if operation == "purge":
            return sut.attempt("purge", queue=self.plain)
        if operation == "deletion":
            return sut.attempt("delete_queue", name=self.plain)
        if operation == "change":
            return sut.attempt("set_queue", name=self.plain, **CHANGED_QUEUE_PROPERTIES)
        if operation == "receive by LookupIdentifier":
            return sut.attempt("receive_by_lookup_id", queue=self.plain, lookup_id=self.second, seek="current")
        if operation == "transactional send":
            return sut.attempt(sut.send_here, self.transactional, ["7"], delivery="transactional")
        if operation == "commit":
            return sut.attempt("commit", transaction=self.transaction)
        delivery = operation.partition(" ")[0]
        return sut.attempt(sut.send, first, label="7", body="7", delivery=delivery)

    def end(self, outcome: str) -> None:
        """Abort a transaction whose commit was refused."""
        if self.transaction is not None and outcome == Outcome.REFUSED:
            self.sut.attempt("abort", transaction=self.transaction)

    def read_state_of_queues(self) -> dict[str, Any]:
        """Return the messages of all queues and of the journal, and the properties of the queue that changes."""
        outgoing = {one["format_name"].lower(): one["count"] for one in self.sut.control.call("list")["outgoing"]}
        try:
            shown = self.sut.control.call("get_queue", name=self.plain)
            plain: Any = {name: shown.get(name) for name in COMPARED_QUEUE_PROPERTIES} | {
                "labels": self.sut.labels(self.plain),
                "labels_in_the_journal": self.sut.labels(f"{self.plain};journal"),
            }
        except ControlRefused:
            plain = Outcome.REFUSED
        waiting = [outgoing.get(name.lower(), 0) for name in self.remote]
        return {"plain": plain, "transactional": self.sut.labels(self.transactional), "waiting": waiting}


def _remove_express_message(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the queues without the express message, which a restart may delete."""
    plain = state["plain"]
    if plain == Outcome.REFUSED:
        return state
    return {
        **state,
        "plain": {**plain, "labels": [label for label in plain["labels"] if label != EXPRESS_MESSAGE_LABEL]},
    }


@needs("environment", "transactions", "send", "receive", "queue_control", "restart", "pause")
@covers("MQSO-5.5.5-01")
@pytest.mark.parametrize(
    "operation",
    [
        "purge",
        "deletion",
        "change",
        "receive by LookupIdentifier",
        "transactional send",
        "commit",
        "recoverable send to the peer",
        "transactional send to the peer",
    ],
)
def test_each_operation_on_full_disk_fails_entirely_or_succeeds(peer, sut, judge, operation):
    """On a full disk, the SUT either carries out an operation entirely, or refuses it and changes nothing, not even an
    express message; a restart does not change the outcome. The operations are a purge, a deletion, a change of four
    properties, a receive, a send, and the commit of a transaction with six operations on four queues. A refused
    operation succeeds when the disk has room again.
    """
    sut.take_offline()
    stored = OperationOnFullDisk(peer, sut)
    before = stored.read_state_of_queues()
    stored.prepare(operation)
    sut.change_environment(storage=False)
    outcome = stored.carry_out(operation)
    peer.settle()
    sut.change_environment(storage=True)
    peer.settle()
    stored.end(outcome)
    after = stored.read_state_of_queues()
    if outcome == Outcome.REFUSED:
        judge.all(expected=facts(**before), observed=after, case="state after the refusal")
    sut.restart()
    sut.take_offline()
    judge.all(
        expected=facts(**_remove_express_message(after)),
        observed=_remove_express_message(stored.read_state_of_queues()),
        case="state after a restart",
    )
    if outcome != Outcome.REFUSED:
        return
    stored.prepare(operation)
    repeated = stored.carry_out(operation)
    changed = _remove_express_message(stored.read_state_of_queues()) != _remove_express_message(before)
    observed = {"outcome": repeated, "state_changed": changed}
    judge.all(expected=facts(outcome=Outcome.DONE, state_changed=True), observed=observed, case="repeated operation")
