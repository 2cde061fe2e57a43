"""MS-MQQP 3.1.4.6 RemoteQMCancelReceive: the end of a waiting read."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, one_of, status
from harness.run.marks import covers, needs, sut_survives
from harness.sut.releases import find_release
from harness.wire.rpc_qm2qm import Action, Method

pytestmark = needs("qm2qm")

INVALID_HANDLE, INVALID_PARAMETER, ERROR = "MQ_ERROR_INVALID_HANDLE", "MQ_ERROR_INVALID_PARAMETER", "MQ_ERROR"
LONG_READ_TIMEOUT_MS = 600_000
NO_MESSAGE = "ended without a message"


def describe_end(read) -> str:
    """Return the text for the end of a cancelled read: the informational status, or a failure (erratum E51)."""
    read.wait()
    informed = read.outcome == "MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT"
    return NO_MESSAGE if informed or read.failed else read.label_or_outcome


@covers(
    "MQQP-3.1.4.6-05",
    "MQQP-3.1.4.6-07",
    "MQQP-3.1.4.6-08",
    "MQQP-3.1.4.6-09",
    "MQQP-3.1.4.6-10",
    "MQQP-3.1.4.6-11",
    "MQQP-3.1.4.1-02",
)
@sut_survives()
def test_cancel_with_wrong_queue_or_request_id_is_refused(remote, judge):
    """RemoteQMCancelReceive returns the specified status when no read waits, for a different queue, with a wrong
    pQueue, and with an unknown dwRequestID: a waiting read continues to wait. With the right values, the read ends.
    """
    queue = remote.open()
    unopened = remote.open_remote(queue.association).expect_success().out.phQueue
    number = remote.request_id()
    arguments = {"hQueue": unopened, "pQueue": unopened, "dwRequestID": number}
    before = queue.association.call("RemoteQMCancelReceive", **arguments)
    idle = queue.cancel(number)
    judge(
        "MQQP-3.1.4.6-09",
        expected=each(status(INVALID_HANDLE), "call"),
        observed=[before, idle],
        evidence=[before, idle],
    )
    admin = remote.open("admin", association=queue.association)
    read = queue.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    elsewhere = admin.cancel(number)
    judge(
        "MQQP-3.1.4.6-08",
        expected=facts(read=read.WAITING, cancel=INVALID_HANDLE),
        observed={"read": waits, "cancel": elsewhere.outcome},
        evidence=elsewhere.evidence,
    )
    pointers = [
        queue.association.call("RemoteQMCancelReceive", hQueue=queue.handle, pQueue=value, dwRequestID=number)
        for value in (0, queue.pointer + 1)
    ]
    observed = {
        "pQueue_0": pointers[0].outcome,
        "pQueue_of_another_queue": pointers[1].outcome,
    }
    expected = facts(
        pQueue_0=find_release(remote.sut).no_queue_to_cancel,
        pQueue_of_another_queue=INVALID_PARAMETER,
    )
    judge("MQQP-3.1.4.6-07", expected=expected, observed=observed, case="cancel with a wrong pQueue", evidence=pointers)
    other = queue.cancel(remote.request_id())
    judge(
        "MQQP-3.1.4.6-11",
        expected=ERROR,
        observed=other.outcome,
        evidence=other.evidence,
        case="cancel of an unknown dwRequestID",
    )
    still = read.state_after_silence()
    cancelled = queue.cancel(number)
    seen = {
        "cancel_of_another_dwRequestID": other.outcome,
        "read_before_the_cancel": still,
        "cancel_of_its_dwRequestID": cancelled.outcome,
        "read_after_the_cancel": describe_end(read),
    }
    expected = facts(
        cancel_of_another_dwRequestID=ERROR,
        read_before_the_cancel=read.WAITING,
        cancel_of_its_dwRequestID="MQ_OK",
        read_after_the_cancel=NO_MESSAGE,
    )
    judge(
        "MQQP-3.1.4.6-10",
        "MQQP-3.1.4.1-02",
        expected=expected,
        observed=seen,
        evidence=[*other.evidence, *cancelled.evidence],
    )
    judge("MQQP-3.1.4.6-05", expected="MQ_OK", observed=cancelled.outcome, evidence=cancelled.evidence, case="cancel")


@covers("MQQP-3.1.4.6-05")
def test_cancel_of_peek_succeeds_only_if_peek_ends(remote, judge):
    """A waiting peek is cancelled: RemoteQMCancelReceive returns MQ_OK and the peek ends, or it returns a failure and
    the peek still waits (E52).
    """
    queue, number = remote.open(), remote.request_id()
    read = queue.begin(Action.PEEK_CURRENT, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    read.state_after_silence()
    cancelled = queue.cancel(number)
    read.state_after_silence()
    judge(
        "MQQP-3.1.4.6-05",
        expected=one_of(facts(cancel_succeeds=True, peek_ends=True), facts(cancel_succeeds=False, peek_ends=False)),
        observed={"cancel_succeeds": cancelled.outcome == "MQ_OK", "peek_ends": read.answered},
        evidence=[read, cancelled],
    )


@covers(
    "MQQP-3.1.4.6-14",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-19",
    "MQQP-3.1.4.6-20",
    *("MQQP-2.2.2.1-04", "MQQP-2.2.2.1-05", "MQQP-3.1.1.3-01"),
)
def test_cancelled_read_ends_and_queue_stays_open(remote, judge):
    """One of two waiting receives is cancelled and ends without a message. Its dwRequestID can be used again, a second
    RemoteQMCancelReceive for it fails, and the other receive, which still waits, gets the next message.
    """
    queue = remote.open()
    one, two = remote.request_id(), remote.request_id()
    first, second = (queue.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS) for number in (one, two))
    waits = [first.state_after_silence(), second.state_after_silence()]
    taken = queue.start_receive(dwRequestID=one)
    cancelled = queue.cancel(one)
    end = describe_end(first)
    evidence = [*first.evidence, *cancelled.evidence]
    judge("MQQP-3.1.4.6-15", expected=NO_MESSAGE, observed=end, evidence=evidence, case="cancelled read")
    judge("MQQP-3.1.4.6-20", expected="MQ_OK", observed=cancelled.outcome, evidence=cancelled.evidence, case="cancel")
    judge(
        "MQQP-2.2.2.1-05",
        expected=INVALID_PARAMETER,
        observed=taken.outcome,
        evidence=taken.evidence,
        case="read with a dwRequestID in use",
    )
    again = queue.cancel(one)
    fresh = queue.begin_receive(dwRequestID=one, ulTimeout=LONG_READ_TIMEOUT_MS)
    seen, expected = (
        {"second_cancel": again.outcome, "new_read_with_the_same_dwRequestID": fresh.state_after_silence()},
        facts(second_cancel=ERROR, new_read_with_the_same_dwRequestID=first.WAITING),
    )
    judge("MQQP-3.1.4.6-19", expected=expected, observed=seen, evidence=again.evidence)
    seen = {
        "reads_before_the_cancel": waits,
        "cancel": cancelled.outcome,
        "first_read": end,
        "second_read": second.state_after_silence(),
    }
    expected = facts(
        reads_before_the_cancel=each(first.WAITING), cancel="MQ_OK", first_read=NO_MESSAGE, second_read=first.WAITING
    )
    judge("MQQP-2.2.2.1-04", "MQQP-3.1.1.3-01", expected=expected, observed=seen, evidence=evidence)
    judge.conclude("MQQP-3.1.4.6-15", "MQQP-3.1.4.6-19", "MQQP-3.1.4.6-20")
    queue.cancel(one)
    remote.deliver(["first"])
    got = second.wait()
    queue.end(got, 1)
    peeked = queue.peek()
    judge(
        "MQQP-3.1.4.6-14",
        expected=facts(second_read="first", peek_afterwards="first"),
        observed={"second_read": got.label_or_outcome, "peek_afterwards": peeked.label_or_outcome},
        evidence=peeked.evidence,
    )


@covers("MQQP-3.1.4.6-10", "MQDMPR-3.1.7.1.17-05")
@pytest.mark.parametrize("which", [0, 1, 2], ids=["first", "middle", "last"])
def test_cancel_ends_only_read_of_request_id(remote, judge, which):
    """Three receives wait, and RemoteQMCancelReceive names the dwRequestID of one receive: that receive ends without a
    message, and the other two still wait.
    """
    queue = remote.open()
    numbers = [remote.request_id() for _ in range(3)]
    reads = [queue.begin_receive(dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS) for number in numbers]
    waits = [read.state_after_silence() for read in reads]
    cancelled = queue.cancel(numbers[which])
    after = [describe_end(read) if read is reads[which] else read.state_after_silence() for read in reads]
    expected = [NO_MESSAGE if read is reads[which] else read.WAITING for read in reads]
    judge.all(
        expected=facts(reads_before_the_cancel=each(reads[0].WAITING), cancel="MQ_OK", reads_after_the_cancel=expected),
        observed={"reads_before_the_cancel": waits, "cancel": cancelled.outcome, "reads_after_the_cancel": after},
        evidence=cancelled.evidence,
    )
    for number in numbers:
        queue.cancel(number)


@covers(
    "MQQP-3.1.4.6-D01",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-20",
    "MQDMPR-3.1.7.1.11-12",
    "MQDMPR-3.1.7.1.17-06",
    "MQDMPR-3.1.7.1.17-07",
    "MQDMPR-3.1.7.1.17-10",
)
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize(
    "with_cursor",
    [
        pytest.param(False, id="plain"),
        pytest.param(True, marks=covers("MQDMPR-3.1.7.1.10-27"), id="by cursor"),
    ],
)
@pytest.mark.parametrize("other_client", [False, True], ids=["same client", "other client"])
def test_cancelled_receive_leaves_message_to_next_receive(remote, judge, by, with_cursor, other_client):
    """Two receives wait, and the later receive, with or without a cursor, is cancelled by its own client or by a
    different client: this receive ends without a message, and the earlier receive still waits. The next receive returns
    the next message.
    """
    queue = remote.open()
    earlier = remote.open().begin_receive(by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    earlier.state_after_silence()
    cursor = queue.open_cursor() if with_cursor else 0
    number = remote.request_id()
    read = queue.begin_receive(by=by, hCursor=cursor, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
    waits = read.state_after_silence()
    caller = remote.associate() if other_client else queue.association
    numbers = {"hQueue": queue.handle, "pQueue": queue.pointer, "dwRequestID": number}
    cancelled = caller.call("RemoteQMCancelReceive", **numbers)
    end = describe_end(read)
    remote.deliver(["first", "second"])
    then = queue.start_receive(by=by).label_or_outcome
    observed = {
        "pending_receive_before_the_cancel": waits,
        "cancel": cancelled.outcome,
        "pending_receive_after_the_cancel": end,
        "earlier_receive": earlier.wait().label_or_outcome,
        "next_receive": then,
    }
    expected, evidence = (
        facts(
            pending_receive_before_the_cancel=read.WAITING,
            cancel="MQ_OK",
            pending_receive_after_the_cancel=NO_MESSAGE,
            earlier_receive="first",
            next_receive="second",
        ),
        [read, cancelled],
    )
    ended_by_tag = (
        "MQQP-3.1.4.6-D01",
        "MQQP-3.1.4.6-15",
        "MQDMPR-3.1.7.1.11-12",
        "MQDMPR-3.1.7.1.17-06",
        "MQDMPR-3.1.7.1.17-07",
    )
    by_cursor = ("MQDMPR-3.1.7.1.10-27",) if with_cursor else ()
    judge(*ended_by_tag, *by_cursor, expected=expected, observed=observed, evidence=evidence)
    judge(
        "MQQP-3.1.4.6-20",
        "MQDMPR-3.1.7.1.17-10",
        expected="MQ_OK",
        observed=cancelled.outcome,
        evidence=cancelled.evidence,
        case="cancel of the read",
    )
