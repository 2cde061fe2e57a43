"""MS-MQQP 3.1.2 Timers: the timer of a waiting call."""

from __future__ import annotations

import pytest

from harness.expectations import between, each, holds
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method

pytestmark = needs("qm2qm")

RECEIVE_TIMEOUT_MS, PEEK_TIMEOUT_MS, LONGER_READ_TIMEOUT_MS, PEEK_NEXT_TIMEOUT_MS, LATER_READ_TIMEOUT_MS = (
    400,
    650,
    900,
    1_150,
    1_300,
)
TIMEOUT_ABOVE_16_BITS_MS, TIMEOUT_WITH_HIGHEST_BIT_MS = 67_000, 0x8000_0000
TIMEOUT_OUTCOME = "ended without a message"


def describe_expired_read(read):
    """Return the verdict text for a read that is expected to fail when its timeout expires."""
    return TIMEOUT_OUTCOME if read.failed else read.label_or_outcome


WAITING_READ_RULES = (
    *("MQQP-3.1.2-02", "MQQP-3.1.2-03", "MQQP-2.2.2.1-D01"),
    *("MQDMPR-3.1.2.3-01", "MQDMPR-3.1.2.3-02"),
)
"""The rules about the duration of a wait."""
ENDED_READ_RULES = ("MQQP-3.1.2-01", "MQDMPR-3.1.2.3-D01")
"""The rules about the end of a wait."""


