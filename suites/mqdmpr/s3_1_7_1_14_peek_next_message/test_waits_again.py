"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.14, 3.1.7.1.15: second waits of cursors, and reads that begin to wait after a peek."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

pytestmark = needs("qm2qm")

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 400, 600_000
TIMEOUT_STATUS, ILLEGAL_CURSOR_STATUS = "MQ_ERROR_IO_TIMEOUT", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"
SECOND_WAIT_RULES_BY_ACTION = {
    Action.PEEK_NEXT: ("MQDMPR-3.1.7.1.14-16", "MQDMPR-3.1.7.1.14-17", "MQDMPR-3.1.7.1.14-24"),
    Action.PEEK_CURRENT: ("MQDMPR-3.1.7.1.15-18", "MQDMPR-3.1.7.1.15-19", "MQDMPR-3.1.7.1.15-26"),
}
"""For each action of a peek by a cursor: the rules about the wait of the peek."""
LATER_READ_RULES_BY_ACTION = {
    Action.PEEK_NEXT: ("MQDMPR-3.1.7.1.14-27",),
    Action.PEEK_CURRENT: ("MQDMPR-3.1.7.1.15-29",),
}


def parametrize_peek_action(rules):
    """Run a check for each action of a peek by a cursor, and let the check cover the rules of the action."""
    return pytest.mark.parametrize(
        "action", [pytest.param(action, marks=covers(*ids), id=action.name) for action, ids in rules.items()]
    )


def open_waiting_cursor(remote, action):
    """Open a queue in which a cursor has no message for the action; return the queue and the cursor."""
    queue = remote.open_with_messages(*(["first"] if action is Action.PEEK_NEXT else []))
    cursor = queue.open_cursor()
    if action is Action.PEEK_NEXT:
        queue.peek(hCursor=cursor).expect_success()
    return queue, cursor


@parametrize_peek_action(SECOND_WAIT_RULES_BY_ACTION)
def test_cursor_whose_wait_timed_out_waits_again(remote, judge, action):
    """A pending peek by a cursor times out. A second peek by this cursor also waits, and returns the message that
    arrives. A later peek at the next message times out again.
    """
    queue, cursor = open_waiting_cursor(remote, action)
    first = queue.begin(action, hCursor=cursor, ulTimeout=SHORT_READ_TIMEOUT_MS)
    first.wait(SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS) + remote.sut.response_timeout_ms)
    second = queue.begin(action, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = second.state_after_silence()
    if waits == ILLEGAL_CURSOR_STATUS:
        reason = "a cursor whose peek timed out has read no message (erratum E180)"
        judge.mark_not_exercised(*SECOND_WAIT_RULES_BY_ACTION[action], reason=reason, evidence=second)
        return
    remote.deliver(["second"])
    judge(
        *SECOND_WAIT_RULES_BY_ACTION[action],
        expected=facts(first_peek=TIMEOUT_STATUS, second_peek=Call.WAITING, second_peek_after_an_arrival="second"),
        observed={
            "first_peek": first.outcome,
            "second_peek": waits,
            "second_peek_after_an_arrival": second.wait().label_or_outcome,
        },
        evidence=[first, second],
    )
    if action is Action.PEEK_NEXT:
        third = queue.begin(action, hCursor=cursor, ulTimeout=SHORT_READ_TIMEOUT_MS)
        third.wait(SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS) + remote.sut.response_timeout_ms)
        judge(
            "MQDMPR-3.1.7.1.14-17",
            expected=TIMEOUT_STATUS,
            observed=third.outcome,
            evidence=third,
            case="peek behind the last message",
        )


@parametrize_peek_action(LATER_READ_RULES_BY_ACTION)
@pytest.mark.parametrize("handle", ["same handle", "other handle"])
def test_message_completes_pending_peek_by_cursor_and_reads_behind_it(remote, judge, action, handle):
    """A peek by a cursor waits. Then a peek without a cursor and a receive begin to wait, through the same handle or
    through another. One message completes all three reads.
    """
    queue, cursor = open_waiting_cursor(remote, action)
    other = queue if handle == "same handle" else remote.open()
    reads = [queue.begin(action, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)]
    taken = [queue.start_receive()] if action is Action.PEEK_NEXT else []
    reads += [other.begin(one, ulTimeout=LONG_READ_TIMEOUT_MS) for one in (Action.PEEK_CURRENT, Action.RECEIVE)]
    states = [read.state_after_silence() for read in reads]
    remote.deliver(["second"])
    judge(
        *LATER_READ_RULES_BY_ACTION[action],
        expected=facts(before_an_arrival=[Call.WAITING] * 3, after_an_arrival=["second"] * 3),
        observed={
            "before_an_arrival": states,
            "after_an_arrival": [read.wait().label_or_outcome for read in reads],
        },
        evidence=[*taken, *reads],
    )


@covers("MQDMPR-3.1.7.1.10-27", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.1.7.1.11-12")
@pytest.mark.parametrize("which", [0, 1, 2])
def test_cancel_ends_one_of_three_pending_receives_by_cursors(remote, judge, which):
    """Receives by three cursors wait, and one of them is cancelled. The other receives still wait, and the cursor of
    the cancelled receive has read no message.
    """
    queue = remote.open()
    cursors, numbers = [queue.open_cursor() for _ in range(3)], [remote.request_id() for _ in range(3)]
    reads = [
        queue.begin_receive(dwRequestID=number, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
        for number, cursor in zip(numbers, cursors, strict=True)
    ]
    waits = [read.state_after_silence() for read in reads]
    cancelled = queue.cancel(numbers[which])
    ends = [describe_cancelled_read(read) if read is reads[which] else read.state_after_silence() for read in reads]
    judge(
        "MQDMPR-3.1.7.1.10-27",
        "MQDMPR-3.1.7.1.11-12",
        expected=facts(
            before=[Call.WAITING] * 3,
            cancel="MQ_OK",
            after=[NO_MESSAGE_OUTCOME if read is reads[which] else Call.WAITING for read in reads],
        ),
        observed={"before": waits, "cancel": cancelled.outcome, "after": ends},
        evidence=[cancelled, *reads],
    )
    unread = queue.peek_next(hCursor=cursors[which])
    judge(
        "MQDMPR-3.1.7.1.10-34",
        expected=ILLEGAL_CURSOR_STATUS,
        observed=unread.outcome,
        evidence=unread,
        case="peek at the next message by the cursor of the cancelled receive",
    )
    for number in numbers:
        queue.cancel(number)
