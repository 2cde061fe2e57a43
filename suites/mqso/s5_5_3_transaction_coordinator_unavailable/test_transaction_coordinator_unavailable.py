"""MS-MQSO 5.5.3 Transaction Coordinator Unavailable: it goes away and comes back."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from suites.applications import DONE, REFUSED, asked, received, tried
from suites.messages import Sequence
from suites.mqqb.steps.sender import Sender, tags
from suites.mqso.steps.serving import SERVED, Attempt


def _used(sut: Sut, queue: str) -> str:
    """Send to a transactional queue, and receive from it, in a transaction of the coordinator; say what came of it."""
    try:
        transaction = sut.control.call("begin", external=True)["transaction"]
    except ControlRefused:
        return REFUSED
    sent = tried(lambda: sut.send(sut.direct_name(queue), body="in a transaction", transaction=transaction))
    taken = asked(sut, "receive", queue=queue, transaction=transaction, timeout_ms=0)
    asked(sut, "abort", transaction=transaction)
    return sent if sent == taken else f"sent: {sent}, received: {taken}"


def _decided(sut: Sut, queue: str) -> str:
    """Receive in a transaction of the coordinator, which then decides it; say what came of it."""
    try:
        transaction = sut.control.call("begin", external=True)["transaction"]
    except ControlRefused:
        return REFUSED
    taken = received(sut, queue=queue, transaction=transaction)
    phases = [f"{phase} {asked(sut, phase, transaction=transaction)}" for phase in ("prepare", "commit")]
    return ", ".join([taken, *phases])


@needs("environment", "transactions", "send", "receive", "queue_control")
@covers("MQSO-5.5.3-01", "MQSO-5.5.3-03", "MQSO-5.5.3-04", "MQSO-5.5.3-06")
def test_transactions_end_with_their_coordinator(peer, sut, judge):
    """A message is received in a transaction, in which another is sent, when the coordinator goes away: the one is
    there again, the other never was. No transaction of it can be used then; when it is back, one can.
    """
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1"], delivery="transactional")
    transaction = sut.control.call("begin", external=True)["transaction"]
    received(sut, queue=queue, transaction=transaction)
    sut.send(sut.direct_name(queue), label="never", body="never", transaction=transaction)
    sut.change_environment(coordinator=False)
    peer.eventually(lambda: received(sut, "peek_message", queue=queue) == "1")
    judge("MQSO-5.5.3-03", expected="1", observed=received(sut, "peek_message", queue=queue))
    judge("MQSO-5.5.3-04", expected=REFUSED, observed=_used(sut, queue))
    sut.change_environment(coordinator=True)
    used = _used(sut, queue)
    judge("MQSO-5.5.3-01", "MQSO-5.5.3-06", expected=DONE, observed=used)
    decided = asked(sut, "commit", transaction=transaction)
    judge("MQSO-5.5.3-03", expected=(REFUSED, ["1"]), observed=(decided, sut.labels(queue)))


@needs("environment", "transactions", "send", "receive", "queue_control")
@covers("MQSO-5.5.3-01", "MQSO-5.5.3-06")
def test_transactions_are_decided_when_their_coordinator_is_back(sut, judge):
    """A message is received in a transaction that begins after the coordinator was away, and that it commits."""
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1"], delivery="transactional")
    sut.change_environment(coordinator=False)
    sut.change_environment(coordinator=True)
    decided = _decided(sut, queue)
    judge.all(expected=("1, prepare done, commit done", []), observed=(decided, sut.labels(queue)))


@needs("environment", "transactions", "send", "receive", "queue_control")
@covers("MQSO-5.5.3-05")
def test_whatever_needs_no_coordinator_goes_on_without_it(peer, sut, judge):
    """Without the coordinator messages are sent to and received from a queue that is not transactional, a transactional
    message of the peer arrives, and one that was sent before comes to the peer when that is there.
    """
    plain, transactional, to = sut.new_queue("plain"), sut.queue("transactional"), peer.direct_name("mqc-beyond")
    sut.send(to, body="message 1", application_tag=1, delivery="transactional")
    sut.change_environment(coordinator=False)
    sent = tried(lambda: sut.send_here(plain, ["here"], delivery="recoverable"))
    judge("MQSO-5.5.3-05", expected=(DONE, "here"), observed=(sent, received(sut, queue=plain)))
    attempt = Attempt(peer)
    judge("MQSO-5.5.3-05", expected=SERVED, observed=attempt.outcome, evidence=attempt.evidence)
    sender = Sender(peer, sut, to)
    session = sender.next_session()
    came = [] if session is None else sender.collect(session, 1)
    judge("MQSO-5.5.3-05", expected=[1], observed=tags(came), evidence=came)
    if session is not None:
        sender.acknowledge_all(session)
    arrived = peer.open_raw().send(Sequence(peer).message(label="of the peer"))
    peer.eventually(lambda: sut.labels(transactional) == ["of the peer"])
    judge("MQSO-5.5.3-05", expected=["of the peer"], observed=sut.labels(transactional), evidence=[arrived])


@needs("environment", "transactions", "send", "receive", "queue_control", "restart")
@covers("MQSO-5.5.3-02")
def test_it_starts_without_its_coordinator(peer, sut, judge):
    """Restarted while the coordinator is away it serves sessions and has its messages; its transactions are used when
    the coordinator is back.
    """
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1", "2"], delivery="transactional")
    sut.change_environment(coordinator=False)
    sut.restart()
    attempt = Attempt(peer)
    observed = (attempt.outcome, sut.labels(queue))
    judge("MQSO-5.5.3-02", expected=(SERVED, ["1", "2"]), observed=observed, evidence=attempt.evidence)
    sut.change_environment(coordinator=True)
    judge("MQSO-5.5.3-02", expected=DONE, observed=_used(sut, queue))
