"""MS-MQDMPR 3.1.7.1.4 Delete Queue: public queues and their directory objects."""

from __future__ import annotations

from harness.expectations import facts, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise


@needs("queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.4-13", "MQDMPR-3.1.7.1.4-14")
def test_deleted_public_queue_leaves_directory_and_others_stay(peer, sut, judge):
    """The SUT deletes four of seven public queues with the same label: the last queue, a queue with a message, a
    transactional queue, and an empty queue between others. Neither the SUT's list of queues nor the directory contains
    a deleted queue. The directory objects of the other queues are unchanged, even after the SUT has deleted a private
    queue.
    """
    enterprise = Enterprise(peer, sut)
    kept = {name: enterprise.create_queue(label="a public queue") for name in ("first", "second")}
    filled, transactional, empty = (
        enterprise.create_queue(label="a public queue", transactional=kind) for kind in (False, True, False)
    )
    kept["third"] = enterprise.create_queue(label="a public queue")
    last, private = enterprise.create_queue(label="a public queue"), sut.new_queue("private")
    if sut.has("send"):
        sut.send_here(filled, ["deleted with the queue"])
    for word, deleted in (("last", last), ("filled", filled), ("transactional", transactional), ("empty", empty)):
        answer = PendingRequest(peer, "delete_queue", name=deleted).await_outcome()
        listed = [queue["name"].lower() for queue in sut.control.call("list")["queues"]]
        judge(
            "MQDMPR-3.1.7.1.4-13",
            expected=facts(deletion=Outcome.DONE, queue_is_listed=False, directory_object={}),
            observed={
                "deletion": answer,
                "queue_is_listed": deleted.lower() in listed,
                "directory_object": enterprise.read_directory_object(deleted),
            },
            case=f"{word} queue",
        )
    sut.delete_queue(private)
    judge(
        "MQDMPR-3.1.7.1.4-14",
        expected=dict.fromkeys(kept, "a public queue"),
        observed={word: enterprise.read_directory_object(name).get("label") for word, name in kept.items()},
        case="labels of the other queues in the directory",
    )


@needs("queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.4-16")
def test_deletion_without_directory_returns_error(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses three times to delete a public queue. The queue still has its
    message, and an open handle of the queue can still be used to read.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue()
    used = sut.has("receive") and sut.has("send")
    handle = None
    if used:
        sut.send(sut.direct_name(name), label="kept")
        handle = sut.control.call("open_queue", queue=name, access="peek")["handle"]
    sut.change_environment(directory=False)
    judge(
        "MQDMPR-3.1.7.1.4-16",
        expected=[Outcome.REFUSED] * 3,
        observed=[sut.attempt("delete_queue", name=name) for _ in range(3)],
        case="deletions of the queue",
    )
    if used:
        judge(
            "MQDMPR-3.1.7.1.4-16",
            expected=facts(queue=in_queue("kept"), peek_with_handle=Outcome.DONE),
            observed={
                "queue": sut.labels(name),
                "peek_with_handle": sut.attempt("peek_message", handle=handle, timeout_ms=0),
            },
            case="queue after the refused deletion",
        )
        sut.attempt("close_queue", handle=handle)
    sut.change_environment(directory=True)


@needs("queue_control", "directory", "environment", "inspect", "restart")
@covers("MQDMPR-3.1.7.1.4-16")
def test_deletion_without_domain_returns_error(peer, sut, judge):
    """If the SUT was started without its domain, it refuses to delete a public queue."""
    name = Enterprise(peer, sut).create_queue()
    sut.change_environment(domain=False)
    sut.restart()
    answer = PendingRequest(peer, "delete_queue", name=name).await_outcome()
    judge("MQDMPR-3.1.7.1.4-16", expected=Outcome.REFUSED, observed=answer, case="deletion of the queue")
    sut.change_environment(domain=True)
    sut.restart()
    sut.delete_queue(name)
