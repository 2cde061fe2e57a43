"""MS-MQDMPR 3.1.7.1.4 Delete Queue: messages, open handles and cursors of a deleted queue (3.1.7.1.1)."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each, holds
from harness.peer.association import Call
from harness.run.marks import covers, needs, sut_survives
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DIRECT, queue_format
from suites.mqdmpr.steps import openings

OLD_MESSAGE_LABEL, NEW_MESSAGE_LABEL = "old message", "new message"
LONG_READ_TIMEOUT_MS = 600_000


@sut_survives()
@needs("qm2qm", "queue_control", "send", "receive")
@covers("MQDMPR-3.1.7.1.1-04", "MQDMPR-3.1.7.1.4-10", "MQDMPR-3.1.7.1.4-11", "MQDMPR-3.1.7.1.4-17")
def test_deleted_queue_is_gone_and_name_is_free(peer, remote, sut, judge):
    """A queue with a message and two open handles, each with a cursor, is deleted. The SUT does not list the queue,
    refuses to open it, stores no message in it, and refuses reads through the old handles. A queue with the same name
    can be created.
    """
    name = sut.new_queue("deleted")
    path = rf"TCP:{sut.address}\{name}"
    form = queue_format(DIRECT, path)
    remote.send_messages_and_require_acks([peer.recoverable_message(destination=path, label=OLD_MESSAGE_LABEL)])
    if not peer.eventually(lambda: sut.labels(name) == [OLD_MESSAGE_LABEL]):
        raise ConformanceFailure("the SUT did not put the message into the queue")
    queue, second = remote.open(form=form), remote.open(form=form)
    cursor, cursor_of_second = queue.cursor().expect_success(), second.open_cursor()
    was_listed = _is_queue_listed(sut, name)
    deleted = sut.attempt("delete_queue", name=name)
    judge("MQDMPR-3.1.7.1.4-17", expected=Outcome.DONE, observed=deleted, case="deletion of the queue")
    judge.conclude("MQDMPR-3.1.7.1.4-17")
    opened = openings.open_and_close_queue(remote, queue.association, form=form)
    judge(
        "MQDMPR-3.1.7.1.4-11",
        expected={
            "queue is listed before the deletion": True,
            "queue is listed after the deletion": False,
            "open of the deleted queue": Outcome.REFUSED,
            "send to the deleted queue": Outcome.REFUSED,
            "peek of the deleted queue": Outcome.REFUSED,
        },
        observed={
            "queue is listed before the deletion": was_listed,
            "queue is listed after the deletion": _is_queue_listed(sut, name),
            "open of the deleted queue": openings.get_opening_outcome(opened),
            "send to the deleted queue": sut.attempt(sut.send, f"DIRECT={path}"),
            "peek of the deleted queue": sut.attempt("peek", queue=name),
        },
        evidence=opened,
    )
    creation = sut.attempt("create_queue", name=name)
    remote.send_messages_and_require_acks([peer.recoverable_message(destination=path, label=NEW_MESSAGE_LABEL)])
    labels = peer.eventually(lambda: NEW_MESSAGE_LABEL in sut.labels(name)) and sut.labels(name)
    second_opening = openings.open_and_close_queue(remote, queue.association, form=form)
    judge(
        "MQDMPR-3.1.7.1.4-11",
        expected={
            "second creation of the queue": Outcome.DONE,
            "labels in the new queue": [NEW_MESSAGE_LABEL],
            "open of the new queue": openings.OPENED_OUTCOME,
        },
        observed={
            "second creation of the queue": creation,
            "labels in the new queue": labels,
            "open of the new queue": openings.get_opening_outcome(second_opening),
        },
        evidence=second_opening,
    )
    judge.conclude("MQDMPR-3.1.7.1.4-11")
    late_cursor = queue.cursor()
    refused = late_cursor.outcome != openings.OPENED_OUTCOME
    judge(
        "MQDMPR-3.1.7.1.1-04", expected=holds("no cursor is opened"), observed=refused, evidence=[cursor, late_cursor]
    )
    reads = [
        queue.peek(),
        queue.peek(hCursor=cursor.out.phCursor),
        queue.start_receive(),
        second.begin_receive(ulTimeout=LONG_READ_TIMEOUT_MS).wait(sut.response_timeout_ms),
        second.peek(hCursor=cursor_of_second),
    ]
    observed = [read.label_or_failure for read in reads]
    judge("MQDMPR-3.1.7.1.4-10", expected=each(Call.FAILURE_HRESULT_TEXT, "read"), observed=observed, evidence=reads)


@needs("queue_control", "restart")
@covers("MQDMPR-3.1.7.1.4-11")
def test_deleted_queue_is_gone_after_restart(sut, judge):
    """Two queues are created, the first of them is deleted, and the SUT restarts. The SUT lists only
    the second queue.
    """
    kept, deleted = (sut.new_queue(purpose) for purpose in ("kept", "deleted"))
    sut.delete_queue(deleted)
    sut.restart()
    judge(
        "MQDMPR-3.1.7.1.4-11",
        expected={"kept": True, "deleted": False},
        observed={"kept": _is_queue_listed(sut, kept), "deleted": _is_queue_listed(sut, deleted)},
        case="queue listed after a restart",
    )


def _is_queue_listed(sut, name):
    return name.lower() in [one["name"].lower() for one in sut.control.call("list")["queues"]]
