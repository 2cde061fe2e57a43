"""MS-MQDMPR 3.1.7.1.4 Delete Queue: what is left of a queue, and of what had it open (3.1.7.1.1)."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each, holds
from harness.run.marks import covers, needs, sut_survives
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqdmpr.steps import openings
from suites.mqqp.steps.reading import FAILURE, failed

BEFORE, AFTER = "before", "after"


@sut_survives()
@needs("qm2qm", "queue_control", "send", "receive")
@covers("MQDMPR-3.1.7.1.1-04", "MQDMPR-3.1.7.1.4-10", "MQDMPR-3.1.7.1.4-11", "MQDMPR-3.1.7.1.4-17")
def test_a_deleted_queue_is_gone_and_its_name_is_free(peer, remote, sut, judge):
    """A queue that is deleted is gone with its messages, its openings and its cursors, and its name is free for another
    queue.
    """
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    form = queue_format(DIRECT, path)
    remote.send_all([peer.recoverable_message(destination=path, label=BEFORE)])
    if not peer.eventually(lambda: sut.labels(name) == [BEFORE]):
        raise ConformanceFailure("the SUT did not put the message into the queue")
    queue = remote.open(form=form)
    cursor = queue.cursor().settled()
    was_listed = _is_listed(sut, name)
    deleted = sut.attempt("delete_queue", name=name)
    judge("MQDMPR-3.1.7.1.4-17", expected=Outcome.DONE, observed=deleted)
    judge.conclude("MQDMPR-3.1.7.1.4-17")
    opened = openings.open_and_close(remote, queue.association, form=form)
    judge(
        "MQDMPR-3.1.7.1.4-11",
        expected={
            "listed_before": True,
            "listed_after": False,
            "open": Outcome.REFUSED,
            "send": Outcome.REFUSED,
            "peek": Outcome.REFUSED,
        },
        observed={
            "listed_before": was_listed,
            "listed_after": _is_listed(sut, name),
            "open": openings.outcome(opened),
            "send": sut.attempt(sut.send, f"DIRECT={path}"),
            "peek": sut.attempt("peek", queue=name),
        },
        evidence=opened,
    )
    made = sut.attempt("create_queue", name=name)
    remote.send_all([peer.recoverable_message(destination=path, label=AFTER)])
    there = peer.eventually(lambda: AFTER in sut.labels(name)) and sut.labels(name)
    again = openings.open_and_close(remote, queue.association, form=form)
    judge(
        "MQDMPR-3.1.7.1.4-11",
        expected={"create": Outcome.DONE, "messages": [AFTER], "open": openings.OPENED},
        observed={"create": made, "messages": there, "open": openings.outcome(again)},
        evidence=again,
    )
    judge.conclude("MQDMPR-3.1.7.1.4-11")
    late = queue.cursor()
    refused = late.outcome != openings.OPENED
    judge("MQDMPR-3.1.7.1.1-04", expected=holds("no cursor is made"), observed=refused, evidence=[cursor, late])
    reads = [queue.read(PEEK_CURRENT), queue.read(PEEK_CURRENT, hCursor=cursor.out.phCursor), queue.read(RECEIVE)]
    observed = [failed(read) for read in reads]
    judge("MQDMPR-3.1.7.1.4-10", expected=each(FAILURE, "read"), observed=observed, evidence=reads)


def _is_listed(sut, name):
    return name.lower() in [one["name"].lower() for one in sut.control.call("list")["queues"]]
