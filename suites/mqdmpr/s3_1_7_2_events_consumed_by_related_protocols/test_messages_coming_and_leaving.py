"""MS-MQDMPR 3.1.7.2.1, 3.1.7.2.2: messages become available and are deleted."""

from __future__ import annotations

from itertools import pairwise

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication
from suites.mqqp.steps.reading import WAITING, brought, deliver, filled, waiting

LONG_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2-01", "MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2.2-07", "MQDMPR-3.1.7.2.2-14")
def test_every_peek_that_waits_gets_the_message(remote, judge):
    """Two peeks wait through each of two handles of a queue: all four get the message; it stays until it is taken."""
    queue, other = filled(remote), remote.open()
    reads = [one.begin(PEEK_CURRENT, ulTimeout=LONG_MS) for one in (queue, queue, other, other)]
    before = {waiting(read) for read in reads}
    deliver(remote, ["first"])
    got = [brought(read.wait()) for read in reads]
    evidence = reads
    through_each = [sorted(before), got[0], got[2]]
    judge("MQDMPR-3.1.7.2.2-07", expected=[[WAITING], "first", "first"], observed=through_each, evidence=evidence)
    there = queue.labels()
    judge("MQDMPR-3.1.7.2.2-04", expected=["first"], observed=there, evidence=evidence)
    observed = [*got, there]
    judge("MQDMPR-3.1.7.2.2-14", expected=[*["first"] * 4, ["first"]], observed=observed, evidence=evidence)
    taken = queue.read(RECEIVE)
    if taken.outcome == "MQ_OK":
        queue.end(taken)
    seen = [there, queue.labels()]
    judge("MQDMPR-3.1.7.2-01", expected=[["first"], []], observed=seen, evidence=[*evidence, *taken.evidence])


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.2.1-03", "MQDMPR-3.1.7.2.2-03")
def test_a_queue_holds_as_many_bytes_as_its_messages_take(peer, sut, judge):
    """Each message that comes takes at least the bytes of its body, and gives back what it took when it is received;
    one that a transaction had for a time counts once (E104).
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)

    def held() -> int:
        return sut.control.call("get_queue", name=application.queue)["bytes"]

    sizes = [held()]
    for label in ("a", "b" * 50, "c" * 120):
        application.fill(label)
        sizes.append(held())
    took = [after - before for before, after in pairwise(sizes)]
    evidence = list(application.sent.values())
    bodies = [len(bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in evidence]
    enough = [taken >= max(body, 1) for taken, body in zip(took, bodies, strict=True)]
    transaction = application.begin()
    application.take(transaction=transaction)
    application.decide("abort", transaction)
    back = held() - sizes[-1]
    observed = [sizes[0], enough, back]
    judge("MQDMPR-3.1.7.2.2-03", expected=[0, [True] * 3, 0], observed=observed, evidence=evidence)
    left = []
    for _ in took:
        application.take()
        left.append(held())
    wanted = [sum(took[number:]) for number in range(1, len(took) + 1)]
    judge("MQDMPR-3.1.7.2.1-03", expected=wanted, observed=left, evidence=evidence)
    application.receiver.end()
