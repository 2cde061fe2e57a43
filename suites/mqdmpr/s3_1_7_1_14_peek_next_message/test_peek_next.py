"""MS-MQDMPR 3.1.7.1.14 Peek Next Message: cursors that wait for the next message."""

from __future__ import annotations

from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 600_000


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.14-06", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.14-27", "MQDMPR-3.1.7.1.14-29")
def test_arriving_message_completes_all_pending_peek_next(remote, judge):
    """Two cursors each have a pending peek at the next message: both peeks return the message that arrives, and both
    cursors move to this message.
    """
    admin_queue = remote.open("admin")
    remote.deliver(["first", "fourth"], queue="admin")
    admin_queue.peek(hCursor=admin_queue.open_cursor()).expect_success()
    queue = remote.open_with_messages("first")
    cursors = [queue.open_cursor() for _ in range(2)]
    for cursor in cursors:
        queue.peek(hCursor=cursor).expect_success()
    reads = [queue.begin(Action.PEEK_NEXT, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS) for cursor in cursors]
    waits = [read.state_after_silence() for read in reads]
    remote.deliver(["second"])
    labels = [read.wait().label_or_outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.1.14-27",
        expected={"before an arrival": [Call.WAITING, Call.WAITING], "after an arrival": ["second", "second"]},
        observed={"before an arrival": waits, "after an arrival": labels},
        evidence=reads,
        case="pending reads",
    )
    outcomes = [read.outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.1.14-29",
        expected=["MQ_OK", "MQ_OK"],
        observed=outcomes,
        evidence=reads,
        case="outcomes of the pending reads",
    )
    remote.deliver(["third"])
    later_reads = [queue.read(action, hCursor=cursors[0]) for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT)]
    observed = [read.label_or_outcome for read in later_reads]
    judge(
        "MQDMPR-3.1.7.1.14-06",
        "MQDMPR-3.1.7.1.14-25",
        expected=["second", "third"],
        observed=observed,
        evidence=later_reads,
        case="labels returned by the later reads",
    )
