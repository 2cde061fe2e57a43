"""MS-MQQP 3.1.6.1 PCTX_RRSESSION_HANDLE_TYPE Rundown, 3.1.6.2 PCTX_REMOTEREAD_HANDLE_TYPE Rundown."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.judging.verdicts import Verdict
from harness.peer.association import Association, Call
from harness.peer.remote import Remote, RemoteQueue
from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Action, Method, desc2
from harness.wire.rpc_qmcomm import DENY_RECEIVE
from suites.mqqp.steps.reading import fill_queue

pytestmark = needs("qm2qm")

LONG_MS = 600_000
TRIES = 8


@covers("MQQP-3.1.6.1-01")
@pytest.mark.parametrize("waits", [False, True], ids=["idle", "with a read that waits"])
def test_a_client_that_is_gone_leaves_no_queue_open(remote, judge, waits):
    """It had the queue for itself; its connection ends: another opens the queue, and gets the message that comes."""
    queue = remote.open(share=DENY_RECEIVE)
    queue.close_context()
    if waits:
        queue.begin(Action.RECEIVE, ulTimeout=LONG_MS).state_after_silence()
    beside = remote.open("admin")
    other = remote.associate()
    refused = remote.open_remote(other, share=DENY_RECEIVE)
    queue.association.close()
    opened = reopened(remote, other)
    observed = {"before": "refused" if refused.failed else refused.outcome, "after": opened.outcome}
    evidence = [refused, opened]
    judge.all(expected=facts(before="refused", after="MQ_OK"), observed=observed, evidence=evidence)
    remote.deliver(["first"])
    remote.deliver(["second"], queue="admin")
    seen = [one.start_receive().label_or_outcome for one in (RemoteQueue(remote, other, opened), beside)]
    judge("MQQP-3.1.6.1-01", expected=["first", "second"], observed=seen, evidence=evidence)


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_a_client_that_is_gone_gives_its_message_back(remote, judge, by, kind):
    """Two received a message each and did not end that; the connection of one ends: its message is there, no other."""
    queue, other = remote.open(kind), remote.open(kind)
    fill_queue(remote, kind, "first", "second", "third")
    received = queue.start_receive(by=by)
    kept = other.start_receive()
    hidden = other.labels()
    queue.association.close()
    eventually_there(remote, other, ["first", "third"])
    observed = {
        "received": received.label_or_outcome,
        "kept": kept.label_or_outcome,
        "before": hidden,
        "after": other.labels(),
        "end": other.acknowledge(kept).outcome,
    }
    expected = facts(received="first", kept="second", before=["third"], after=["first", "third"], end="MQ_OK")
    judge.all(expected=expected, observed=observed, evidence=[received, kept])


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_a_client_that_is_gone_gives_all_its_messages_back(remote, judge):
    """A client received two of three messages and ended neither; its connection ends: all three are there in order."""
    queue, other = remote.open_with_messages("first", "second", "third"), remote.open()
    received = [queue.start_receive() for _ in range(2)]
    hidden = other.labels()
    queue.association.close()
    eventually_there(remote, other, ["first", "second", "third"])
    observed = {"received": [one.label_or_outcome for one in received], "before": hidden, "after": other.labels()}
    expected = facts(received=["first", "second"], before=["third"], after=["first", "second", "third"])
    judge.all(expected=expected, observed=observed, evidence=received)


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_a_read_on_a_connection_of_its_own_is_given_back(remote, judge):
    """The queue stays open where it was opened; the connection on which it was read ends: the message is back, as is
    one that comes when the read has waited for it on a connection that is gone.
    """
    queue = remote.open_with_messages("first", "second")
    reading = remote.associate(QM2QM)
    read = reading.call(Method.START_RECEIVE2, lpRemoteReadDesc2=desc2(queue.description(Action.RECEIVE)))
    if read.outcome != "MQ_OK":
        judge.give_up(Verdict.NOT_EXERCISED, f"a queue is read on the connection where it was opened: {read.outcome}")
        return
    hidden = queue.labels()
    reading.close()
    eventually_there(remote, queue, ["first", "second"])
    observed = {"read": read.label_or_outcome, "before": hidden, "after": queue.labels()}
    queue.purge().expect_success()
    waiting_there = remote.associate(QM2QM)
    description = desc2(queue.description(Action.RECEIVE, ulTimeout=LONG_MS))
    late = waiting_there.begin(Method.START_RECEIVE2, lpRemoteReadDesc2=description)
    observed["late"] = late.state_after_silence()
    waiting_there.close()
    remote.deliver(["third"])
    eventually_there(remote, queue, ["third"])
    observed["then"] = queue.labels()
    expected = facts(read="first", before=["second"], after=["first", "second"], late=Call.WAITING, then=["third"])
    judge.all(expected=expected, observed=observed, evidence=[read, late])


def reopened(remote: Remote, association: Association) -> Call:
    """Open the queue for one reader alone, again and again while that is refused, for as long as an answer may take."""
    call = remote.open_remote(association, share=DENY_RECEIVE)
    for _ in range(TRIES):
        if not call.failed:
            break
        remote.peer.environment.run_until(lambda: False, remote.sut.response_timeout_ms // TRIES)
        call = remote.open_remote(association, share=DENY_RECEIVE)
    return call


def eventually_there(remote: Remote, queue: RemoteQueue, labels: list[str]) -> None:
    """Wait until a queue holds these messages, for as long as an answer may take."""
    for _ in range(TRIES):
        if queue.labels() == labels:
            return
        remote.peer.environment.run_until(lambda: False, remote.sut.response_timeout_ms // TRIES)
