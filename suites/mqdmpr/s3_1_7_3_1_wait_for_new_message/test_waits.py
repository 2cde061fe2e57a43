"""MS-MQDMPR 3.1.7.3.1 Wait For New Message, with the timers of 3.1.7.3.4, 3.1.7.3.5: reads that wait in vain."""

from __future__ import annotations

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import INFINITE, PEEK_CURRENT, PEEK_NEXT, RECEIVE
from suites.mqqp.steps.reading import WAITING, brought, waiting

pytestmark = needs("qm2qm")

SHORT_MS, LONG_MS = 400, 600_000
"""The second is longer than any check waits, on a system that stands still again and again, too."""
TIMED_OUT, ILLEGAL = "MQ_ERROR_IO_TIMEOUT", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"
ALL = (
    "MQDMPR-3.1.7.3.1-15",
    "MQDMPR-3.1.7.3.1-19",
    "MQDMPR-3.1.7.3.1-20",
    "MQDMPR-3.1.7.3.4-03",
    "MQDMPR-3.1.7.3.5-03",
)
"""What is said of every wait."""
WAYS = {
    "receive": (RECEIVE, False, ("MQDMPR-3.1.7.1.10-D02",)),
    "receive by a cursor": (RECEIVE, True, ("MQDMPR-3.1.7.1.10-35",)),
    "peek": (PEEK_CURRENT, False, ("MQDMPR-3.1.7.1.15-55",)),
    "peek by a cursor": (PEEK_CURRENT, True, ("MQDMPR-3.1.7.1.15-35",)),
    "peek next": (PEEK_NEXT, True, ("MQDMPR-3.1.7.1.14-33",)),
}
"""The ways to wait: the action, whether a cursor waits, what is said of it."""


@covers(*ALL, "MQDMPR-3.1.7.3.4-04", "MQDMPR-3.1.7.1.10-34")
@covers(*(rule for _, _, rules in WAYS.values() for rule in rules))
def test_a_read_that_waits_in_vain_ends_when_its_time_is_over(remote, judge):
    """A read that waits in vain, in whatever way, ends with MQ_ERROR_IO_TIMEOUT when its time-out is over, not before,
    and a cursor by which it was to receive is one by which nothing was read.
    """
    empty, read_through = remote.open(), remote.filled(queue="admin")
    remote.deliver(["first"], queue="admin")
    cursors = {name: (read_through if name == "peek next" else empty).cursor().settled().out.phCursor for name in WAYS}
    read_through.read(PEEK_CURRENT, hCursor=cursors["peek next"]).settled()
    calls = {}
    began_ms = remote.peer.recorder.elapsed_ms()
    for name, (action, by_cursor, _) in WAYS.items():
        queue = read_through if name == "peek next" else empty
        calls[name] = queue.begin(action, ulTimeout=SHORT_MS, hCursor=cursors[name] if by_cursor else 0)
    for call in calls.values():
        call.wait(SHORT_MS + remote.sut.slack_ms(SHORT_MS) + remote.sut.response_timeout_ms)
    lasted = remote.peer.took(began_ms)
    evidence = [*calls.values()]
    for name, (_, _, rules) in WAYS.items():
        judge(*rules, expected=TIMED_OUT, observed=calls[name].outcome, evidence=calls[name])
    outcomes = {name: call.outcome for name, call in calls.items()}
    judge(*ALL, expected=each(TIMED_OUT, "read"), observed=outcomes, evidence=evidence)
    in_time = lasted.ms >= SHORT_MS or f"after {lasted.ms} ms"  # a stall makes none shorter: it began before they did
    over = holds("when the time-out is over")
    judge("MQDMPR-3.1.7.3.4-04", expected=over, observed=in_time, evidence=evidence)
    unread = empty.read(PEEK_NEXT, hCursor=cursors["receive by a cursor"])
    judge("MQDMPR-3.1.7.1.10-34", expected=ILLEGAL, observed=unread.outcome, evidence=unread)


@covers("MQDMPR-3.1.7.3.1-24")
def test_the_time_of_a_read_that_got_its_message_is_over(remote, judge):
    """The time-out of a read that got its message ends no later read."""
    first_ms = 2 * SHORT_MS + remote.sut.slack_ms(SHORT_MS)
    queue = remote.open()
    first = queue.begin(RECEIVE, ulTimeout=first_ms)
    remote.deliver(["first"])
    if not first.wait().failed:
        queue.end(first)
    else:
        reason = "the message came later than the first read could wait"
        judge.mark_not_exercised("MQDMPR-3.1.7.3.1-24", reason=reason, evidence=first)
        return
    second = remote.open().begin(RECEIVE, ulTimeout=INFINITE)
    second.wait(first_ms + remote.sut.quiet_ms)
    meanwhile = waiting(second)
    remote.deliver(["second"])
    judge(
        "MQDMPR-3.1.7.3.1-24",
        expected={"first": "first", "second_after_its_time": WAITING, "second": "second"},
        observed={"first": brought(first), "second_after_its_time": meanwhile, "second": brought(second.wait())},
        evidence=[first, second],
    )
