"""MS-MQDMPR 3.1.7.3.1, 3.1.7.3.2: reads of applications during open transactions and after committed transactions."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

LONG_READ_TIMEOUT_MS, SHORT_READ_TIMEOUT_MS = 60_000, 300


@needs("send", "receive", "queues", "transactions")
@covers(
    "MQDMPR-3.1.7.3.1-18", "MQDMPR-3.1.7.3.1-20", "MQDMPR-3.1.7.3.1-21", "MQDMPR-3.1.7.3.1-22", "MQDMPR-3.1.7.3.2-12"
)
def test_commit_and_abort_complete_waiting_reads(peer, sut, judge):
    """A peek finds no message that an open transaction has sent or received. When a transaction that sent three
    messages commits, three waiting receives get them; two waiting receives get the messages of a transaction of the
    peer. When a transaction that received a message aborts, a waiting peek and then a waiting receive get this message.
    A receive in this transaction that finds no message ends without one when its timeout expires; a receive in a later
    transaction gets the message for which it waits.
    """
    application = Application(peer, sut, transactional=True)
    queue = application.queue
    packets = application.fill_queue("first")
    application.receive()

    def peek_first_label():
        return sut.read_label("peek_message", queue=queue)

    sending, receiving = application.begin_transaction(), application.begin_transaction()
    for label in "abc":
        sut.send_here(queue, [label], transaction=sending)
    unsent = peek_first_label()
    reads = [PendingRequest(peer, "receive", queue=queue, timeout_ms=LONG_READ_TIMEOUT_MS) for _ in range(3)]
    application.end_transaction("commit", sending)
    labels = sorted(read.await_label() for read in reads)
    reads = [PendingRequest(peer, "receive", queue=queue, timeout_ms=LONG_READ_TIMEOUT_MS) for _ in range(2)]
    connection = peer.open_raw()
    for label, place in (("g", {"LM": 0, "ID": 77}), ("h", {"FM": 0, "ID": 77})):
        packets.append(connection.send(application.build_message(label, transaction=place)))
    labels += sorted(read.await_label() for read in reads)
    packets += application.fill_queue("d", "e")
    taken = [application.receive(transaction=receiving) for _ in range(2)]
    received = peek_first_label()
    expired = PendingRequest(
        peer, "receive", queue=queue, transaction=receiving, timeout_ms=SHORT_READ_TIMEOUT_MS
    ).await_label()
    waits = [
        PendingRequest(peer, verb, queue=queue, timeout_ms=LONG_READ_TIMEOUT_MS) for verb in ("peek_message", "receive")
    ]
    application.end_transaction("abort", receiving)
    returned = [read.await_label() for read in waits]
    rest = application.labels()
    for _ in rest:
        application.receive()
    waiting = application.begin_transaction()
    late_read = PendingRequest(peer, "receive", queue=queue, transaction=waiting, timeout_ms=LONG_READ_TIMEOUT_MS)
    sut.send_here(queue, ["late"], delivery="transactional")
    late = late_read.await_label()
    application.end_transaction("commit", waiting)
    judge(
        "MQDMPR-3.1.7.3.2-12",
        expected=facts(
            labels_received=["d", "e"], peek_before_the_commit=Outcome.NOTHING, peek_before_the_abort=Outcome.NOTHING
        ),
        observed={"labels_received": taken, "peek_before_the_commit": unsent, "peek_before_the_abort": received},
        evidence=packets,
    )
    judge(
        "MQDMPR-3.1.7.3.1-21",
        "MQDMPR-3.1.7.3.1-22",
        expected=["a", "b", "c", "g", "h", "late"],
        observed=[*labels, late],
        case="messages of the waiting receives",
        evidence=packets,
    )
    judge(
        "MQDMPR-3.1.7.3.1-18",
        expected=facts(waiting_reads=["d", "d"], queue=in_queue("e")),
        observed={"waiting_reads": returned, "queue": rest},
        evidence=packets,
    )
    judge(
        "MQDMPR-3.1.7.3.1-20",
        expected=Outcome.NOTHING,
        observed=expired,
        case="receive of a transaction after its timeout",
        evidence=packets,
    )
