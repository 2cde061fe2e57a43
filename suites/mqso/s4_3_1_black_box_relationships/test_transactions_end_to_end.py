"""MS-MQSO 4.3.1.2, 4.3.3, 3.3.4.4: messages that are sent, transferred and received in transactions."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, in_queue
from harness.judging.judge import Judge
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.applications import PendingRequest
from suites.mqqb.steps.sender import Sender

PENDING_SEND_RULES = ("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01")
SEND_DECISION_RULES = ("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02")
COORDINATED_TRANSACTION_RULES = ("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02")
INTERNAL_TRANSACTION_RULES = ("MQSO-4.3.1.2-D08", "MQSO-4.3.3-D01")
TRANSACTIONAL_RECEIVE_RULES = ("MQSO-4.3.1.2-D07", "MQSO-3.3.4.7-D02")


@needs("send", "receive", "queues", "transactions")
@covers(*PENDING_SEND_RULES, *SEND_DECISION_RULES, *INTERNAL_TRANSACTION_RULES)
def test_message_sent_in_internal_transaction_is_stored_at_commit(sut, judge):
    """A message that is sent in an internal transaction is not in its queue while the transaction is open or after an
    abort, and is in the queue after a commit.
    """
    queue = sut.queue("transactional")
    for outcome, stored_labels in (("abort", []), ("commit", ["commit"])):
        transaction = _begin_transaction_with_message(sut, judge, outcome, external=False)
        answer = sut.attempt(outcome, transaction=transaction)
        observed = {"outcome": answer, "labels_in_the_queue": sut.labels(queue)}
        judge(
            *SEND_DECISION_RULES,
            *INTERNAL_TRANSACTION_RULES,
            expected=facts(outcome=Outcome.DONE, labels_in_the_queue=stored_labels),
            observed=observed,
            case=f"{outcome} of the transaction",
        )


@needs("send", "receive", "queues", "transactions")
@covers(*PENDING_SEND_RULES, *SEND_DECISION_RULES, *COORDINATED_TRANSACTION_RULES)
@pytest.mark.parametrize("outcome", ["abort", "commit"])
def test_message_sent_in_external_transaction_is_stored_at_commit(sut, judge, outcome):
    """A message that is sent in an external transaction is in its queue only after the commit: not before the
    transaction is prepared, and not between the prepare request and the commit.
    """
    queue = sut.queue("transactional")
    transaction = _begin_transaction_with_message(sut, judge, outcome, external=True)
    judge.conclude("MQSO-3.3.4.4-D01")
    voted = sut.control.call("prepare", transaction=transaction)["outcome"]
    observed = {"outcome": voted, "labels_in_the_queue": sut.labels(queue)}
    judge("MQSO-4.3.1.2-D01", expected=in_queue(), observed=sut.labels(queue), case="queue before the commit")
    judge.conclude("MQSO-4.3.1.2-D01")
    judge(*COORDINATED_TRANSACTION_RULES, expected=facts(outcome="prepared", labels_in_the_queue=[]), observed=observed)
    answer = sut.attempt(outcome, transaction=transaction)
    stored_labels = [outcome] if outcome == "commit" else []
    observed = {"outcome": answer, "labels_in_the_queue": sut.labels(queue)}
    judge(
        *SEND_DECISION_RULES,
        *COORDINATED_TRANSACTION_RULES,
        expected=facts(outcome=Outcome.DONE, labels_in_the_queue=stored_labels),
        observed=observed,
    )


def _begin_transaction_with_message(sut: Sut, judge: Judge, label: str, *, external: bool) -> str:
    """Begin a transaction, send a message in it, and judge that the message is invisible; return the transaction."""
    queue = sut.queue("transactional")
    transaction = sut.control.call("begin", external=external)["transaction"]
    sut.send_here(queue, [label], delivery="transactional", transaction=transaction)
    judge(*PENDING_SEND_RULES, expected=in_queue(), observed=sut.labels(queue))
    handle = sut.control.call("open_queue", queue=queue)["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    observed = {
        "peek": sut.read_label("peek_message", queue=queue),
        "peek_by_handle": sut.read_label("peek_message", handle=handle),
        "peek_by_cursor": sut.read_label("peek_message", cursor=cursor),
        "receive": sut.read_label("receive", queue=queue),
        "first": sut.attempt("peek_by_lookup_id", queue=queue, seek="first"),
        "last": sut.attempt("peek_by_lookup_id", queue=queue, seek="last"),
    }
    sut.control.call("close_queue", handle=handle)
    invisible = dict.fromkeys(observed, Outcome.NOTHING) | {"first": Outcome.REFUSED, "last": Outcome.REFUSED}
    judge(*PENDING_SEND_RULES, expected=invisible, observed=observed, case="reads while the transaction is open")
    return transaction


@needs("send", "receive", "queues", "transactions")
@covers("MQSO-4.3.1.2-D09", *COORDINATED_TRANSACTION_RULES, *TRANSACTIONAL_RECEIVE_RULES)
@varied("trace", "queue journaling", "queue quota", "queue privacy", "read by")
@pytest.mark.parametrize("verb", ["receive", "receive_by_lookup_id"])
def test_message_is_received_in_transaction_of_other_kind(peer, sut, judge, verb):
    """Two messages that were sent in an internal transaction can be received in an external transaction, and vice
    versa, in order or by LookupIdentifier. An abort after the vote returns the first message to the queue, and a commit
    removes it.
    """
    how = {"timeout_ms": 0} if verb == "receive" else {"seek": "first"}
    queue = sut.queue("transactional")
    for external in (False, True):
        kind = "external" if external else "internal"
        labels = [kind, f"second {kind}"]
        sending = sut.control.call("begin", external=external)["transaction"]
        sut.send_here(queue, labels, delivery="transactional", transaction=sending)
        observed: dict[str, object] = {"sent": _end_transaction(sut, sending, "commit", external=external)}
        for outcome in ("abort", "commit"):
            receiving = sut.control.call("begin", external=not external)["transaction"]
            taken = PendingRequest(peer, verb, queue=queue, transaction=receiving, **how).await_label()
            decided = _end_transaction(sut, receiving, outcome, external=not external)
            observed[outcome] = {"received": taken, "decided": decided, "left": sut.labels(queue)}
        expected = facts(
            sent=each(Outcome.DONE, "step"),
            abort=facts(received=kind, decided=each(Outcome.DONE, "step"), left=labels),
            commit=facts(received=kind, decided=each(Outcome.DONE, "step"), left=labels[1:]),
        )
        judge("MQSO-4.3.1.2-D09", expected=expected, observed=observed, case=f"{kind} transaction that sent")
        if not external:
            judge(
                *COORDINATED_TRANSACTION_RULES,
                expected=expected,
                observed=observed,
                case="external transaction that received",
            )
        judge(*TRANSACTIONAL_RECEIVE_RULES, expected=expected, observed=observed, case="transaction that received")
        sut.control.call("purge", queue=queue)


def _end_transaction(sut: Sut, transaction: str, outcome: str, *, external: bool) -> dict[str, str]:
    steps = ("prepare", outcome) if external else (outcome,)
    return {step: sut.attempt(step, transaction=transaction) for step in steps}


@needs("send", "transactions")
@covers(*SEND_DECISION_RULES)
def test_message_is_transferred_after_commit_only(peer, sut, judge):
    """Two messages are sent to the peer in transactions. The message of the committed transaction arrives after the
    commit, and the message of the aborted transaction never arrives.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-committed"))
    bodies = {}
    for tag, outcome in enumerate(("abort", "commit"), 1):
        transaction = sut.control.call("begin")["transaction"]
        sut.send(sender.to, body=outcome, application_tag=tag, delivery="transactional", transaction=transaction)
        bodies[tag] = outcome
        if outcome == "commit":
            is_early = peer.await_session(sut.quiet_ms) is not None
        sut.control.call(outcome, transaction=transaction)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, 1)
    observed = [bodies.get(int(frame["MessagePropertiesHeader"].ApplicationTag)) for frame in frames]
    expected = facts(session_opened_before_the_commit=False, bodies_of_the_sent_messages=["commit"])
    judge.all(
        expected=expected,
        observed={"session_opened_before_the_commit": is_early, "bodies_of_the_sent_messages": observed},
        evidence=frames,
    )
    if session is not None:
        session.acknowledge_all()
