"""MS-MQDMPR 3.1.7.2.1, 3.1.7.2.2: messages become available and are deleted."""

from __future__ import annotations

from itertools import pairwise

from harness.expectations import each, none
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication
from suites.mqqp.steps.reading import WAITING, brought, waiting

LONG_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2-01", "MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2.2-07", "MQDMPR-3.1.7.2.2-14")
def test_every_peek_that_waits_gets_the_message(remote, judge):
    """Every peek that waits, by whatever opening, gets the message that comes, which stays until it is received."""
    queue, other = remote.filled(), remote.open()
    reads = [one.begin(PEEK_CURRENT, ulTimeout=LONG_MS) for one in (queue, queue, other, other)]
    before = [waiting(read) for read in reads]
    remote.deliver(["first"])
    got = [brought(read.wait()) for read in reads]
    judge(
        "MQDMPR-3.1.7.2.2-07",
        expected={"before": each(WAITING), "by_one_opening": "first", "by_the_other": "first"},
        observed={"before": before, "by_one_opening": got[0], "by_the_other": got[2]},
        evidence=reads,
    )
    there = queue.labels()
    judge("MQDMPR-3.1.7.2.2-04", expected=["first"], observed=there, evidence=reads)
    judge(
        "MQDMPR-3.1.7.2.2-14",
        expected={"peeks": each("first"), "queue": ["first"]},
        observed={"peeks": got, "queue": there},
        evidence=reads,
    )
    taken = queue.read(RECEIVE)
    if taken.outcome == "MQ_OK":
        queue.end(taken)
    judge(
        "MQDMPR-3.1.7.2-01",
        expected={"before": ["first"], "after": []},
        observed={"before": there, "after": queue.labels()},
        evidence=[*reads, taken],
    )


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.2.1-03", "MQDMPR-3.1.7.2.2-03")
def test_a_queue_holds_as_many_bytes_as_its_messages_take(peer, sut, judge):
    """A queue holds for each message at least the bytes of its body, once, until that message is received (E104)."""
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
    too_small = [f"{taken} of {body} bytes" for taken, body in zip(took, bodies, strict=True) if taken < max(body, 1)]
    transaction = application.begin_transaction()
    application.receive(transaction=transaction)
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.2.2-03",
        expected={"empty": 0, "too_small": none("message"), "after_an_abort": sizes[-1]},
        observed={"empty": sizes[0], "too_small": too_small, "after_an_abort": held()},
        evidence=evidence,
    )
    left = []
    for _ in took:
        application.receive()
        left.append(held())
    wanted = [sum(took[number:]) for number in range(1, len(took) + 1)]
    judge("MQDMPR-3.1.7.2.1-03", expected=wanted, observed=left, evidence=evidence)
    application.receiver.end()
