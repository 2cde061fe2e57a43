"""MS-MQDMPR 3.1.7.1.16 Move Message: between a queue and its subqueue."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "subqueues")

WAIT_MS = 60_000
LARGE_KB = 16


def subqueue_of(application: Application) -> str:
    """Make a subqueue of an application's queue; return its path name."""
    name = f"{application.queue};mqc-sub"
    application.sut.create_queue(name, transactional=application.transactional)
    return name


def moved(application: Application, lookup_id: int, to: str, **how: Any) -> str:
    """Move a message; return whether that succeeded."""
    asked = {"queue": application.queue, "lookup_id": lookup_id, "to": to, **how}
    try:
        application.sut.control.call("move", **asked)
    except ControlRefused as refused:
        return f"refused: {refused}"
    return "moved"


@covers("MQDMPR-3.1.7.1.16-05", "MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07")
def test_a_message_is_moved_to_the_place_of_its_priority(peer, sut, judge):
    """Of four messages three are moved, the one of the highest priority last: it is the first there.

    Each is there as it was, and can be received.
    """
    application = Application(peer, sut)
    subqueue = subqueue_of(application)
    for label, priority in (("a", 2), ("b", 2), ("c", 5), ("stays", 3)):
        application.fill(label, PR=priority)
    before = {one["label"]: one for one in application.shown()}
    known = application.identifiers()
    done = [moved(application, known[label], subqueue) for label in "abc"]
    judge("MQDMPR-3.1.7.1.16-05", expected=[["moved"] * 3, ["stays"]], observed=[done, application.labels()])
    there = application.shown(subqueue)
    judge("MQDMPR-3.1.7.1.16-06", "MQDMPR-3.1.7.1.16-07", expected=[*"cab"], observed=[one["label"] for one in there])
    changed = [
        f"{one['label']}: {name}"
        for one in there
        for name, value in before[one["label"]].items()
        if name != "lookup_id" and one.get(name) != value
    ]
    received = sut.control.call("receive", queue=subqueue, timeout_ms=0)["message"]
    observed = [changed, None if received is None else received["label"], application.labels(subqueue)]
    judge("MQDMPR-3.1.7.1.16-06", expected=[[], "c", [*"ab"]], observed=observed)


@covers("MQDMPR-3.1.7.1.16-D01")
def test_a_message_that_is_moved_goes_to_who_waits_there(peer, sut, judge):
    """A receive waits at an empty subqueue: it gets the message that is moved there."""
    application = Application(peer, sut)
    subqueue = subqueue_of(application)
    application.fill("moved", "stays")
    number = sut.control.begin("receive", queue=subqueue, timeout_ms=WAIT_MS)
    peer.settle()
    early = sut.control.answer(number)
    moved(application, application.identifiers()["moved"], subqueue)
    answers: list[dict[str, Any]] = []

    def answered() -> bool:
        answer = sut.control.answer(number)
        if answer is not None:
            answers.append(dict(answer))
        return bool(answers)

    peer.eventually(answered)
    message = answers[0].get("message") if answers else None
    observed = [early, None if message is None else message["label"], application.labels(subqueue)]
    judge("MQDMPR-3.1.7.1.16-D01", expected=[None, "moved", []], observed=observed)
    if not answers:
        sut.control.call("cancel", request=number)


@needs("transactions")
@covers("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03")
def test_what_is_moved_within_a_transaction_moves_when_that_commits(peer, sut, judge):
    """Two transactions move a message each: neither can be read anywhere before; one commits, one is aborted."""
    application = Application(peer, sut, transactional=True)
    subqueue = subqueue_of(application)
    application.fill("a", "b", "c")
    known = application.identifiers()
    committed, aborted = application.begin(), application.begin()
    done = [
        moved(application, known[label], subqueue, transaction=transaction)
        for label, transaction in (("a", committed), ("b", aborted))
    ]
    locked = [application.labels(), application.labels(subqueue)]
    counts = list(application.operations(committed, aborted).values())
    judge("MQDMPR-3.1.7.1.16-D02", expected=[["moved"] * 2, [["c"], []]], observed=[done, locked])
    application.decide("commit", committed)
    application.decide("abort", aborted)
    after = [application.labels(), application.labels(subqueue)]
    judge("MQDMPR-3.1.7.1.16-D03", expected=[[1, 1], [["b", "c"], ["a"]]], observed=[counts, after])


@needs("configure")
@covers("MQDMPR-3.1.7.1.9-04")
def test_what_is_in_a_subqueue_counts_for_the_queue_manager(peer, sut, judge):
    """The only message of a queue is moved to a subqueue; with a quota of less than its body nothing more is taken."""
    application = Application(peer, sut)
    subqueue = subqueue_of(application)
    connection = peer.open_raw()
    connection.send(application.packet("large", body=bytes(LARGE_KB * 1024)))
    if not application.await_labels(1):
        raise ConformanceFailure("the SUT did not take the message")
    moved(application, application.identifiers()["large"], subqueue)
    sut.configure(quota_kb=LARGE_KB)
    sent = connection.send(application.packet("no room"))
    connection.wait_closed()
    observed = [application.labels(), application.labels(subqueue)]
    judge("MQDMPR-3.1.7.1.9-04", expected=[[], ["large"]], observed=observed, evidence=[sent, connection.last])
