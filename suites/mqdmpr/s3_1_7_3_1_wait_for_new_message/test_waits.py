"""MS-MQDMPR 3.1.7.3.1 Wait For New Message, with the timers of 3.1.7.3.4 and 3.1.7.3.5: pending reads that time out."""

from __future__ import annotations

from harness.expectations import any_order, each, holds, one_of
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Action
from harness.wire.rpc_qmcomm import DIRECT, queue_format

pytestmark = needs("qm2qm")

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 400, 600_000
"""Two timeouts in ms: the first expires during a check; the second is longer than any check, even on a system that
stalls.
"""
TIMEOUT_ABOVE_16_BITS_MS = 0x10000
"""A time in ms that is longer than the value of the low 16 bits of the long timeout."""
TIMEOUT_STATUS, ILLEGAL_CURSOR_STATUS = "MQ_ERROR_IO_TIMEOUT", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"
EXPIRED_READ_WAIT_RULES = (
    "MQDMPR-3.1.7.3.1-15",
    "MQDMPR-3.1.7.3.1-19",
    "MQDMPR-3.1.7.3.1-20",
    "MQDMPR-3.1.7.3.4-03",
    "MQDMPR-3.1.7.3.5-03",
)
"""The rules that apply to every wait."""
WAITING_READ_CASE_BY_KIND = {
    "receive": (Action.RECEIVE, False, ("MQDMPR-3.1.7.1.10-D02",)),
    "receive by a cursor": (Action.RECEIVE, True, ("MQDMPR-3.1.7.1.10-35",)),
    "peek": (Action.PEEK_CURRENT, False, ("MQDMPR-3.1.7.1.15-55",)),
    "peek by a cursor": (Action.PEEK_CURRENT, True, ("MQDMPR-3.1.7.1.15-35",)),
    "peek next": (Action.PEEK_NEXT, True, ("MQDMPR-3.1.7.1.14-33",)),
}
"""For each kind of wait, the action, whether the action uses a cursor, and the rules."""


@covers(*EXPIRED_READ_WAIT_RULES, "MQDMPR-3.1.7.3.4-04", "MQDMPR-3.1.7.1.10-34")
@covers(*(rule for _, _, rules in WAITING_READ_CASE_BY_KIND.values() for rule in rules))
def test_each_kind_of_pending_read_times_out(remote, judge):
    """Pending receives, peeks and peek-nexts, with and without a cursor, end with MQ_ERROR_IO_TIMEOUT after their
    timeout of 400 ms. Reads with a longer timeout continue to wait: through another handle, through the same handle,
    and by a cursor of the same handle. Afterwards, the cursor of the receive has no next message.
    """
    empty, read_through = remote.open(), remote.open_with_messages(queue="admin")
    remote.deliver(["first"], queue="admin")
    cursors = {
        name: (read_through if name == "peek next" else empty).open_cursor() for name in WAITING_READ_CASE_BY_KIND
    }
    read_through.peek(hCursor=cursors["peek next"]).expect_success()
    virtual = remote.peer.environment.is_time_virtual
    long_read = remote.open().begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
    calls = {}
    began_ms = remote.peer.recorder.elapsed_ms()
    for name, (action, by_cursor, _) in WAITING_READ_CASE_BY_KIND.items():
        queue = read_through if name == "peek next" else empty
        calls[name] = queue.begin(action, ulTimeout=SHORT_READ_TIMEOUT_MS, hCursor=cursors[name] if by_cursor else 0)
    long_reads = [
        long_read,
        empty.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS),
        empty.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS, hCursor=empty.open_cursor()),
    ]
    for call in calls.values():
        call.wait(SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS) + remote.sut.response_timeout_ms)
    lasted = remote.peer.measure_duration(began_ms)
    evidence = [*calls.values()]
    for name, (_, _, rules) in WAITING_READ_CASE_BY_KIND.items():
        judge(
            *rules,
            expected=TIMEOUT_STATUS,
            observed=calls[name].outcome,
            evidence=calls[name],
            case=f"outcome of {name}",
        )
    outcomes = {name: call.outcome for name, call in calls.items()}
    judge(*EXPIRED_READ_WAIT_RULES, expected=each(TIMEOUT_STATUS, "read"), observed=outcomes, evidence=evidence)
    longest_ms = SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS)
    longest_ms += 0 if virtual else remote.sut.response_timeout_ms
    # a stall makes none shorter: it began before they did
    in_time = SHORT_READ_TIMEOUT_MS <= lasted.ms <= longest_ms or f"after {lasted.ms} ms"
    over = holds("after their timeouts")
    judge("MQDMPR-3.1.7.3.4-04", expected=over, observed=in_time, evidence=evidence, case="end of the reads")
    remote.peer.pass_time(TIMEOUT_ABOVE_16_BITS_MS if virtual else remote.sut.quiet_ms)
    states = [read.state_after_silence() for read in long_reads]
    case = "reads with a long timeout"
    waiting = [Call.WAITING] * len(long_reads)
    each_timer = ("MQDMPR-3.1.7.3.4-03", "MQDMPR-3.1.7.3.4-04")
    judge(*each_timer, expected=waiting, observed=states, evidence=long_reads, case=case)
    unread = empty.peek_next(hCursor=cursors["receive by a cursor"])
    judge(
        "MQDMPR-3.1.7.1.10-34",
        expected=ILLEGAL_CURSOR_STATUS,
        observed=unread.outcome,
        evidence=unread,
        case="read by a cursor without a position",
    )


