"""MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request: requests that are not pending."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import Application

PENDING_TIMEOUT_MS = 60_000


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.17-11")
def test_only_pending_request_is_cancelled(peer, sut, judge):
    """Of an answered, a pending and a cancelled receive, only the pending receive can be cancelled; a different pending
    receive continues to wait.
    """
    application = Application(peer, sut)
    over = sut.control.begin("receive", queue=application.queue, timeout_ms=0)
    requests = [sut.control.begin("receive", queue=application.queue, timeout_ms=PENDING_TIMEOUT_MS) for _ in range(2)]
    peer.settle()
    asked_for = (
        ("completed receive can be cancelled", over),
        ("pending receive can be cancelled", requests[0]),
        ("cancelled receive can be cancelled again", requests[0]),
    )
    observed = {name: _is_cancelled(peer, sut, one) for name, one in asked_for}
    observed["other receive is still pending"] = sut.control.answer(requests[1]) is None
    judge(
        "MQDMPR-3.1.7.1.17-11",
        expected={
            "completed receive can be cancelled": False,
            "pending receive can be cancelled": True,
            "cancelled receive can be cancelled again": False,
            "other receive is still pending": True,
        },
        observed=observed,
    )
    sut.control.call("cancel", request=requests[1])


def _is_cancelled(peer, sut, request):
    """Return whether a request was cancelled; for a completed request, a system may report that the request does not
    exist.
    """
    number = sut.control.begin("cancel", request=request)
    answers = []

    def is_answered() -> bool:
        answers.append(sut.control.answer(number))
        return answers[-1] is not None

    peer.eventually(is_answered)
    return "no answer" if answers[-1] is None else bool(answers[-1].get("ok") and answers[-1]["cancelled"])
