"""MS-MQQP 3.1.4.5 RemoteQMCloseCursor."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, status
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import Action, Method

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000
INVALID_HANDLE_STATUS, UNKNOWN_CURSOR_STATUS = "MQ_ERROR_INVALID_HANDLE", "STATUS_INVALID_PARAMETER"


@covers(
    "MQQP-3.1.4.5-01",
    "MQQP-3.1.4.5-03",
    "MQQP-3.1.4.5-07",
    "MQQP-3.1.4.5-09",
    "MQQP-3.1.4.5-10",
    "MQQP-3.1.4.5-11",
    "MQQP-3.1.4.5-13",
    "MQQP-2.2.2.1-01",
    "MQDMPR-3.1.7.1.2-06",
)
@sut_survives()
@pytest.mark.parametrize("which", [0, 1, 2], ids=["first", "middle", "last"])
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
def test_closed_cursor_is_unknown_and_others_stay(remote, judge, by, which):
    """The SUT refuses RemoteQMCloseCursor with an unknown cursor, with the handle of another queue, and with another
    handle of the same queue. With the right handle, the call closes one of three cursors, and the SUT refuses reads by
    that cursor. Peeks by the other two cursors, and by a cursor of another handle of the queue, still return their
    messages, and a PEEK_NEXT by a further cursor still waits. A receive by a cursor returns the message at the cursor.

    RemoteQMCloseCursor also succeeds for a cursor whose message was received, for a cursor with a waiting read, and for
    a cursor with an unfinished receive; afterwards, the cursor is unknown.
    """
    beside = remote.open()
    queue = remote.open_with_messages("first", "second")
    bystander = beside.open_cursor()
    beside.peek(by=by, hCursor=bystander)
    admin = remote.open("admin", association=queue.association)
    same = remote.open(association=queue.association)
    waiter = queue.open_cursor()
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT):
        queue.read(action, by=by, hCursor=waiter)
    waiting = queue.begin(Action.PEEK_NEXT, by=by, hCursor=waiter, ulTimeout=LONG_READ_TIMEOUT_MS)
    cursors = [queue.open_cursor() for _ in range(3)]
    closing, kept = cursors[which], [one for one in cursors if one != cursors[which]]
    for one in cursors:
        queue.peek(by=by, hCursor=one)
    moved = queue.peek_next(by=by, hCursor=kept[0])
    read = queue.peek_next(by=by, hCursor=closing)
    gone_queue = remote.open(association=queue.association)
    of_gone_queue = gone_queue.open_cursor()
    gone_queue.close_cursor(gone_queue.open_cursor())
    gone_queue.close().expect_success()
    wrong = [
        *(queue.close_cursor(one) for one in (queue.UNKNOWN_HANDLE, 0, closing ^ 0x1_0000, closing ^ 0x8000_0000)),
        same.close_cursor(closing),
        queue.close_cursor(closing, hQueue=queue.UNKNOWN_HANDLE),
        admin.close_cursor(closing),
        queue.close_cursor(of_gone_queue, hQueue=gone_queue.handle),
    ]
    judge("MQQP-3.1.4.5-10", expected=each(status(INVALID_HANDLE_STATUS), "call"), observed=wrong, evidence=wrong)
    still = queue.peek(by=by, hCursor=closing)
    closed = queue.close_cursor(closing)
    by_others = [one.outcome for one in wrong[4:]]
    seen = {"closes_by_other_handles": by_others, "read": still.label_or_outcome, "close": closed.outcome}
    expected = facts(closes_by_other_handles=each(INVALID_HANDLE_STATUS), read="second", close="MQ_OK")
    judge("MQQP-3.1.4.5-07", expected=expected, observed=seen, evidence=closed.evidence)
    judge(
        "MQQP-3.1.4.5-03",
        "MQQP-3.1.4.5-13",
        expected="MQ_OK",
        observed=closed.outcome,
        evidence=closed.evidence,
        case="close of the cursor",
    )
    gone = [
        queue.read(action, by=by, hCursor=closing) for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.RECEIVE)
    ]
    again = queue.close_cursor(closing)
    expected = facts(reads=each(status(UNKNOWN_CURSOR_STATUS)), close=INVALID_HANDLE_STATUS)
    observed = {"reads": gone, "close": again.outcome}
    judge(
        "MQQP-3.1.4.5-01",
        "MQQP-3.1.4.5-11",
        "MQDMPR-3.1.7.1.2-06",
        expected=expected,
        observed=observed,
        evidence=[*gone, again],
    )
    judge.conclude("MQQP-3.1.4.5-07", "MQQP-3.1.4.5-03", "MQQP-3.1.4.5-13")
    others = [queue.peek(by=by, hCursor=one) for one in kept]
    others.append(beside.peek(by=by, hCursor=bystander))
    waits = waiting.state_after_silence()
    ends = [queue.close_cursor(one).outcome for one in kept]
    seen = {
        "read_before_the_close": moved.label_or_outcome,
        "reads_by_other_cursors": [one.label_or_outcome for one in others],
        "waiting_read": waits,
        "closes": ends,
    }
    expected = facts(
        read_before_the_close="second",
        reads_by_other_cursors=["second", "first", "first"],
        waiting_read=waiting.WAITING,
        closes=each("MQ_OK"),
    )
    judge("MQQP-3.1.4.5-09", expected=expected, observed=seen, evidence=others)
    judge.conclude("MQQP-3.1.4.5-09", "MQQP-3.1.4.5-10")
    ahead = queue.open_cursor()
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT):
        queue.read(action, by=by, hCursor=ahead)
    taken = queue.start_receive(by=by, hCursor=ahead)
    if taken.outcome == "MQ_OK":
        queue.put_message_back(taken)
    seen, expected = (
        {
            "peek_by_the_open_cursor": read.label_or_outcome,
            "peek_by_the_closed_cursor": gone[0].outcome,
            "receive_by_a_cursor_at_the_second_message": taken.label_or_outcome,
        },
        facts(
            peek_by_the_open_cursor="second",
            peek_by_the_closed_cursor=UNKNOWN_CURSOR_STATUS,
            receive_by_a_cursor_at_the_second_message="second",
        ),
    )
    judge("MQQP-2.2.2.1-01", expected=expected, observed=seen, evidence=read.evidence)
    judge.conclude("MQQP-2.2.2.1-01")
    spent = queue.open_cursor()
    queue.peek(by=by, hCursor=spent).expect_success()
    queue.receive(by=by)
    closes = [queue.close_cursor(spent), queue.close_cursor(spent)]
    late = queue.peek(by=by, hCursor=spent)
    judge(
        "MQQP-3.1.4.5-01",
        "MQQP-3.1.4.5-11",
        "MQDMPR-3.1.7.1.2-06",
        expected=facts(closes=["MQ_OK", INVALID_HANDLE_STATUS], read=UNKNOWN_CURSOR_STATUS),
        observed={"closes": [one.outcome for one in closes], "read": late.outcome},
        evidence=[*closes, late],
        case="cursor whose message was received",
    )
    holder, receiver = queue.open_cursor(), queue.open_cursor()
    for one, state in ((waiter, "peek waits"), (holder, "receive has not ended"), (receiver, "receive waits")):
        if one == holder:
            held = queue.start_receive(by=by, hCursor=holder)
        elif one == receiver:
            queue.acknowledge(held)
            queue.begin_receive(by=by, hCursor=receiver, ulTimeout=LONG_READ_TIMEOUT_MS).state_after_silence()
        closes = [queue.close_cursor(one), queue.close_cursor(one)]
        lates = [queue.read(action, by=by, hCursor=one) for action in (Action.PEEK_CURRENT, Action.RECEIVE)]
        judge(
            "MQQP-3.1.4.5-01",
            "MQQP-3.1.4.5-11",
            "MQDMPR-3.1.7.1.2-06",
            expected=facts(closes=["MQ_OK", INVALID_HANDLE_STATUS], reads=each(status(UNKNOWN_CURSOR_STATUS))),
            observed={"closes": [one.outcome for one in closes], "reads": lates},
            evidence=[*closes, *lates],
            case=f"cursor with which a {state}",
        )
