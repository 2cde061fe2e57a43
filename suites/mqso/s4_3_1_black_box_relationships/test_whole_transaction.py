"""MS-MQSO 4.3.1.2, 3.3.4.4, 3.3.4.7, 3.2.1: a transaction with many operations on several queues."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqso.steps.whole_transaction import (
    RECEIVED_LABELS_BY_QUEUE,
    SENT_APPLICATION_TAGS,
    SENT_LABELS_BY_QUEUE,
    STORED_LABELS_BY_QUEUE,
    TransactionWithObservedEffects,
)

RULES_OF_UNDECIDED_TRANSACTIONAL_SENDS = ("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01")
RECEIVE_RULES = ("MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06", "MQSO-5.1.1.3-D06")
SEND_OUTCOME_RULES = ("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02", "MQSO-3.2.1-D03")
RECEIVE_OUTCOME_RULES = ("MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07", "MQSO-3.2.1-01")
COORDINATED_VOTE_RULES = ("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02")
INTERNAL_TRANSACTION_RULES = ("MQSO-4.3.1.2-D08", "MQSO-4.3.3-D01", "MQSO-5.2.1.3-D01")
REMAINING_LABELS_BY_QUEUE = {
    name: [one for one in labels if one not in RECEIVED_LABELS_BY_QUEUE[name]]
    for name, labels in STORED_LABELS_BY_QUEUE.items()
} | {"awaited": []}
EFFECTS_OF_UNCOMMITTED_SENDS = {"sent_messages_in_queues": [], "waiting_read": False, "session_opened": False}
EFFECTS_OF_UNCOMMITTED_RECEIVES = {
    "received": [label for labels in RECEIVED_LABELS_BY_QUEUE.values() for label in labels],
    "left": REMAINING_LABELS_BY_QUEUE,
    "peeks": ["4", "4", Outcome.NOTHING, "7"],
    "reads_by_identifier": [],
    "journal": [],
}


@needs("send", "receive", "queue_control", "transactions")
@covers(
    *RULES_OF_UNDECIDED_TRANSACTIONAL_SENDS,
    *RECEIVE_RULES,
    *SEND_OUTCOME_RULES,
    *RECEIVE_OUTCOME_RULES,
    "MQSO-3.3.4.2-D01",
)
@pytest.mark.parametrize("outcome", ["abort", "commit"])
@pytest.mark.parametrize(
    "external",
    [
        pytest.param(False, marks=covers(*INTERNAL_TRANSACTION_RULES), id="internal"),
        pytest.param(True, marks=covers(*COORDINATED_VOTE_RULES), id="external"),
    ],
)
def test_all_operations_of_transaction_take_effect_together(peer, sut, judge, external, outcome):
    """A transaction receives five messages from two queues by name, handle, cursor and LookupIdentifier. It sends six
    messages to three queues of the SUT, and two messages to the peer. Until the transaction ends, no other reader sees
    a received or a sent message, even after a vote and after queries of the queues. A commit removes the received
    messages and stores the sent messages in order. An abort returns the received messages to their old places and
    stores no sent message.
    """
    whole = TransactionWithObservedEffects(peer, sut, external=external)
    judge(
        *RULES_OF_UNDECIDED_TRANSACTIONAL_SENDS,
        expected=facts(**EFFECTS_OF_UNCOMMITTED_SENDS),
        observed=whole.observe_effects_of_sends(),
    )
    judge(
        *RECEIVE_RULES, expected=facts(**EFFECTS_OF_UNCOMMITTED_RECEIVES), observed=whole.observe_effects_of_receives()
    )
    for queue in whole.queues.values():
        sut.control.call("get_queue", name=queue)
    judge(
        "MQSO-3.3.4.2-D01",
        expected=REMAINING_LABELS_BY_QUEUE,
        observed=whole.labels(SENT_LABELS_BY_QUEUE, but=True),
        case="labels in the queues after queries of their properties",
    )
    judge.conclude(*RULES_OF_UNDECIDED_TRANSACTIONAL_SENDS, *RECEIVE_RULES, "MQSO-3.3.4.2-D01")
    if external:
        vote = sut.control.call("prepare", transaction=whole.transaction)["outcome"]
        expected = facts(vote="prepared", **EFFECTS_OF_UNCOMMITTED_SENDS, left=REMAINING_LABELS_BY_QUEUE)
        observed = {
            "vote": vote,
            **whole.observe_effects_of_sends(),
            "left": whole.labels(SENT_LABELS_BY_QUEUE, but=True),
        }
        judge(*COORDINATED_VOTE_RULES, expected=expected, observed=observed)
    decided = whole.commit_or_abort(outcome)
    committed = outcome == "commit"
    peer.settle()
    waiting = whole.waiting.await_label() if committed else whole.waiting.is_answered()
    stored = (
        {"first": list(SENT_LABELS_BY_QUEUE["first"]), "second": list(SENT_LABELS_BY_QUEUE["second"])}
        if committed
        else {"first": [], "second": []}
    )
    sent = {
        "outcome": decided,
        "waiting_read": waiting,
        "stored": {name: labels for name, labels in whole.labels(SENT_LABELS_BY_QUEUE).items() if name in stored},
        "tags_of_the_messages_at_the_peer": whole.list_tags_of_outgoing_messages() if committed else [],
        "session_opened": False if committed else peer.await_session(sut.quiet_ms) is not None,
    }
    expected_sent = facts(
        outcome=Outcome.DONE,
        waiting_read="f" if committed else False,
        stored=stored,
        tags_of_the_messages_at_the_peer=list(SENT_APPLICATION_TAGS) if committed else [],
        session_opened=False,
    )
    left = (
        REMAINING_LABELS_BY_QUEUE
        if committed
        else {name: list(labels) for name, labels in STORED_LABELS_BY_QUEUE.items()} | {"awaited": []}
    )
    journal = list(RECEIVED_LABELS_BY_QUEUE["first"]) if committed else []
    received = {
        "outcome": decided,
        "left": whole.labels(SENT_LABELS_BY_QUEUE, but=True),
        "journal": sut.labels(f"{whole.queues['first']};journal"),
    }
    expected_received = facts(outcome=Outcome.DONE, left=left, journal=journal)
    judge(*SEND_OUTCOME_RULES, expected=expected_sent, observed=sent)
    judge(*RECEIVE_OUTCOME_RULES, expected=expected_received, observed=received)
    rules = COORDINATED_VOTE_RULES if external else INTERNAL_TRANSACTION_RULES
    judge(*rules, expected=expected_sent, observed=sent, case="sent messages")
    judge(*rules, expected=expected_received, observed=received, case="received messages")
    if not committed:
        sut.control.call("cancel", request=whole.waiting.number)


@needs("send", "receive", "queue_control", "transactions", "restart")
@covers(*COORDINATED_VOTE_RULES)
def test_votes_on_two_transactions_survive_restart(sut, judge):
    """Two external transactions each receive one message and send one, and are prepared. After a restart, these
    messages are still hidden. Then one transaction is committed and the other is aborted, and the queues contain the
    messages that each decision requires.
    """
    queue, target = (sut.new_queue(name, transactional=True) for name in ("voted-from", "voted-to"))
    names = ("commit", "abort")
    sut.send_here(queue, names, delivery="transactional")
    transactions = {name: sut.control.call("begin", external=True)["transaction"] for name in names}
    for name, transaction in transactions.items():
        sut.read_label("receive", queue=queue, transaction=transaction)
        sut.send_here(target, [name], delivery="transactional", transaction=transaction)
        sut.control.call("prepare", transaction=transaction)
    sut.restart()
    undecided = {"left": sut.labels(queue), "sent": sut.labels(target)}
    outcomes = {name: sut.attempt(name, transaction=transaction) for name, transaction in transactions.items()}
    observed = {
        "before_the_decisions": undecided,
        "outcomes": outcomes,
        "left": sut.labels(queue),
        "sent": sut.labels(target),
    }
    expected = facts(
        before_the_decisions={"left": [], "sent": []},
        outcomes=each(Outcome.DONE, "decision"),
        left=["abort"],
        sent=["commit"],
    )
    judge(*COORDINATED_VOTE_RULES, expected=expected, observed=observed)