@covers("MQDMPR-3.1.7.3.1-24")
def test_timer_of_completed_read_ends_no_later_read(remote, judge):
    """When a read gets its message, only the timer of this read stops. After its timeout, two reads with a longer
    timeout or without a timeout are still pending, and two other reads, at this queue and at another queue, have timed
    out. The pending reads return the messages that arrive later.
    """
    first_ms = 2 * SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS)
    queue = remote.open()
    first_read = queue.begin(Action.RECEIVE, ulTimeout=first_ms)
    long_read = queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
    third_read = queue.begin(Action.RECEIVE, ulTimeout=first_ms)
    other_read = remote.open(queue="admin").begin(Action.RECEIVE, ulTimeout=first_ms)
    remote.deliver(["first"])
    if not first_read.wait().failed:
        queue.acknowledge(first_read)
    else:
        reason = "the message came later than the first read could wait"
        judge.mark_not_exercised("MQDMPR-3.1.7.3.1-24", reason=reason, evidence=first_read)
        return
    second_read = remote.open().begin(Action.RECEIVE, ulTimeout=INFINITE_TIMEOUT_MS)
    for read in (third_read, other_read):
        read.wait(first_ms + remote.sut.slack_ms(first_ms))
    second_read.wait(first_ms + remote.sut.quiet_ms)
    states = [read.state_after_silence() for read in (long_read, second_read)]
    remote.deliver(["second", "third"])
    judge(
        "MQDMPR-3.1.7.3.1-24",
        expected={
            "first_read": "first",
            "third_read_after_its_timeout": TIMEOUT_STATUS,
            "read_of_another_queue_after_its_timeout": TIMEOUT_STATUS,
            "other_reads_after_the_first_timeout": [Call.WAITING] * 2,
            "other_reads_after_an_arrival": any_order("second", "third"),
        },
        observed={
            "first_read": first_read.label_or_outcome,
            "third_read_after_its_timeout": third_read.outcome,
            "read_of_another_queue_after_its_timeout": other_read.outcome,
            "other_reads_after_the_first_timeout": states,
            "other_reads_after_an_arrival": [read.wait().label_or_outcome for read in (long_read, second_read)],
        },
        evidence=[first_read, long_read, second_read, third_read, other_read],
    )


@covers("MQDMPR-3.1.7.3.1-18", "MQDMPR-3.1.7.3.1-21", "MQDMPR-3.1.7.3.1-23")
def test_each_message_completes_one_receive_of_a_handle(remote, judge):
    """Two receives through one handle, and a peek through another, wait. Each of two messages that arrive one after
    another completes one receive, and the peek does not end without a message.
    """
    queue = remote.open()
    receives = []
    for _ in range(2):
        receives.append(queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS))
        receives[-1].state_after_silence()
    peek = remote.open().begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS)
    peek.state_after_silence()
    remote.deliver(["first"])
    states = [read.state_after_silence() for read in (*receives, peek)]
    remote.deliver(["second"])
    labels = [read.wait().label_or_outcome for read in receives]
    remote.deliver(["third"])
    judge.all(
        expected={
            "number of receives that still wait after the first message": 1,
            "labels returned by the receives": any_order("first", "second"),
            "peek": one_of("first", "second", "third"),
        },
        observed={
            "number of receives that still wait after the first message": states[:2].count(Call.WAITING),
            "labels returned by the receives": labels,
            "peek": peek.wait().label_or_outcome,
        },
        evidence=[*receives, peek],
    )


@needs("queue_control")
@covers("MQDMPR-3.1.7.3.1-19")
def test_deletion_of_queue_ends_all_its_pending_reads(remote, sut, judge):
    """Two receives and a peek wait by two handles of a queue. When the queue is deleted, all of them end without a
    message.
    """
    name = sut.new_queue("deleted")
    form = queue_format(DIRECT, rf"TCP:{sut.address}\{name}")
    queue, other = (remote.open(form=form) for _ in range(2))
    reads = [
        queue.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS),
        queue.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS),
        other.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS),
    ]
    for read in reads:
        read.state_after_silence()
    sut.delete_queue(name)
    observed = [read.wait(remote.sut.response_timeout_ms).label_or_failure for read in reads]
    judge("MQDMPR-3.1.7.3.1-19", expected=each(Call.FAILURE_HRESULT_TEXT, "read"), observed=observed, evidence=reads)
