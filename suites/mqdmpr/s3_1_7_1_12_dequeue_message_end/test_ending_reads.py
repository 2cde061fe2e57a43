"""MS-MQDMPR 3.1.7.1.12 Dequeue Message End: the journal and the queue after several two-phase reads."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack


@needs("qm2qm", "queue_control", "receive")
@covers("MQDMPR-3.1.7.1.12-13", "MQDMPR-3.1.7.1.12-18")
def test_ended_reads_delete_and_return_their_messages_for_good(remote, sut, judge):
    """A remote reader begins to receive three messages from a journaled queue. It returns the second message and
    acknowledges the other two in reverse order. The returned message is in the queue and not in the journal. The other
    two are only in the journal, in the order of the acknowledgments. A restart changes nothing.
    """
    name = sut.queue()
    sut.control.call("set_queue", name=name, journaling=True)
    queue = remote.open_with_messages(*"abcd")
    reads = [queue.start_receive() for _ in range(3)]
    locked = sut.labels(name)
    returned = queue.put_message_back(reads[1])
    between = sut.labels(f"{name};journal")
    judge(
        "MQDMPR-3.1.7.1.12-18",
        expected=facts(queue_while_locked=in_queue("d"), outcome="MQ_OK", queue=in_queue("b", "d"), journal=in_queue()),
        observed={
            "queue_while_locked": locked,
            "outcome": returned.outcome,
            "queue": sut.labels(name),
            "journal": between,
        },
        evidence=[*reads, returned],
    )
    ends = [queue.acknowledge(reads[2]), queue.acknowledge(reads[0])]
    for restarted in (False, True):
        if restarted and not sut.has("restart"):
            break
        if restarted:
            sut.restart()
        judge(
            "MQDMPR-3.1.7.1.12-13",
            expected=facts(outcomes=["MQ_OK"] * 2, queue=in_queue("b", "d"), journal=in_queue("c", "a")),
            observed={
                "outcomes": [one.outcome for one in ends],
                "queue": sut.labels(name),
                "journal": sut.labels(f"{name};journal"),
            },
            case="after a restart" if restarted else "after the ends of the reads",
            evidence=ends,
        )


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.12-13")
def test_purged_messages_are_deleted_at_every_end(remote, judge):
    """A remote reader has begun to receive two express and two recoverable messages when the queue is purged. It ends
    one receive of each kind with RR_ACK and one with RR_NACK. No message returns to the queue, and a message that
    arrived after the purge stays in the queue.
    """
    queue = remote.open_with_messages()
    remote.send_messages_and_require_acks([remote.peer.message({"DM": 0}, label=label) for label in ("a", "b")])
    remote.deliver(["c", "d"])
    reads = [queue.start_receive() for _ in range(4)]
    queue.purge().expect_success()
    remote.deliver(["e"])
    ends = [
        queue.end(read, acknowledge) for read, acknowledge in zip(reads, (Ack.RR_NACK, Ack.RR_ACK) * 2, strict=True)
    ]
    judge(
        "MQDMPR-3.1.7.1.12-13",
        expected=facts(labels_received=[*"abcd"], outcomes=["MQ_OK"] * 4, queue=["e"]),
        observed={
            "labels_received": [read.label_or_outcome for read in reads],
            "outcomes": [one.outcome for one in ends],
            "queue": queue.labels(),
        },
        evidence=[*reads, *ends],
    )