RULE_BY_READ_KIND_AND_METHOD = {
    Method.START_RECEIVE: {
        "receive": "MQQP-3.1.4.1-D15",
        "peek": "MQQP-3.1.4.1-D16",
        "peek next": "MQQP-3.1.4.1-D17",
        "any": "MQQP-3.1.4.1-D02",
    },
    Method.START_RECEIVE2: {
        "receive": "MQQP-3.1.4.10-31",
        "peek": "MQQP-3.1.4.10-36",
        "peek next": "MQQP-3.1.4.10-40",
        "any": "MQQP-3.1.4.10-D01",
    },
}
"""For each method, the rules that name the timeout of each kind of read."""
ENDED_READ_HANDLE_RULES_BY_METHOD = {
    Method.START_RECEIVE: ("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19"),
    Method.START_RECEIVE2: ("MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
}
"""For each method, the rules about the context handle of a failed read."""


@covers(*WAITING_READ_RULES, *ENDED_READ_RULES)
@pytest.mark.parametrize(
    "by",
    [
        pytest.param(by, marks=covers(*rules.values(), *ENDED_READ_HANDLE_RULES_BY_METHOD[by]), id=by)
        for by, rules in RULE_BY_READ_KIND_AND_METHOD.items()
    ],
)
def test_waiting_reads_end_after_their_own_timeouts(remote, judge, by):
    """A receive with timeout 0 from an empty queue fails at once. Two receives, one of them by a cursor, a peek, and a
    PEEK_NEXT at the last message of a second queue fail after their timeouts. Of two further receives, one gets a
    message, and the other fails after its timeout of 1,300 ms.
    """
    queue, second = remote.open(), remote.open("admin")
    remote.deliver(["first"], queue="admin")
    at_last = second.open_cursor()
    second.peek(hCursor=at_last).expect_success()
    cursor = queue.open_cursor()
    at_once = queue.start_receive(by=by)
    began_ms = remote.peer.recorder.elapsed_ms()
    reads = {
        "receive": (queue.begin_receive(by=by, ulTimeout=LONGER_READ_TIMEOUT_MS), LONGER_READ_TIMEOUT_MS),
        "receive by cursor": (
            queue.begin_receive(by=by, hCursor=cursor, ulTimeout=RECEIVE_TIMEOUT_MS),
            RECEIVE_TIMEOUT_MS,
        ),
        "peek": (queue.begin(Action.PEEK_CURRENT, by=by, ulTimeout=PEEK_TIMEOUT_MS), PEEK_TIMEOUT_MS),
        "peek next": (
            second.begin(Action.PEEK_NEXT, by=by, hCursor=at_last, ulTimeout=PEEK_NEXT_TIMEOUT_MS),
            PEEK_NEXT_TIMEOUT_MS,
        ),
    }
    in_order = sorted(reads.items(), key=lambda item: item[1][1])
    took = {name: (ms, await_end_of_read(remote, read, ms, began_ms)) for name, (read, ms) in in_order}
    ended = [at_once, *(read for read, _ in reads.values())]
    outcomes = {
        "at once": describe_expired_read(at_once),
        **{name: describe_expired_read(read) for name, (read, _) in reads.items()},
    }
    judge(*ENDED_READ_RULES, expected=each(TIMEOUT_OUTCOME, "read"), observed=outcomes, evidence=ended)
    judge(
        *ENDED_READ_HANDLE_RULES_BY_METHOD[by],
        expected=each(holds("NULL"), "handle returned by a read"),
        observed=[read.has_null_handle for read in ended],
        evidence=ended,
    )
    for name, (ms, passed) in took.items():
        kind = RULE_BY_READ_KIND_AND_METHOD[by][name.removesuffix(" by cursor")]
        judge_duration_of_wait(remote, judge, ms, passed, ended, kind, RULE_BY_READ_KIND_AND_METHOD[by]["any"])
    began_ms = remote.peer.recorder.elapsed_ms()
    satisfied, later = (queue.begin_receive(by=by, ulTimeout=LATER_READ_TIMEOUT_MS) for _ in range(2))
    remote.deliver(["second"])
    satisfied.wait()
    if satisfied.failed:
        return  # the message came later than the read could wait
    passed = await_end_of_read(remote, later, LATER_READ_TIMEOUT_MS, began_ms)
    judge_duration_of_wait(remote, judge, LATER_READ_TIMEOUT_MS, passed, [satisfied, later])
    judge(*ENDED_READ_RULES, expected=TIMEOUT_OUTCOME, observed=describe_expired_read(later), evidence=[later])


@covers(*WAITING_READ_RULES)
@pytest.mark.parametrize(
    "by",
    [pytest.param(by, marks=covers(rules["any"]), id=by) for by, rules in RULE_BY_READ_KIND_AND_METHOD.items()],
)
def test_long_timeout_is_not_shortened(remote, judge, by):
    """A receive with a timeout of 67,000 ms, which does not fit into 16 bits, fails after that time. At that moment,
    receives with the timeouts 0x80000000 and 0xFFFFFFFE still wait. In virtual time, the receive with timeout
    0x80000000 fails after 25 days.
    """
    queue = remote.open()
    high = [queue.begin_receive(by=by, ulTimeout=value) for value in (TIMEOUT_WITH_HIGHEST_BIT_MS, 0xFFFF_FFFE)]
    began_ms = remote.peer.recorder.elapsed_ms()
    read = queue.begin_receive(by=by, ulTimeout=TIMEOUT_ABOVE_16_BITS_MS)
    passed = await_end_of_read(remote, read, TIMEOUT_ABOVE_16_BITS_MS, began_ms)
    any_of_them = RULE_BY_READ_KIND_AND_METHOD[by]["any"]
    judge_duration_of_wait(remote, judge, TIMEOUT_ABOVE_16_BITS_MS, passed, [read], any_of_them)
    rules = (*WAITING_READ_RULES, any_of_them)
    waits = [one.state_after_silence() for one in high]
    judge(*rules, expected=each(Call.WAITING, "receive"), observed=waits, evidence=high)
    if remote.peer.environment.is_time_virtual:
        high[0].wait(TIMEOUT_WITH_HIGHEST_BIT_MS)
        judge(*rules, expected=TIMEOUT_OUTCOME, observed=describe_expired_read(high[0]), evidence=high[:1])


def await_end_of_read(remote, read, timeout_ms, began_ms):
    """Wait for the end of a read; return the time between the given instant and the end."""
    read.wait(timeout_ms + remote.sut.response_timeout_ms)
    return remote.peer.measure_duration(began_ms)


def judge_duration_of_wait(remote, judge, timeout_ms, passed, evidence, *more):
    """Judge the duration of a wait; ``passed`` is the measured duration."""
    expected = between(*passed.get_allowed_range(timeout_ms - 5, timeout_ms + remote.sut.slack_ms(0)))
    judge(
        *WAITING_READ_RULES,
        *more,
        expected=expected,
        case="duration of the wait in ms",
        observed=passed.ms,
        evidence=evidence,
    )
