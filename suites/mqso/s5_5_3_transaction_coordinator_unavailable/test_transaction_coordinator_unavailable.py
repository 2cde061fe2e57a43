"""MS-MQSO 5.5.3 Transaction Coordinator Unavailable: loss and return of the coordinator."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import each, facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.applications import PendingRequest
from suites.messages import Sequence
from suites.mqqb.steps.sender import Sender
from suites.mqso.steps.serving import SessionAttempt

SAMPLE_TRANSACTION_ID = UUID("6d71636f-6e66-4f72-8d00-0000000000e5")


def _use_transactional_queue_and_get_outcomes(sut: Sut, queue: str) -> dict[str, str]:
    """Send to a transactional queue and receive from it in a transaction of the coordinator; also begin a transaction
    with a given identifier. Return the outcome of each request.
    """
    given = sut.attempt("begin", external=True, transaction=str(SAMPLE_TRANSACTION_ID))
    if given == Outcome.DONE:
        sut.attempt("abort", transaction=str(SAMPLE_TRANSACTION_ID))
    try:
        transaction = sut.control.call("begin", external=True)["transaction"]
    except ControlRefused:
        return {"begin": Outcome.REFUSED, "begin with a given identifier": given}
    sending = sut.attempt(sut.send, sut.direct_name(queue), body="in a transaction", transaction=transaction)
    receiving = sut.attempt("receive", queue=queue, transaction=transaction, timeout_ms=0)
    sut.attempt("abort", transaction=transaction)
    return {"send": sending, "receive": receiving, "begin with a given identifier": given}


@needs("environment", "transactions", "send", "receive", "queues")
@covers("MQSO-5.5.3-01", "MQSO-5.5.3-03", "MQSO-5.5.3-04", "MQSO-5.5.3-06")
def test_loss_of_coordinator_aborts_its_transactions(peer, sut, judge):
    """Two transactions of the coordinator have each received a message when the coordinator is lost. The messages are
    in the queue again, and neither transaction can be committed. New external transactions are refused until the
    coordinator is available again.
    """
    queue = sut.queue("transactional")
    labels = ["1", "2"]
    sut.send_here(queue, labels, delivery="transactional")
    transactions = [sut.control.call("begin", external=True)["transaction"] for _ in labels]
    for transaction in transactions:
        sut.read_label("receive", queue=queue, transaction=transaction)
        sut.send(sut.direct_name(queue), label="never", body="never", transaction=transaction)
    sut.change_environment(coordinator=False)
    peer.eventually(lambda: sut.labels(queue) == labels)
    judge("MQSO-5.5.3-03", expected=in_queue(*labels), observed=sut.labels(queue))
    judge(
        "MQSO-5.5.3-04",
        expected=each(Outcome.REFUSED, "request in an external transaction"),
        observed=_use_transactional_queue_and_get_outcomes(sut, queue),
    )
    sut.change_environment(coordinator=True)
    judge(
        "MQSO-5.5.3-01",
        "MQSO-5.5.3-06",
        expected=each(Outcome.DONE, "request in an external transaction"),
        observed=_use_transactional_queue_and_get_outcomes(sut, queue),
    )
    commits = [sut.attempt("commit", transaction=transaction) for transaction in transactions]
    expected = facts(commits=each(Outcome.REFUSED, "commit"), labels_in_the_queue=labels)
    judge("MQSO-5.5.3-03", expected=expected, observed={"commits": commits, "labels_in_the_queue": sut.labels(queue)})


@needs("environment", "transactions", "send", "receive", "queues")
@covers("MQSO-5.5.3-01", "MQSO-5.5.3-03", "MQSO-5.5.3-06")
def test_external_transaction_commits_after_coordinator_returns(sut, judge):
    """The coordinator is lost twice. Each time, a transaction that has only sent a message is aborted. When the
    coordinator is available again, an external transaction can receive a message, be prepared and be committed.
    """
    queue = sut.queue("transactional")
    for number in range(2):
        undecided = sut.control.call("begin", external=True)["transaction"]
        sut.send(sut.direct_name(queue), label="never", body="never", transaction=undecided)
        sut.change_environment(coordinator=False)
        sut.change_environment(coordinator=True)
        outcomes = [sut.attempt(phase, transaction=undecided) for phase in ("prepare", "commit")]
        observed = {"outcomes": outcomes, "labels_in_the_queue": sut.labels(queue)}
        expected = facts(outcomes=each(Outcome.REFUSED, "request"), labels_in_the_queue=[])
        judge("MQSO-5.5.3-01", "MQSO-5.5.3-03", expected=expected, observed=observed, case=f"loss {number + 1}")
        _judge_external_transaction(sut, judge)


def _judge_external_transaction(sut, judge):
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1"], delivery="transactional")
    try:
        transaction = sut.control.call("begin", external=True)["transaction"]
    except ControlRefused:
        observed = {"begin": Outcome.REFUSED, "labels_in_the_queue": sut.labels(queue)}
    else:
        label = sut.read_label("receive", queue=queue, transaction=transaction)
        decided = {phase: sut.attempt(phase, transaction=transaction) for phase in ("prepare", "commit")}
        observed = {"label_of_the_received_message": label, **decided, "labels_in_the_queue": sut.labels(queue)}
    judge(
        "MQSO-5.5.3-01",
        "MQSO-5.5.3-06",
        expected=facts(
            label_of_the_received_message="1", prepare=Outcome.DONE, commit=Outcome.DONE, labels_in_the_queue=[]
        ),
        observed=observed,
    )


@needs("environment", "transactions", "send", "receive", "queues")
@covers("MQSO-5.5.3-05", "MQSO-4.3.3-D01")
def test_operations_without_coordinator_continue(peer, sut, judge):
    """While the coordinator is unavailable, the SUT sends and receives local messages, also in internal transactions.
    It accepts a session, sends its waiting transactional message, and stores a transactional message from the peer.
    """
    plain_queue, transactional, to = sut.new_queue("plain"), sut.queue("transactional"), peer.direct_name("mqc-beyond")
    sut.send(to, body="message 1", application_tag=1, delivery="transactional")
    sut.change_environment(coordinator=False)
    outcome = sut.attempt(sut.send_here, plain_queue, ["here"], delivery="recoverable")
    judge(
        "MQSO-5.5.3-05",
        expected=facts(send=Outcome.DONE, label_of_the_received_message="here"),
        observed={"send": outcome, "label_of_the_received_message": sut.read_label("receive", queue=plain_queue)},
    )
    sut.send_here(transactional, ["internal"], delivery="transactional")
    transaction = sut.control.call("begin")["transaction"]
    taken = sut.read_label("receive", queue=transactional, transaction=transaction)
    observed = {"received": taken, "commit": sut.attempt("commit", transaction=transaction)}
    observed["left"] = sut.labels(transactional)
    judge(
        "MQSO-5.5.3-05",
        "MQSO-4.3.3-D01",
        expected=facts(received="internal", commit=Outcome.DONE, left=[]),
        observed=observed,
    )
    attempt = SessionAttempt(peer)
    judge(
        "MQSO-5.5.3-05",
        expected=SessionAttempt.SERVED_OUTCOME,
        observed=attempt.outcome,
        evidence=attempt.evidence,
        case="session request of the peer",
    )
    sender = Sender(peer, sut, to)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages(session, 1)
    judge(
        "MQSO-5.5.3-05",
        expected=[1],
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    if session is not None:
        session.acknowledge_all()
    arrived = peer.open_raw().send(Sequence(peer).message(label="of the peer"))
    peer.eventually(lambda: sut.labels(transactional) == ["of the peer"])
    judge("MQSO-5.5.3-05", expected=in_queue("of the peer"), observed=sut.labels(transactional), evidence=[arrived])


@needs("environment", "transactions", "send", "receive", "queue_control")
@covers("MQSO-5.5.3-01", "MQSO-5.5.3-03", "MQSO-5.5.3-04", "MQSO-5.5.3-05", "MQSO-5.5.3-06")
@covers("MQSO-4.3.1.2-D08", "MQSO-4.3.3-D01", "MQSO-5.2.1.3-D01")
def test_internal_transactions_outlive_loss_of_coordinator(peer, sut, judge):
    """Two internal and two external transactions each receive a message, and send one message to a second queue and one
    to the peer; a receive waits in one of the external transactions. When the coordinator is lost, the SUT undoes the
    external transactions and ends their waiting receive. The internal transactions continue; one is committed, and one
    is aborted. Meanwhile a further internal transaction is begun and aborted, and queues are created, changed, peeked,
    purged and deleted. When the coordinator is available again, an external transaction succeeds.
    """
    queue, target = (sut.new_queue(name, transactional=True) for name in ("from", "to"))
    to = peer.direct_name("mqc-coordinated")
    names = ("committed", "external 1", "aborted", "external 2")
    sut.send_here(queue, names, delivery="transactional")
    transactions = {}
    for name in names:
        transactions[name] = sut.control.call("begin", external="external" in name)["transaction"]
        how = {"transaction": transactions[name], "delivery": "transactional"}
        sut.read_label("receive", queue=queue, transaction=transactions[name])
        sut.send_here(target, [name], **how)
        sut.send(to, body=name, application_tag=names.index(name) + 1, **how)
    waiting = PendingRequest(peer, "receive", queue=queue, timeout_ms=600_000, transaction=transactions["external 1"])
    peer.settle()
    sut.change_environment(coordinator=False)
    peer.eventually(lambda: len(sut.labels(queue)) == 2)
    observed = {"waiting_receive": waiting.await_outcome(), "left": sut.labels(queue), "sent": sut.labels(target)}
    expected = facts(waiting_receive=Outcome.REFUSED, left=["external 1", "external 2"], sent=[])
    judge("MQSO-5.5.3-01", "MQSO-5.5.3-03", expected=expected, observed=observed)
    later = {
        name: [
            sut.attempt("receive", queue=queue, transaction=transactions[name], timeout_ms=0),
            sut.attempt(sut.send_here, target, ["late"], transaction=transactions[name], delivery="transactional"),
        ]
        for name in names
        if "external" in name
    }
    judge(
        "MQSO-5.5.3-04",
        expected=each([Outcome.REFUSED] * 2, "external transaction"),
        observed=later,
        case="receive and send after the loss",
    )

    def begin_and_abort_transaction() -> None:
        sut.control.call("abort", transaction=sut.control.call("begin")["transaction"])

    outcomes = {
        "internal transaction": sut.attempt(begin_and_abort_transaction),
        "commit": sut.attempt("commit", transaction=transactions["committed"]),
        "abort": sut.attempt("abort", transaction=transactions["aborted"]),
        "peek": sut.attempt("peek_message", queue=queue, timeout_ms=0),
        "change": sut.attempt("set_queue", name=queue, label="changed"),
        "creation": sut.attempt(sut.new_queue, "meanwhile", transactional=True),
    }
    observed = {
        "outcomes": outcomes,
        "left": sut.labels(queue),
        "sent": sut.labels(target),
        "purge": sut.attempt("purge", queue=queue),
        "purged": sut.labels(queue),
    }
    expected = facts(
        outcomes=each(Outcome.DONE, "request"),
        left=["external 1", "aborted", "external 2"],
        sent=["committed"],
        purge=Outcome.DONE,
        purged=[],
    )
    judge(
        "MQSO-5.5.3-05",
        "MQSO-4.3.1.2-D08",
        "MQSO-4.3.3-D01",
        "MQSO-5.2.1.3-D01",
        expected=expected,
        observed=observed,
    )
    sender = Sender(peer, sut, to)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, 1)
    judge("MQSO-5.5.3-05", expected=[1], observed=Sender.list_tags(frames), evidence=frames, case="tags at the peer")
    if session is not None:
        session.acknowledge_all()
    sut.change_environment(coordinator=True)
    transaction = sut.control.call("begin", external=True)["transaction"]
    how = {"transaction": transaction, "delivery": "transactional"}
    steps = {"send": sut.attempt(sut.send_here, queue, ["sent after the return"], **how)}
    taken = sut.read_label("receive", queue=target, transaction=transaction)
    steps |= {verb: sut.attempt(verb, transaction=transaction) for verb in ("prepare", "commit")}
    observed = {"steps": steps, "received": taken, "left": sut.labels(target), "sent": sut.labels(queue)}
    expected = facts(
        steps=each(Outcome.DONE, "step"),
        received="committed",
        left=[],
        sent=["sent after the return"],
    )
    judge("MQSO-5.5.3-06", expected=expected, observed=observed)


@needs("environment", "transactions", "send", "receive", "queues", "restart")
@covers("MQSO-5.5.3-02")
def test_sut_starts_without_coordinator(peer, sut, judge):
    """The SUT is restarted while the coordinator is unavailable. It accepts a session and still has its stored
    messages. External transactions succeed when the coordinator is available again.
    """
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1", "2"], delivery="transactional")
    sut.change_environment(coordinator=False)
    sut.restart()
    attempt = SessionAttempt(peer)
    observed = {"session_request_of_the_peer": attempt.outcome, "labels_in_the_queue": sut.labels(queue)}
    judge(
        "MQSO-5.5.3-02",
        expected=facts(session_request_of_the_peer=SessionAttempt.SERVED_OUTCOME, labels_in_the_queue=["1", "2"]),
        observed=observed,
        evidence=attempt.evidence,
    )
    arrived = peer.open_raw().send(Sequence(peer).message(label="of the peer"))
    peer.eventually(lambda: "of the peer" in sut.labels(queue))
    transaction = sut.control.call("begin")["transaction"]
    taken = sut.attempt("receive", queue=queue, timeout_ms=0, transaction=transaction)
    steps = {"receive": taken, "commit": sut.attempt("commit", transaction=transaction)}
    left = ["1", "2", "of the peer"][taken == Outcome.DONE :]  # a system may refuse to receive (E201)
    judge(
        "MQSO-5.5.3-02",
        expected=facts(commit=Outcome.DONE, left=left),
        observed={"commit": steps["commit"], "left": sut.labels(queue)},
        evidence=[arrived],
        case="internal transaction",
    )
    sut.change_environment(coordinator=True)
    judge(
        "MQSO-5.5.3-02",
        expected=each(Outcome.DONE, "request in an external transaction"),
        observed=_use_transactional_queue_and_get_outcomes(sut, queue),
    )
