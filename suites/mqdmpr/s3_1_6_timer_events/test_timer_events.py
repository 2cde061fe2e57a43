"""MS-MQDMPR 3.1.6.3: the timer of a pending read."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Action
from suites.applications import Application, PendingRequest

READ_TIMEOUT_MS, SHORT_READ_TIMEOUT_MS = 2_000, 300
SHORTEST_READ_DURATION_MS = READ_TIMEOUT_MS * 9 // 10
"""The shortest wait of a read for READ_TIMEOUT_MS, in ms, that the check accepts, measured with any clock."""


@needs("qm2qm")
@covers("MQDMPR-3.1.6.3-03", "MQDMPR-3.1.2.3-D01")
@pytest.mark.parametrize(
    "action", [Action.RECEIVE, Action.PEEK_CURRENT, Action.PEEK_NEXT], ids=["receive", "peek", "peek next"]
)
def test_pending_read_ends_at_timeout(remote, judge, action):
    """Pending receives, peeks or peek-nexts, without a cursor and by a cursor, end with MQ_ERROR_IO_TIMEOUT when their
    timeout of 2 s expires, and not earlier. Another reader has locked the only message of the queue, except before a
    peek-next.
    """
    queue = remote.open_with_messages("first")
    if action != Action.PEEK_NEXT:
        queue.start_receive().expect_success()
    cursor = queue.open_cursor()
    if action == Action.PEEK_NEXT:
        queue.peek(hCursor=cursor).expect_success()
    cursors = {"by a cursor": cursor} | ({} if action == Action.PEEK_NEXT else {"without a cursor": 0})
    reads = {name: queue.begin(action, hCursor=one, ulTimeout=READ_TIMEOUT_MS) for name, one in cursors.items()}
    for name, read in reads.items():
        outcome = read.wait(READ_TIMEOUT_MS + remote.sut.response_timeout_ms).label_or_outcome
        duration_ms = remote.peer.measure_duration(read.evidence[0], read.evidence[-1])
        earliest_ms, _ = duration_ms.get_allowed_range(SHORTEST_READ_DURATION_MS, max(duration_ms.ms, READ_TIMEOUT_MS))
        waited = duration_ms.ms >= earliest_ms or f"{duration_ms.ms} of {READ_TIMEOUT_MS} ms"
        judge.all(
            expected={
                "outcome of the read": "MQ_ERROR_IO_TIMEOUT",
                "duration of the read": holds("at least the whole timeout"),
            },
            observed={"outcome of the read": outcome, "duration of the read": waited},
            evidence=read,
            case=f"read {name}",
        )


@needs("receive", "transactions", "queue_control")
@covers("MQDMPR-3.1.6.3-03", "MQDMPR-3.1.2.3-D01")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "coordinated"])
def test_pending_receive_in_transaction_ends_at_timeout(peer, sut, judge, external):
    """A transaction receives the only message of a queue, and waits for another one. This receive ends without a
    message when its timeout expires, and is not refused.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue("only")
    transaction = application.begin_transaction(external=external)
    labels = []
    for _ in range(2):
        read = PendingRequest(
            peer, "receive", queue=application.queue, timeout_ms=SHORT_READ_TIMEOUT_MS, transaction=transaction
        )
        labels.append(read.await_label())
    application.end_transaction("abort", transaction)
    judge.all(
        expected=["only", Outcome.NOTHING], observed=labels, evidence=packets, case="labels of the received messages"
    )
