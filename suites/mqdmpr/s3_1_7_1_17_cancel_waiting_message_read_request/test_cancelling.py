"""MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request: requests that are not pending."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

PENDING_READ_TIMEOUT_MS = 60_000


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.17-11")
def test_only_pending_request_is_cancelled(peer, sut, judge):
    """An application tries to cancel an answered, a pending and a cancelled receive. Only the pending receive can be
    cancelled, and a second pending receive continues to wait. Then this second receive is the only pending one: another
    cancellation of the answered and of the cancelled receive fails, and does not end it.
    """
    application = Application(peer, sut)
    over = sut.control.begin("receive", queue=application.queue, timeout_ms=0)
    requests = [
        sut.control.begin("receive", queue=application.queue, timeout_ms=PENDING_READ_TIMEOUT_MS) for _ in range(2)
    ]
    peer.settle()
    asked_for = (
        ("completed receive can be cancelled", over),
        ("pending receive can be cancelled", requests[0]),
        ("cancelled receive can be cancelled again", requests[0]),
    )
    observed = {name: _is_read_cancelled(peer, sut, one) for name, one in asked_for}
    again = [_is_read_cancelled(peer, sut, one) for one in (over, requests[0])]
    peer.settle()
    observed["other cancellations beside one pending receive"] = again
    observed["other receive is still pending"] = sut.control.answer(requests[1]) is None
    judge(
        "MQDMPR-3.1.7.1.17-11",
        expected={
            "completed receive can be cancelled": False,
            "pending receive can be cancelled": True,
            "cancelled receive can be cancelled again": False,
            "other cancellations beside one pending receive": [False, False],
            "other receive is still pending": True,
        },
        observed=observed,
    )
    sut.control.call("cancel", request=requests[1])


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.17-05", "MQDMPR-3.1.7.1.17-06", "MQDMPR-3.1.7.1.17-07", "MQDMPR-3.1.7.1.17-10")
def test_cancelled_read_takes_no_message(peer, sut, judge):
    """Five reads wait at two queues, and one peek waits at a third queue. The first receive at each of the two queues,
    a peek by a cursor, and the peek at the third queue are cancelled. Messages that arrive later complete the other
    reads, and the cancelled receives take none of them.
    """
    first, second, third = (Application(peer, sut) for _ in range(3))
    handle, other_handle = (
        sut.control.call("open_queue", queue=one.queue, access="receive")["handle"] for one in (first, second)
    )
    cursor = sut.control.call("open_cursor", handle=other_handle)["cursor"]
    reads = {}
    for name, verb, where in (
        ("first receive", "receive", {"handle": handle}),
        ("second receive", "receive", {"handle": handle}),
        ("receive of the other queue", "receive", {"queue": second.queue}),
        ("later receive of the other queue", "receive", {"queue": second.queue}),
        ("peek of the other queue", "peek_message", {"cursor": cursor}),
        ("only read of the third queue", "peek_message", {"queue": third.queue}),
    ):
        reads[name] = PendingRequest(peer, verb, timeout_ms=PENDING_READ_TIMEOUT_MS, **where)
        peer.settle()
    cancelled = (
        "first receive",
        "receive of the other queue",
        "peek of the other queue",
        "only read of the third queue",
    )
    answers = [_is_read_cancelled(peer, sut, reads[name].number) for name in cancelled]
    outcomes = [reads[name].await_label() for name in cancelled]
    connection = peer.open_raw()
    packets = [connection.send(one.build_message(label)) for one, label in ((first, "a"), (second, "b"))]
    labels = [reads[name].await_label() for name in reads if name not in cancelled]
    packets.append(connection.send(first.build_message("c")))
    first.await_message_count(1)
    judge.all(
        expected=facts(
            cancelled=[True] * 4,
            cancelled_reads=[Outcome.REFUSED] * 4,
            other_receives=["a", "b"],
            queue=in_queue("c"),
            other_queue=in_queue(),
        ),
        observed={
            "cancelled": answers,
            "cancelled_reads": outcomes,
            "other_receives": labels,
            "queue": first.labels(),
            "other_queue": second.labels(),
        },
        evidence=packets,
    )


def _is_read_cancelled(peer, sut, request):
    """Return whether a request was cancelled; for a completed request, a system may report that the request does not
    exist.
    """
    number = sut.control.begin("cancel", request=request)
    answers = []

    def is_read_answered() -> bool:
        answers.append(sut.control.answer(number))
        return answers[-1] is not None

    peer.eventually(is_read_answered)
    return "no answer" if answers[-1] is None else bool(answers[-1].get("ok") and answers[-1]["cancelled"])
