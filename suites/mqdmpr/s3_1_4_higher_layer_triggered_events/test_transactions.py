"""MS-MQDMPR 3.1.4.3 to 3.1.4.8: transactions that are prepared, committed and aborted, with and without a
coordinator.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import any_order, each, holds, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication

pytestmark = needs("transactions")

LONG_READ_TIMEOUT_MS = 600_000
UNKNOWN_TRANSACTION_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000aa")
TRANSACTION_DECISION_VERBS = ("prepare", "commit", "abort")
RULES_BY_TRANSACTION_ENDING_CALL = {
    "commit": ("MQDMPR-3.1.4.4-23", "MQDMPR-3.1.4.4-22"),
    "abort": ("MQDMPR-3.1.4.5-19", "MQDMPR-3.1.4.5-18"),
}
"""For each call that ends a transaction: the rule that the SUT removes the transaction, and the rule that no operation
of the transaction remains.
"""
UNKNOWN_TRANSACTION_RULES_BY_VERB = {
    "prepare": ("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.4.6-11"),
    "commit": ("MQDMPR-3.1.4.4-04",),
    "abort": ("MQDMPR-3.1.4.5-04",),
}


class TwoOpenTransactions:
    """Two open transactions. The first transaction receives a message, moves a second message and sends a third
    message. The second transaction receives a message, sends a message, and waits for a message in an empty queue.
    """

    def __init__(self, application: AcknowledgedApplication, *, external: bool = False) -> None:
        self.application = application
        self.sut = application.sut
        self.queue = application.queue
        self.subqueue = f"{self.queue};mqc-sub"
        self.sut.create_queue(self.subqueue, transactional=True)
        application.fill_queue("earlier", "first", "second", "third", "fourth")
        lookup_ids = application.get_lookup_ids_by_label()
        application.call("move", queue=self.queue, lookup_id=lookup_ids["earlier"], to=self.subqueue)
        self.one, self.other = (application.begin_transaction(external=external) for _ in range(2))
        application.receive_by_label("first", transaction=self.one)
        application.call(
            "move",
            queue=self.queue,
            lookup_id=lookup_ids["second"],
            to=self.subqueue,
            transaction=self.one,
        )
        application.send("sent", transaction=self.one, journal=["negative"])
        application.receive_by_label("third", transaction=self.other)
        application.send("sent in the other transaction", transaction=self.other)
        self.second = Application(application.peer, self.sut, transactional=True)
        self.second.store("alone")
        self.second.receive(transaction=self.one)
        empty_queue = Application(application.peer, self.sut, transactional=True).queue
        self.waiting_read = PendingRequest(
            application.peer, "receive", queue=empty_queue, transaction=self.other, timeout_ms=LONG_READ_TIMEOUT_MS
        )

    def is_read_waiting(self) -> bool:
        """Return whether the read in the second transaction still waits."""
        self.application.peer.settle()
        return not self.waiting_read.is_answered()

    def receive_all_messages_of_queue(self, queue: str) -> list[str]:
        """Receive all messages of a queue; return their labels in order."""
        labels = []
        while (message := self.application.call("receive", queue=queue, timeout_ms=0)["message"]) is not None:
            labels.append(message["label"])
        return labels

    def end(self) -> None:
        """Abort the transactions that are still open."""
        self.application.end_transaction("abort", self.other)
        self.application.receiver.acknowledge_all()


@needs("receive", "queues", "send", "subqueues")
@covers(
    "MQDMPR-3.1.4.4-03",
    "MQDMPR-3.1.4.4-07",
    "MQDMPR-3.1.4.4-11",
    "MQDMPR-3.1.4.4-16",
    "MQDMPR-3.1.4.4-17",
    "MQDMPR-3.1.4.4-18",
    "MQDMPR-3.1.4.4-19",
    "MQDMPR-3.1.4.4-24",
    "MQDMPR-3.1.1.12-39",
)
def test_commit_carries_out_operations_of_its_transaction_only(peer, sut, judge):
    """A commit stores the message that its transaction sent, removes and acknowledges the received message, and moves
    the moved message. A second transaction is neither committed nor aborted, and a read in this transaction still
    waits.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    work = TwoOpenTransactions(application)
    state_before = application.labels(), application.await_receive_acks(0), application.labels(work.subqueue)
    committed = _request_transaction_decision(sut, "commit", transaction=work.one)
    labels, labels_of_subqueue = application.labels(), application.labels(work.subqueue)
    acknowledged = application.await_receive_acks(1)
    evidence = list(application.sent.values())
    judge(
        "MQDMPR-3.1.4.4-24",
        expected="committed",
        observed=committed,
        evidence=evidence,
        case="state after the decision",
    )
    undecided = [label for label in ("third", "sent in the other transaction") if label in [*labels, *acknowledged]]
    judge(
        "MQDMPR-3.1.4.4-03",
        expected={
            "queue": in_queue("fourth", "sent"),
            "messages_of_the_other_transaction": none("change"),
            "read_in_the_other_transaction": holds("still waits"),
        },
        observed={
            "queue": labels,
            "messages_of_the_other_transaction": undecided,
            "read_in_the_other_transaction": work.is_read_waiting(),
        },
        evidence=evidence,
    )
    is_sent = {"before the commit": "sent" in state_before[0], "after the commit": "sent" in labels}
    judge(
        "MQDMPR-3.1.4.4-07",
        expected={"before the commit": False, "after the commit": True},
        observed=is_sent,
        evidence=evidence,
        case="the sent message is in the queue",
    )
    acknowledged_labels = {"before the commit": state_before[1], "after the commit": acknowledged}
    judge(
        "MQDMPR-3.1.4.4-11",
        "MQDMPR-3.1.1.12-39",
        expected={"before the commit": [], "after the commit": ["first"]},
        observed=acknowledged_labels,
        evidence=evidence,
        case="labels of the acknowledged messages",
    )
    is_moved = holds("the moved message is not in its source queue")
    judge("MQDMPR-3.1.4.4-16", expected=is_moved, observed="second" not in labels, evidence=evidence)
    judge(
        "MQDMPR-3.1.4.4-17",
        expected={
            "subqueue before the commit": in_queue("earlier"),
            "labels in the subqueue after the commit": any_order("earlier", "second"),
        },
        observed={
            "subqueue before the commit": state_before[2],
            "labels in the subqueue after the commit": labels_of_subqueue,
        },
        evidence=evidence,
    )
    judge(
        "MQDMPR-3.1.4.4-18",
        expected=in_queue("earlier", "second"),
        observed=labels_of_subqueue,
        evidence=evidence,
    )
    received = work.receive_all_messages_of_queue(work.subqueue)
    judge(
        "MQDMPR-3.1.4.4-19",
        expected=["earlier", "second"],
        observed=received,
        evidence=evidence,
        case="labels of the messages received from the subqueue",
    )
    work.end()


