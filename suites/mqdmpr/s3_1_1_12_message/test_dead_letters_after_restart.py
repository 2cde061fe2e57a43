"""MS-MQDMPR 3.1.1.12 Message: the dead-letter queue that a message names, after a restart."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs

LIFETIME_S = 60
WAIT_MS = 90_000


@needs("send", "receive", "queue_control", "restart")
@covers("MQDMPR-3.1.1.12-02")
def test_message_expired_after_restart_goes_to_its_dead_letter_queue(peer, sut, judge):
    """Two transactional messages for an unreachable peer name different dead-letter queues, and the SUT restarts before
    the messages expire: each message is in the dead-letter queue that it names (erratum E111).
    """
    queues = [sut.new_queue("dead", transactional=True) for _ in range(2)]
    for queue in queues:
        sut.send(
            peer.direct_name("mqc-unreachable"),
            body="lost",
            label=queue,
            delivery="transactional",
            journal=["negative"],
            dead_letter_queue=queue,
            time_to_reach_queue_s=LIFETIME_S,
        )
    sut.restart()
    peer.pass_time(WAIT_MS)
    peer.eventually(lambda: all(sut.labels(queue) for queue in queues))
    first, second = queues
    judge.all(
        expected=facts(first_dead_letter_queue=in_queue(first), second_dead_letter_queue=in_queue(second)),
        observed={"first_dead_letter_queue": sut.labels(first), "second_dead_letter_queue": sut.labels(second)},
    )
