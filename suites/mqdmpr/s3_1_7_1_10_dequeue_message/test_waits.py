"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: the cursor of a pending receive."""

from __future__ import annotations

from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 600_000
"""A timeout in ms that is longer than any check, even on a system that stalls repeatedly."""


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.10-31")
def test_cursor_of_pending_receive_moves_to_arriving_message(remote, judge):
    """A pending receive by a cursor takes an arriving message, which is then returned to the queue: the next receive by
    that cursor takes the following message, and a receive by a new cursor takes the returned message.
    """
    queue = remote.open_with_messages()
    cursor, fresh = (queue.open_cursor() for _ in range(2))
    read = queue.begin(Action.RECEIVE, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    remote.deliver(["first"])
    label = read.wait().label_or_outcome
    queue.return_message(read)
    remote.deliver(["second"])
    later_reads = [queue.start_receive(hCursor=one) for one in (cursor, fresh)]
    observed = [one.label_or_outcome for one in later_reads]
    judge(
        "MQDMPR-3.1.7.1.10-31",
        expected={
            "receive before an arrival": Call.WAITING,
            "receive after an arrival": "first",
            "next_receive_by_its_cursor": "second",
            "next_receive_by_another_cursor": "first",
        },
        observed={
            "receive before an arrival": waits,
            "receive after an arrival": label,
            "next_receive_by_its_cursor": observed[0],
            "next_receive_by_another_cursor": observed[1],
        },
        evidence=[read, *later_reads],
    )