@needs("receive", "queues", "send", "subqueues")
@covers("MQDMPR-3.1.4.5-03", "MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.5-17", "MQDMPR-3.1.4.5-20")
@varied("application tag", "queue privacy", acknowledgments=("none", "of receipt"))
def test_abort_undoes_operations_of_its_transaction_only(peer, sut, judge):
    """An abort restores the messages that its transaction received and moved, and discards the message that it sent. A
    second transaction is neither committed nor aborted, and a read in this transaction still waits. A pending read of a
    second queue gets the message that the aborted transaction had received from that queue.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    work = TwoOpenTransactions(application)
    reader = PendingRequest(peer, "receive", queue=work.second.queue, timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()
    early_answer = reader.is_answered()
    aborted = _request_transaction_decision(sut, "abort", transaction=work.one)
    labels, labels_of_subqueue = application.labels(), application.labels(work.subqueue)
    evidence = list(application.sent.values())
    judge("MQDMPR-3.1.4.5-20", expected="aborted", observed=aborted, evidence=evidence, case="state after the decision")
    restored_labels = ["first", "second", "fourth"]
    undecided = [label for label in ("third", "sent in the other transaction") if label in labels]
    judge(
        "MQDMPR-3.1.4.5-03",
        expected={
            "number_of_messages_in_the_queue": len(restored_labels),
            "messages_of_the_other_transaction": none("change"),
            "read_in_the_other_transaction": holds("still waits"),
        },
        observed={
            "number_of_messages_in_the_queue": len(labels),
            "messages_of_the_other_transaction": undecided,
            "read_in_the_other_transaction": work.is_read_waiting(),
        },
        evidence=evidence,
    )
    received = work.receive_all_messages_of_queue(work.queue)
    judge(
        "MQDMPR-3.1.4.5-13",
        expected={
            "queue": in_queue(*restored_labels),
            "subqueue": in_queue("earlier"),
            "labels_returned_by_later_receives": restored_labels,
            "pending_read_answered_before": False,
            "label_returned_by_the_pending_read": "alone",
        },
        observed={
            "queue": labels,
            "subqueue": labels_of_subqueue,
            "labels_returned_by_later_receives": received,
            "pending_read_answered_before": early_answer,
            "label_returned_by_the_pending_read": reader.await_label(),
        },
        evidence=evidence,
    )
    dead_letters = [one["label"] for one in sut.read_kept_messages("system$;deadxact")]
    sent_labels = [label for label in [*labels, *labels_of_subqueue, *received, *dead_letters] if label == "sent"]
    judge("MQDMPR-3.1.4.5-17", expected=none("message that was sent"), observed=sent_labels, evidence=evidence)
    work.end()


@needs("receive", "queue_control")
@covers(
    *(rule for rules in UNKNOWN_TRANSACTION_RULES_BY_VERB.values() for rule in rules),
    *RULES_BY_TRANSACTION_ENDING_CALL["commit"],
    *RULES_BY_TRANSACTION_ENDING_CALL["abort"],
)
def test_request_in_unknown_or_ended_transaction_is_refused(peer, sut, judge):
    """The SUT refuses to prepare, commit or abort a transaction that never existed or has ended, and refuses to receive
    a message in such a transaction. The SUT's queues stay unchanged.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    application.fill_queue("first", "second", "third")
    ended_transactions = {verb: application.begin_transaction() for verb in RULES_BY_TRANSACTION_ENDING_CALL}
    other_transaction = application.begin_transaction(external=True)
    for transaction in ended_transactions.values():
        application.receive(transaction=transaction)
    for verb, transaction in ended_transactions.items():
        application.call(verb, transaction=transaction)
    bystander = Application(peer, sut, transactional=True)
    third = bystander.begin_transaction()
    waiting = PendingRequest(peer, "receive", queue=bystander.queue, transaction=third, timeout_ms=LONG_READ_TIMEOUT_MS)
    labels_before = application.labels()
    unknown = {
        verb: sut.attempt(verb, transaction=str(UNKNOWN_TRANSACTION_GUID)) for verb in TRANSACTION_DECISION_VERBS
    }
    evidence = list(application.sent.values())
    peer.settle()
    undecided = {
        "states of the open transactions": _list_transaction_states(sut, other_transaction, third),
        "read in an open transaction": not waiting.is_answered(),
    }
    for verb, rules in UNKNOWN_TRANSACTION_RULES_BY_VERB.items():
        judge(
            *rules,
            expected={
                "request": Outcome.REFUSED,
                "queue": in_queue(*labels_before),
                "states of the open transactions": each(holds("listed", otherwise="not listed"), "transaction"),
                "read in an open transaction": holds("still waits"),
            },
            observed={
                "request": unknown[verb],
                "queue": application.labels(),
                **undecided,
                "states of the open transactions": [
                    one != "not listed" for one in undecided["states of the open transactions"]
                ],
            },
            evidence=evidence,
        )
    bystander.end_transaction("abort", third)
    for verb, (gone, nothing_left) in RULES_BY_TRANSACTION_ENDING_CALL.items():
        transaction = ended_transactions[verb]
        answers = {
            later_verb: sut.attempt(later_verb, transaction=transaction) for later_verb in TRANSACTION_DECISION_VERBS
        }
        answers["receive"] = sut.attempt("receive", queue=application.queue, timeout_ms=0, transaction=transaction)
        judge(
            gone,
            expected=each(Outcome.REFUSED, "request in the ended transaction"),
            observed=answers,
            evidence=evidence,
        )
        judge(
            gone,
            expected=["not listed"],
            observed=_list_transaction_states(sut, transaction),
            case="state of the ended transaction",
            evidence=evidence,
        )
        judge(nothing_left, expected=in_queue("second", "third"), observed=application.labels(), evidence=evidence)
    application.end_transaction("abort", other_transaction)
    application.receiver.acknowledge_all()


