"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: two-phase receives that are not ended when the queue manager restarts."""

from __future__ import annotations

from harness.expectations import in_queue
from harness.run.marks import covers, needs

pytestmark = needs("qm2qm", "restart")


@covers("MQDMPR-3.1.7.1.10-02")
def test_message_of_open_receive_survives_restart(remote, sut, judge):
    """A reader begins to receive two of three recoverable messages, and does not end the receives. After a restart of
    the SUT, all three messages are in the queue, in their order.
    """
    queue = remote.open_with_messages("a", "b", "c")
    reads = [queue.start_receive().expect_success() for _ in range(2)]
    sut.restart()
    later = remote.open()
    judge(
        "MQDMPR-3.1.7.1.10-02",
        expected=in_queue("a", "b", "c"),
        observed=later.labels(),
        evidence=reads,
        case="queue after the restart",
    )
