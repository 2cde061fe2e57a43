"""MS-MQDMPR 3.1.4.3 to 3.1.4.10: transactions with several operations of each kind, while a second
transaction is open.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

PREPARED_TRANSACTION_KINDS = ("prepared", "in doubt")
COMMIT_RULES = ("MQDMPR-3.1.4.4-16", "MQDMPR-3.1.4.4-17", "MQDMPR-3.1.4.4-18")
IN_DOUBT_RULE_BY_DECISION = {"commit": "MQDMPR-3.1.4.9-D01", "abort": "MQDMPR-3.1.4.10-D01"}
DECISION_OUTCOME_RULE_BY_DECISION = {"commit": "MQDMPR-3.1.4.4-24", "abort": "MQDMPR-3.1.4.5-20"}
TRANSACTION_REMOVAL_RULE_BY_DECISION = {"commit": "MQDMPR-3.1.4.4-23", "abort": "MQDMPR-3.1.4.5-19"}
COORDINATOR_RULES = ("MQDMPR-3.1.4.3-08", "MQDMPR-3.1.4.8-03")
IN_DOUBT_TRANSACTION_RULES = (*IN_DOUBT_RULE_BY_DECISION.values(), "MQDMPR-3.1.3-D15")
QUEUE_QUOTA_KB = 64
SENT_BODY = "x" * 20_000


@needs("receive", "queue_control", "send", "transactions", "subqueues")
@covers(
    *COMMIT_RULES,
    *IN_DOUBT_RULE_BY_DECISION.values(),
    *DECISION_OUTCOME_RULE_BY_DECISION.values(),
    *TRANSACTION_REMOVAL_RULE_BY_DECISION.values(),
    *COORDINATOR_RULES,
    "MQDMPR-3.1.3-D15",
    "MQDMPR-3.1.4.5-17",
)
@pytest.mark.parametrize("kind", ["internal", "prepared", pytest.param("in doubt", marks=needs("restart"))])
def test_each_operation_of_transaction_is_decided(peer, sut, judge, kind):
    """A transaction receives two messages, moves three messages to two subqueues, and sends two messages; a second
    transaction receives another message. The first transaction is then committed or aborted: without a coordinator,
    after a coordinator prepared it, or after two restarts. A commit carries out all its operations, and an abort undoes
    all of them. The properties of the moved messages do not change, and the second transaction stays undecided.
    """
    if kind == "internal":
        judge.mark_not_exercised(*COORDINATOR_RULES, reason="the transactions have no coordinator")
    if kind != "in doubt":
        judge.mark_not_exercised(*IN_DOUBT_TRANSACTION_RULES, reason="no transaction is in doubt")
    for verb in ("commit", "abort"):
        _judge_decision_of_many_operations(peer, sut, judge, kind, verb)


def _judge_decision_of_many_operations(peer, sut, judge, kind, verb):
    """Let a transaction of one kind carry out several operations, commit or abort it, and judge the result."""
    application = Application(peer, sut, transactional=True)
    queue, first_sub, second_sub = application.queue, *(f"{application.queue};mqc-{number}" for number in (1, 2))
    sut.control.call("set_queue", name=queue, quota_kb=QUEUE_QUOTA_KB)
    for name in (first_sub, second_sub):
        sut.create_queue(name, transactional=True)
    connection = peer.open_raw()
    properties = {"ApplicationTag": 0xFEDC_BA98, "ExtensionData": b"\0odd\0"}
    packets = {label: connection.send(application.build_message(label, properties=properties)) for label in "abcdefgh"}
    if not application.await_message_count(len(packets)):
        raise ConformanceFailure("the SUT did not store the messages")
    known = application.get_lookup_ids_by_label()
    work, other = (application.begin_transaction(external=kind != "internal") for _ in range(2))
    application.receive(transaction=work)
    for label, target in (("e", first_sub), ("c", second_sub), ("d", first_sub)):
        application.call("move", queue=queue, lookup_id=known[label], to=target, transaction=work)
    application.receive_by_label("f", transaction=work)
    for label in ("sent first", "sent second"):
        sut.send(sut.direct_name(queue), label=label, body=SENT_BODY, transaction=work)
    application.receive_by_label("g", transaction=other)
    if kind in PREPARED_TRANSACTION_KINDS:
        prepared = {one: sut.attempt("prepare", transaction=one) for one in (other, work)}
        judge("MQDMPR-3.1.4.3-08", expected=each(Outcome.DONE, "prepare request"), observed=prepared, case=verb)
    for _ in range(2 if kind == "in doubt" else 0):
        sut.restart()
    decided = sut.attempt(verb, transaction=work)
    observed = {
        "queue": application.labels(),
        "first_subqueue": application.labels(first_sub),
        "second_subqueue": application.labels(second_sub),
    }
    moved = {one["label"]: one for name in (first_sub, second_sub) for one in application.messages(name)}
    evidence = list(packets.values())
    judge(
        DECISION_OUTCOME_RULE_BY_DECISION[verb],
        expected=Outcome.DONE,
        observed=decided,
        case="decision",
        evidence=evidence,
    )
    if verb == "commit":
        expected = {
            "queue": in_queue("b", "h", "sent first", "sent second"),
            "first_subqueue": in_queue("e", "d"),
            "second_subqueue": in_queue("c"),
        }
        rules: tuple[str, ...] = COMMIT_RULES
    else:
        expected = {
            "queue": in_queue("a", "b", "c", "d", "e", "f", "h"),
            "first_subqueue": in_queue(),
            "second_subqueue": in_queue(),
        }
        rules = ("MQDMPR-3.1.4.5-17",)
    if kind == "in doubt":
        rules = (*rules, IN_DOUBT_RULE_BY_DECISION[verb], "MQDMPR-3.1.3-D15")
    if kind in PREPARED_TRANSACTION_KINDS and verb == "abort":
        rules = (*rules, "MQDMPR-3.1.4.8-03")
    judge(*rules, expected=facts(**expected), observed=observed, evidence=evidence)
    for label in ("c", "d", "e") if verb == "commit" else ():
        judge(
            "MQDMPR-3.1.4.4-17",
            expected=UNCHANGED_PROPERTIES_OUTCOME,
            observed=describe_differences(packets[label], moved.get(label), sut.guid),
            evidence=packets[label],
            case=f"moved message {label}",
        )
    listed = application.count_operations_of_transactions(work, other)
    judge(
        TRANSACTION_REMOVAL_RULE_BY_DECISION[verb],
        *([IN_DOUBT_RULE_BY_DECISION[verb]] if kind == "in doubt" else []),
        expected={other: 1},
        observed=listed,
        case="listed transactions, with their numbers of operations",
        evidence=evidence,
    )
    application.end_transaction("abort", other)
    if verb == "abort":
        after = [sut.attempt(sut.send, sut.direct_name(queue), body=SENT_BODY, delivery="transactional") for _ in "12"]
        judge(
            "MQDMPR-3.1.4.5-17",
            expected=each(Outcome.DONE, "send to the queue, whose quota has room for the message"),
            observed=after,
            evidence=evidence,
        )


@needs("receive", "queue_control", "send", "transactions")
@covers("MQDMPR-3.1.4.4-07", "MQDMPR-3.1.4.4-11", "MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.5-17")
@pytest.mark.parametrize("verb", ["commit", "abort"])
def test_transaction_is_decided_in_each_of_its_queues(peer, sut, judge, verb):
    """A transaction receives three messages from one queue and one from a second queue, and sends messages to both
    queues and to a third. A commit removes all received messages and stores all sent messages. An abort returns all
    received messages to their places and stores no sent message.
    """
    rules = {
        "commit": (("MQDMPR-3.1.4.4-07", "MQDMPR-3.1.4.4-11"), ("MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.5-17")),
        "abort": (("MQDMPR-3.1.4.5-13", "MQDMPR-3.1.4.5-17"), ("MQDMPR-3.1.4.4-07", "MQDMPR-3.1.4.4-11")),
    }[verb]
    judge.mark_not_exercised(*rules[1], reason=f"the transaction ends with {verb}")
    first, second, third = (Application(peer, sut, transactional=True) for _ in range(3))
    packets = first.fill_queue(*"abcd") + second.fill_queue(*"efg")
    work = first.begin_transaction()
    received = [one.receive(transaction=work) for one in (first, second, first, first)]
    for one, label in ((first, "to first"), (second, "to second"), (third, "to third"), (second, "again")):
        one.send(label, transaction=work)
    before = [one.labels() for one in (first, second, third)]
    first.end_transaction(verb, work)
    expected = {
        "commit": [in_queue("d", "to first"), in_queue("f", "g", "to second", "again"), in_queue("to third")],
        "abort": [in_queue(*"abcd"), in_queue(*"efg"), in_queue()],
    }[verb]
    peer.settle()
    judge(
        *rules[0],
        expected={"received": [*"aebc"], "queues before": [["d"], ["f", "g"], []], "queues after": expected},
        observed={
            "received": received,
            "queues before": before,
            "queues after": [one.labels() for one in (first, second, third)],
        },
        evidence=packets,
    )


@needs("receive", "queue_control", "send", "transactions")
@covers("MQDMPR-3.1.4.3-06", "MQDMPR-3.1.4.3-07", "MQDMPR-3.1.1.12-D58", "MQDMPR-3.1.1.12-D59")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_first_and_last_message_are_marked_between_receives(peer, sut, judge, external):
    """A transaction receives a message, sends three messages to the peer, and receives another message. Only the first
    sent message has FM set, and only the last has LM set.
    """
    application = Application(peer, sut, transactional=True)
    application.fill_queue("first", "second")
    sender = Sender(peer, sut, peer.direct_name("mqc-between"))
    transaction = application.begin_transaction(external=external)
    application.receive(transaction=transaction)
    sender.send(1, 2, 3, transaction=transaction)
    application.receive(transaction=transaction)
    if external:
        application.call("prepare", transaction=transaction)
    application.call("commit", transaction=transaction)
    session, frames = sender.await_first_messages(3)
    headers = [get_transaction_header(frame) for frame in frames]
    for field, expected, rules in (
        ("FM", [1, 0, 0], ("MQDMPR-3.1.4.3-06", "MQDMPR-3.1.1.12-D58")),
        ("LM", [0, 0, 1], ("MQDMPR-3.1.4.3-07", "MQDMPR-3.1.1.12-D59")),
    ):
        observed = [int(getattr(one, field)) for one in headers]
        judge(*rules, expected=expected, observed=observed, case=f"{field} of each message", evidence=frames)
    session.acknowledge_all()