def _request_transaction_decision(sut, verb, **arguments):
    """Prepare, commit or abort a transaction; return the outcome."""
    try:
        return sut.control.call(verb, **arguments)["outcome"]
    except ControlRefused:
        return Outcome.REFUSED


def _list_transaction_states(sut, *transactions):
    """Return the listed state of each transaction."""
    listed = sut.control.call("list")["transactions"]
    states = {one["transaction"].lower(): one["state"].lower() for one in listed}
    return [states.get(transaction.lower(), "not listed") for transaction in transactions]


@needs("receive", "queue_control")
@covers(
    "MQDMPR-3.1.4.3-03",
    "MQDMPR-3.1.4.3-08",
    "MQDMPR-3.1.4.4-24",
    "MQDMPR-3.1.4.5-20",
    "MQDMPR-3.1.4.6-03",
    "MQDMPR-3.1.4.6-08",
    "MQDMPR-3.1.4.7-03",
    "MQDMPR-3.1.4.7-05",
    "MQDMPR-3.1.4.8-03",
    "MQDMPR-3.1.4.8-05",
)
@pytest.mark.parametrize("empty", [False, True], ids=["of one message", "of nothing"])
def test_coordinator_prepares_then_commits_or_aborts(peer, sut, judge, empty):
    """A coordinator prepares two transactions, each with one receive or without operations. The queue is unchanged, and
    a read in a third transaction still waits. Then the first transaction commits, and the SUT acknowledges its message.
    The second transaction aborts, and its message is in the queue again.
    """
    bystander = Application(peer, sut, transactional=True)
    third = bystander.begin_transaction()
    waiting = PendingRequest(peer, "receive", queue=bystander.queue, transaction=third, timeout_ms=LONG_READ_TIMEOUT_MS)
    application = AcknowledgedApplication(peer, sut, transactional=True)
    application.fill_queue("first", "second", "third")
    earlier = application.begin_transaction(external=True)
    transactions = {verb: application.begin_transaction(external=True) for verb in ("commit", "abort")}
    for transaction in transactions.values() if not empty else ():
        application.receive(transaction=transaction)
    evidence = list(application.sent.values())
    for number, transaction in enumerate(transactions.values()):
        prepared = _request_transaction_decision(sut, "prepare", transaction=transaction)
        states = _list_transaction_states(sut, *transactions.values())
        judge(
            "MQDMPR-3.1.4.3-08",
            "MQDMPR-3.1.4.6-08",
            expected="prepared",
            observed=prepared,
            evidence=evidence,
            case="outcome of the prepare request",
        )
        expected_state = "prepared" if number else "not prepared"
        other = "prepared" if states[1] == "prepared" else "not prepared"
        judge(
            "MQDMPR-3.1.4.3-03",
            expected={"first_transaction": "prepared", "second_transaction": expected_state},
            observed={"first_transaction": states[0], "second_transaction": other},
            evidence=evidence,
        )
    peer.settle()
    judge(
        "MQDMPR-3.1.4.3-03",
        expected=holds("a transaction that was begun before the others is not prepared"),
        observed=_list_transaction_states(sut, earlier) != ["prepared"],
        evidence=evidence,
    )
    application.end_transaction("abort", earlier)
    judge(
        "MQDMPR-3.1.4.3-03",
        expected=holds("the read in the third transaction still waits"),
        observed=not waiting.is_answered(),
        evidence=evidence,
    )
    bystander.end_transaction("abort", third)
    locked_labels = [] if empty else ["first", "second"]
    labels = application.labels()
    early_state = {
        "labels_of_received_messages_in_the_queue": [label for label in locked_labels if label in labels],
        "labels_of_the_acknowledged_messages": application.await_receive_acks(0),
    }
    judge(
        "MQDMPR-3.1.4.6-03",
        expected={"labels_of_received_messages_in_the_queue": [], "labels_of_the_acknowledged_messages": []},
        observed=early_state,
        evidence=evidence,
    )
    decisions = {
        verb: _request_transaction_decision(sut, verb, transaction=transaction)
        for verb, transaction in transactions.items()
    }
    judge(
        "MQDMPR-3.1.4.7-05",
        "MQDMPR-3.1.4.4-24",
        expected="committed",
        observed=decisions["commit"],
        evidence=evidence,
        case="state after the decision",
    )
    judge(
        "MQDMPR-3.1.4.8-05",
        "MQDMPR-3.1.4.5-20",
        expected="aborted",
        observed=decisions["abort"],
        evidence=evidence,
        case="state after the decision",
    )
    acknowledged = application.await_receive_acks(0 if empty else 1)
    judge(
        "MQDMPR-3.1.4.7-03",
        expected=[] if empty else ["first"],
        observed=acknowledged,
        evidence=evidence,
        case="labels of the acknowledged messages",
    )
    expected = in_queue("first", "second", "third") if empty else in_queue("second", "third")
    judge(
        "MQDMPR-3.1.4.8-03",
        expected=expected,
        observed=application.labels(),
        evidence=evidence,
        case="queue",
    )
    application.receiver.acknowledge_all()


