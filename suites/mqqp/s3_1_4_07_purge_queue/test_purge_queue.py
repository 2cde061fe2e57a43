"""MS-MQQP 3.1.4.7 RemoteQMPurgeQueue."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import RECEIVE, RR_NACK
from suites.messages import a_message
from suites.mqqp.steps.reading import FIRST, SECOND, UNKNOWN_HANDLE, deliver, filled, frames, send_all
from suites.mqqp.steps.whole import EXPRESS, KINDS, QUEUES, TRANSACTIONAL, WHOLE, every_property, unchanged

pytestmark = needs("qm2qm")


@covers(
    "MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-09", "MQQP-3.1.4.7-10", "MQQP-3.1.4.7-12"
)
@goes_on()
def test_an_open_queue_is_purged_and_no_other(remote, judge):
    """A queue that was not opened is refused; one that was is empty afterwards, and another is not."""
    queue = filled(remote, FIRST, SECOND)
    admin = remote.open("admin", association=queue.association)
    deliver(remote, [FIRST], queue="admin")
    unopened = remote.open_remote(queue.association).settled().out.phQueue
    unknown = queue.association.call("RemoteQMPurgeQueue", hQueue=UNKNOWN_HANDLE)
    closed = queue.association.call("RemoteQMPurgeQueue", hQueue=unopened)
    expected = "MQ_ERROR_INVALID_HANDLE"
    for rule in ("MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06"):
        observed = [closed.either, unknown.either, queue.labels()]
        evidence = [*closed.evidence, *unknown.evidence]
        judge(rule, expected=[expected, expected, [FIRST, SECOND]], observed=observed, evidence=evidence)
    purged = queue.purge()
    for rule in ("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-12"):
        judge(rule, expected="MQ_OK", observed=purged.outcome, evidence=purged.evidence)
    judge.finished("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-05", "MQQP-3.1.4.7-06", "MQQP-3.1.4.7-12")
    judge("MQQP-3.1.4.7-10", expected=[], observed=queue.labels(), evidence=purged.evidence)
    judge.finished("MQQP-3.1.4.7-10")
    judge("MQQP-3.1.4.7-09", expected=[FIRST], observed=admin.labels(), evidence=purged.evidence)


@covers("MQQP-3.1.4.7-D01")
def test_a_message_that_a_reader_holds_is_removed_too(remote, judge):
    """One of two messages is held while the queue is purged, and then given back: neither is in the queue."""
    queue = filled(remote, FIRST, SECOND)
    held = queue.read(RECEIVE).settled()
    purged = queue.purge()
    queue.end(held, RR_NACK)
    observed = [purged.outcome, queue.labels()]
    judge("MQQP-3.1.4.7-D01", expected=["MQ_OK", []], observed=observed, evidence=frames([held, purged]))


@covers("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10")
@pytest.mark.parametrize("kind", KINDS)
def test_every_message_is_removed(remote, judge, kind):
    """Of a dozen messages, of all priorities, one of many fragments, none is left; what comes later is there."""
    queue = remote.open(QUEUES[kind])
    sent = [every_property(remote.peer, f"message {number}", kind) for number in range(4)]
    if kind != TRANSACTIONAL:
        delivery = {"DM": int(kind != EXPRESS)}
        sent += [a_message(remote.peer, delivery, base={"PR": one}, label=f"priority {one}") for one in range(8)]
    sent.append(every_property(remote.peer, "long", kind, body=bytes(100_000)))
    send_all(remote, sent)
    before = len(queue.labels())
    purged = queue.purge()
    left = queue.labels()
    later = every_property(remote.peer, FIRST, kind)
    send_all(remote, [later])
    observed = [before, purged.outcome, left, unchanged(queue.receive(), later), queue.labels()]
    for rule in ("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"):
        expected = [len(sent), "MQ_OK", [], WHOLE, []]
        judge(rule, expected=expected, observed=observed, evidence=purged.evidence)
