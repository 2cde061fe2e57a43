"""MS-MQDMPR 3.1.7.1.17 Cancel Waiting Message Read Request: a request that does not wait, or not any more."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import Application

WAIT_MS = 60_000


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.17-11")
def test_only_a_request_that_waits_is_cancelled(peer, sut, judge):
    """Of two receives that wait one is cancelled, and once more; a request that was answered long ago waits no more.

    The other one gets the message that comes.
    """
    application = Application(peer, sut)
    over = sut.control.begin("receive", queue=application.queue, timeout_ms=0)
    requests = [sut.control.begin("receive", queue=application.queue, timeout_ms=WAIT_MS) for _ in range(2)]
    peer.settle()
    cancelled = [_cancelled(peer, sut, one) for one in (over, requests[0], requests[0])]
    waits = sut.control.answer(requests[1]) is None
    judge("MQDMPR-3.1.7.1.17-11", expected=[False, True, False, True], observed=[*cancelled, waits])
    sut.control.call("cancel", request=requests[1])


def _cancelled(peer, sut, request):
    """Return whether a request was cancelled; of one that is over a system may say that there is none."""
    number = sut.control.begin("cancel", request=request)
    answers = []

    def came() -> bool:
        answers.append(sut.control.answer(number))
        return answers[-1] is not None

    peer.eventually(came)
    return "no answer" if answers[-1] is None else bool(answers[-1].get("ok") and answers[-1]["cancelled"])
