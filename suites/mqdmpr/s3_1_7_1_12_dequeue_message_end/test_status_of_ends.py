"""MS-MQDMPR 3.1.7.1.12 Dequeue Message End: the status of ends while other reads are pending or not ended."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.12-21")
def test_each_end_beside_other_reads_succeeds(remote, judge):
    """A reader begins two receives, and a peek and a receive wait through another handle. The first receive ends and
    returns its message to the queue, so both waiting reads return this message. Each end of a receive returns MQ_OK,
    whether the receive keeps or returns its message.
    """
    queue, other = remote.open_with_messages("a", "b"), remote.open()
    taken = [queue.start_receive().expect_success() for _ in range(2)]
    pending = [other.begin(one, ulTimeout=LONG_READ_TIMEOUT_MS) for one in (Action.PEEK_CURRENT, Action.RECEIVE)]
    for read in pending:
        read.state_after_silence()
    ends = [queue.put_message_back(taken[0]), queue.acknowledge(taken[1])]
    labels = [read.wait().label_or_outcome for read in pending]
    ends += [other.put_message_back(pending[1]), queue.acknowledge(queue.start_receive())]
    judge(
        "MQDMPR-3.1.7.1.12-21",
        expected=facts(ends=each("MQ_OK"), pending_reads=["a", "a"]),
        observed={"ends": [one.outcome for one in ends], "pending_reads": labels},
        evidence=[*taken, *pending, *ends],
    )