@needs("receive", "queue_control", "send", "subqueues")
@covers("MQDMPR-3.1.4.6-09")
def test_single_phase_prepare_commits(peer, sut, judge):
    """A coordinator requests that the SUT prepare a transaction in a single phase, and the SUT commits the transaction.
    The SUT acknowledges the received message, the moved message is in the subqueue, the sent message is in the queue,
    and the SUT no longer lists the transaction.
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue, transactional=True)
    application.fill_queue("first", "second", "third")
    moved = application.get_lookup_ids_by_label()["second"]
    transaction = application.begin_transaction(external=True)
    application.receive(transaction=transaction)
    application.call("move", queue=application.queue, lookup_id=moved, to=subqueue, transaction=transaction)
    application.send("sent", transaction=transaction)
    prepared = _request_transaction_decision(sut, "prepare", transaction=transaction, single_phase=True)
    acknowledged, (state,) = application.await_receive_acks(1), _list_transaction_states(sut, transaction)
    observed = {
        "outcome of the prepare request": prepared,
        "labels_of_the_acknowledged_messages": acknowledged,
        "queue": application.labels(),
        "subqueue": application.labels(subqueue),
        "state of the transaction": state,
    }
    evidence = list(application.sent.values())
    judge(
        "MQDMPR-3.1.4.6-09",
        expected={
            "outcome of the prepare request": "committed",
            "labels_of_the_acknowledged_messages": ["first"],
            "queue": in_queue("third", "sent"),
            "subqueue": in_queue("second"),
            "state of the transaction": "not listed",
        },
        observed=observed,
        evidence=evidence,
    )
    application.receiver.acknowledge_all()


@covers("MQDMPR-3.1.4.4-24", "MQDMPR-3.1.4.5-20")
def test_transaction_without_remaining_messages_can_be_committed_and_aborted(peer, sut, judge):
    """A transaction without operations can be committed, and a second one can be aborted. The same holds for
    transactions that received a message from a queue that was deleted afterwards.
    """
    has_queue = all(sut.has(need) for need in ("receive", "queue_control", "send"))
    for verb, rule, expected in (
        ("commit", "MQDMPR-3.1.4.4-24", "committed"),
        ("abort", "MQDMPR-3.1.4.5-20", "aborted"),
    ):
        empty = sut.control.call("begin")["transaction"]
        decisions = {"without operations": _request_transaction_decision(sut, verb, transaction=empty)}
        if has_queue:
            application = Application(peer, sut, transactional=True)
            application.store("gone")
            transaction = application.begin_transaction()
            application.receive(transaction=transaction)
            sut.delete_queue(application.queue)
            decisions["after the deletion of its queue"] = _request_transaction_decision(
                sut, verb, transaction=transaction
            )
        judge(rule, expected=each(expected, "transaction"), observed=decisions, case="state after the decision")


@needs("inspect")
@covers("MQDMPR-3.1.4.3-04")
def test_single_phase_is_false_with_coordinator(peer, sut, judge):
    """SinglePhase is False for a transaction that a coordinator prepared, and True for a transaction without a
    coordinator.
    """
    coordinated, internal = (sut.control.call("begin", external=external)["transaction"] for external in (True, False))
    sut.control.call("prepare", transaction=coordinated)
    observed = {one["Identifier"]: one["SinglePhase"] for one in sut.inspect_queue_manager()["TransactionCollection"]}
    judge(
        "MQDMPR-3.1.4.3-04",
        expected={"SinglePhase with a coordinator": False, "SinglePhase without a coordinator": True},
        observed={
            "SinglePhase with a coordinator": observed.get(coordinated),
            "SinglePhase without a coordinator": observed.get(internal),
        },
    )
    for transaction in (coordinated, internal):
        sut.control.call("abort", transaction=transaction)
