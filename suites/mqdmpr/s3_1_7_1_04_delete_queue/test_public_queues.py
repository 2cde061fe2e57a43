"""MS-MQDMPR 3.1.7.1.4 Delete Queue: public queues and their directory objects."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise


@needs("queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.4-13", "MQDMPR-3.1.7.1.4-14")
def test_deleted_public_queue_leaves_directory_and_others_stay(peer, sut, judge):
    """Of three public queues the last is deleted: it is neither listed nor in the directory, and the objects of the
    other two are unchanged.
    """
    enterprise = Enterprise(peer, sut)
    *others, deleted = (enterprise.create_queue(label="a public queue") for _ in range(3))
    answer = PendingRequest(peer, "delete_queue", name=deleted).await_outcome()
    listed = [queue["name"].lower() for queue in sut.control.call("list")["queues"]]
    judge(
        "MQDMPR-3.1.7.1.4-13",
        expected=facts(deletion=Outcome.DONE, queue_is_listed=False, directory_object={}),
        observed={
            "deletion": answer,
            "queue_is_listed": deleted.lower() in listed,
            "directory_object": enterprise.read_object(deleted),
        },
    )
    labels = [enterprise.read_object(name).get("label") for name in (deleted, *others)]
    judge(
        "MQDMPR-3.1.7.1.4-14",
        expected=[None, "a public queue", "a public queue"],
        observed=labels,
        case="labels in the directory of the deleted queue and of the two other queues",
    )


@needs("queue_control", "directory", "environment")
@covers("MQDMPR-3.1.7.1.4-16")
def test_deletion_without_directory_returns_error(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses to delete a public queue."""
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue()
    sut.change_environment(directory=False)
    judge(
        "MQDMPR-3.1.7.1.4-16",
        expected=Outcome.REFUSED,
        observed=sut.attempt("delete_queue", name=name),
        case="deletion of the queue",
    )
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
