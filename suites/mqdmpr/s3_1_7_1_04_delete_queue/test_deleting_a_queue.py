"""MS-MQDMPR 3.1.7.1.4 Delete Queue: what is left of a queue, and of what had it open (3.1.7.1.1)."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.applications import DONE, REFUSED, asked
from suites.mqdmpr.steps.openings import OPENED, opened_and_closed, outcome, sent
from suites.mqqp.steps.reading import FAILURE, failed, send_all

BEFORE, AFTER = "before", "after"
LISTED, NOT_LISTED = "listed", "not listed"


@goes_on()
@needs("qm2qm", "queue_control", "send", "receive")
@covers("MQDMPR-3.1.7.1.1-04", "MQDMPR-3.1.7.1.4-10", "MQDMPR-3.1.7.1.4-11", "MQDMPR-3.1.7.1.4-17")
def test_a_deleted_queue_is_gone_and_its_name_is_free(peer, remote, sut, judge):
    """A queue with a message is open when it is deleted, and another gets its name: that has no message of the first,
    and what the first was opened with reads nothing and makes no cursor.
    """
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    form = queue_format(DIRECT, path)
    send_all(remote, [peer.recoverable_message(destination=path, label=BEFORE)])
    if not peer.eventually(lambda: sut.labels(name) == [BEFORE]):
        raise ConformanceFailure("the SUT did not put the message into the queue")
    queue = remote.open(form=form)
    cursor = queue.cursor().settled()
    listed = _listed(sut, name)
    deleted = asked(sut, "delete_queue", name=name)
    judge("MQDMPR-3.1.7.1.4-17", expected=DONE, observed=deleted)
    judge.finished("MQDMPR-3.1.7.1.4-17")
    opened = opened_and_closed(remote, queue.association, form=form)
    observed = [
        listed,
        _listed(sut, name),
        outcome(opened),
        sent(sut, f"DIRECT={path}"),
        asked(sut, "peek", queue=name),
    ]
    gone = [LISTED, NOT_LISTED, REFUSED, REFUSED, REFUSED]
    judge("MQDMPR-3.1.7.1.4-11", expected=gone, observed=observed, evidence=opened)
    made = asked(sut, "create_queue", name=name)
    send_all(remote, [peer.recoverable_message(destination=path, label=AFTER)])
    there = peer.eventually(lambda: AFTER in sut.labels(name)) and sut.labels(name)
    again = opened_and_closed(remote, queue.association, form=form)
    observed = [made, there, outcome(again)]
    judge("MQDMPR-3.1.7.1.4-11", expected=[DONE, [AFTER], OPENED], observed=observed, evidence=again)
    judge.finished("MQDMPR-3.1.7.1.4-11")
    late = queue.cursor()
    seen = ["made", "made" if late.outcome == OPENED else "not made"]
    judge("MQDMPR-3.1.7.1.1-04", expected=["made", "not made"], observed=seen, evidence=[cursor, late])
    reads = [queue.read(PEEK_CURRENT), queue.read(PEEK_CURRENT, hCursor=cursor.out.phCursor), queue.read(RECEIVE)]
    observed = [failed(read) for read in reads]
    judge("MQDMPR-3.1.7.1.4-10", expected=[FAILURE] * 3, observed=observed, evidence=reads)


def _listed(sut, name):
    queues = (one["name"].lower() for one in sut.control.call("list")["queues"])
    return LISTED if name.lower() in queues else NOT_LISTED
