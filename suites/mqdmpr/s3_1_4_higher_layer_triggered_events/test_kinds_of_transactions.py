"""MS-MQDMPR 3.1.4.1 to 3.1.4.7: several transactions of one kind, several moves, and a start with several queues."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.expectations import any_order, each, facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application
from suites.mqqb.steps.sender import Sender

QUEUE_LABEL = "label of a restored queue"
SINGLE_PHASE_RULE = "MQDMPR-3.1.4.3-04"


@needs("inspect", "restart", "transactions")
@covers(SINGLE_PHASE_RULE)
def test_single_phase_of_several_transactions_and_after_restart(sut, judge):
    """SinglePhase is False for two transactions that a coordinator prepared, even after a restart, and True for a
    transaction without a coordinator that was begun after them.
    """
    coordinated = [sut.control.call("begin", external=True)["transaction"] for _ in range(2)]
    internal = sut.control.call("begin")["transaction"]
    for transaction in coordinated:
        sut.control.call("prepare", transaction=transaction)
    expected = {**dict.fromkeys(coordinated, False), internal: True}
    for case in ("SinglePhase", "SinglePhase after a restart"):
        if case != "SinglePhase":
            sut.control.call("abort", transaction=internal)
            sut.restart()
            del expected[internal]
        shown = {one["Identifier"]: one["SinglePhase"] for one in sut.inspect_queue_manager()["TransactionCollection"]}
        judge.all(expected=expected, observed={one: shown.get(one) for one in expected}, case=case)
    for transaction in coordinated:
        sut.control.call("abort", transaction=transaction)


@needs("receive", "queue_control", "transactions", "subqueues")
@covers("MQDMPR-3.1.4.4-19", "MQDMPR-3.1.4.7-03")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_each_moved_message_can_be_received_after_commit(peer, sut, judge, external):
    """A transaction, with or without a coordinator, moves two messages to a subqueue, and a message from the subqueue
    to the queue. After the commit, an application receives each message from its target queue.
    """
    if not external:
        judge.mark_not_exercised("MQDMPR-3.1.4.7-03", reason="the transaction has no coordinator")
    rules = ("MQDMPR-3.1.4.4-19", "MQDMPR-3.1.4.7-03") if external else ("MQDMPR-3.1.4.4-19",)
    application = Application(peer, sut, transactional=True)
    queue, subqueue = application.queue, f"{application.queue};mqc-moved"
    sut.create_queue(subqueue, transactional=True)
    sent = application.fill_queue("first", "second", "back")
    known = application.get_lookup_ids_by_label()
    application.call("move", queue=queue, lookup_id=known["back"], to=subqueue)
    in_subqueue = application.get_lookup_ids_by_label(subqueue)["back"]
    transaction = application.begin_transaction(external=external)
    for label in ("first", "second"):
        application.call("move", queue=queue, lookup_id=known[label], to=subqueue, transaction=transaction)
    application.call("move", queue=subqueue, lookup_id=in_subqueue, to=queue, transaction=transaction)
    if external:
        application.call("prepare", transaction=transaction)
    application.call("commit", transaction=transaction)
    received = {
        "received_from_the_subqueue": [sut.read_label("receive", queue=subqueue) for _ in range(2)],
        "received_from_the_queue": [sut.read_label("receive", queue=queue)],
    }
    expected = facts(received_from_the_subqueue=["first", "second"], received_from_the_queue=["back"])
    judge(*rules, expected=expected, observed=received, evidence=sent)


@needs("transactions", "receive", "queue_control")
@covers("MQDMPR-3.1.4.5-19")
def test_aborted_transaction_without_operations_is_removed(peer, sut, judge):
    """Applications abort two transactions without operations, one with and one without a coordinator. The SUT refuses
    every later request that names one of these transactions.
    """
    application = Application(peer, sut, transactional=True)
    sent = application.fill_queue("left")
    answers = {}
    for external in (False, True):
        transaction = application.begin_transaction(external=external)
        application.call("abort", transaction=transaction)
        for verb in ("prepare", "commit", "abort"):
            answers[f"{verb} (external: {external})"] = sut.attempt(verb, transaction=transaction)
        request = {"queue": application.queue, "timeout_ms": 0, "transaction": transaction}
        answers[f"receive (external: {external})"] = sut.attempt("receive", **request)
    refused = each(Outcome.REFUSED, "request in an aborted transaction")
    judge.all(expected=refused, observed=answers, evidence=sent)


@needs("send", "restart", "receive", "queue_control")
@covers("MQDMPR-3.1.4.1-03")
def test_start_restores_each_queue_and_sends_from_each_outgoing_queue(peer, sut, judge):
    """The SUT has two queues with labels and messages, and unacknowledged messages for two queues of the peer. After a
    restart, its queues have their labels and messages, and the SUT sends the messages for both queues of the peer.
    """
    queues = [sut.new_queue(f"restored-{number}", label=QUEUE_LABEL) for number in range(2)]
    for queue in queues:
        sut.send_here(queue, ["kept"], delivery="recoverable")
    names = [peer.direct_name("mqc-waiting-1"), peer.direct_name("mqc-waiting-2")]
    sender = Sender(peer, sut, names[0])
    for tag, name in enumerate(names, 1):
        sut.send(name, body=f"message {tag}", application_tag=tag, delivery="recoverable")
    for _ in names:
        sender.poll_session()
    sut.restart()
    found = {queue: sut.attempt("get_queue", name=queue) for queue in queues}
    judge.all(expected=each(Outcome.DONE, "reading of a queue after a restart"), observed=found)
    known = [queue for queue in queues if found[queue] == Outcome.DONE]
    restored = {queue: sut.labels(queue) for queue in known}
    labels = [sut.control.call("get_queue", name=queue).get("label", QUEUE_LABEL) for queue in known]
    frames: list[Frame] = []
    while len(frames) < len(names) and (session := sender.poll_session()) is not None:
        if session.record.closed_by is None:
            frames += sender.collect_messages(session, 1)
            session.acknowledge_all()
    case = "messages sent after the restart"
    judge.all(expected=any_order(1, 2), observed=Sender.list_tags(frames), case=case, evidence=frames)
    if known:
        judge.all(expected=each(in_queue("kept"), "queue"), observed=restored, evidence=frames)
        judge.all(expected=each(QUEUE_LABEL, "label of a queue"), observed=labels, evidence=frames)
