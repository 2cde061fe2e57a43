"""MS-MQDMPR 3.1.7.1.24 Write Directory: the object of a changed public queue."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

CREATED_PROPERTIES = {"label": "old label", "quota_kb": 77, "journaling": True, "base_priority": 3}
CHANGED_PROPERTIES = {"label": "last label", "quota_kb": 0x8000_0001, "journaling": False, "base_priority": -4}


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.24-03", "MQDMPR-3.1.7.1.24-09")
def test_change_of_public_queue_is_in_directory(peer, sut, judge):
    """A change to a public queue's label succeeds; the queue's object in the directory has the new label, and its other
    attributes are unchanged. Then several attributes are changed together; the object has all new values.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue(**CREATED_PROPERTIES)
    outcome = PendingRequest(peer, "set_queue", name=name, label="new label").await_outcome()
    judge("MQDMPR-3.1.7.1.24-09", expected=Outcome.DONE, observed=outcome, case="change of the queue")
    directory_object = enterprise.read_object(name)
    observed = {key: directory_object.get(key) for key in CREATED_PROPERTIES}
    judge(
        "MQDMPR-3.1.7.1.24-03",
        expected={**CREATED_PROPERTIES, "label": "new label"},
        observed=observed,
        case="directory object",
    )
    PendingRequest(peer, "set_queue", name=name, **CHANGED_PROPERTIES).await_outcome()
    directory_object = enterprise.read_object(name)
    judge(
        "MQDMPR-3.1.7.1.24-03",
        expected=CHANGED_PROPERTIES,
        observed={key: directory_object.get(key) for key in CHANGED_PROPERTIES},
        case="directory object after the change of several attributes",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.24-05", "MQDMPR-3.1.7.1.24-06", "MQDMPR-3.1.7.1.24-07")
def test_public_queue_is_not_changed_without_directory(peer, sut, judge):
    """While the directory is unavailable, a change to a public queue's label is refused, the SUT and the directory
    keep the old label, and the SUT shows DirectoryOffline; when the directory is available again, DirectoryOffline is
    False.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue(label="old label")
    sut.change_environment(directory=False)
    answer = sut.attempt("set_queue", name=name, label="lost")
    judge(
        "MQDMPR-3.1.7.1.24-05",
        expected=facts(DirectoryOffline=True),
        observed={"DirectoryOffline": enterprise.is_offline()},
    )
    labels = {
        "label": sut.control.call("get_queue", name=name)["label"],
        "label_in_the_directory": enterprise.read_object(name).get("label"),
    }
    judge(
        "MQDMPR-3.1.7.1.24-07",
        expected=facts(change=Outcome.REFUSED, label="old label", label_in_the_directory="old label"),
        observed={"change": answer, **labels},
    )
    sut.change_environment(directory=True)
    is_online = enterprise.await_online()
    judge(
        "MQDMPR-3.1.7.1.24-06",
        expected=holds("online again", otherwise="offline"),
        observed=is_online,
        case="state of the directory according to the SUT",
    )


@needs("directory", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12")
def test_change_of_public_queue_is_notified_once(peer, sut, judge):
    """A change to a public queue causes one change notification, with the operation QueueUpdate."""
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue()
    earlier = len(enterprise.list_notifications())
    sut.control.call("set_queue", name=name, label="other")
    operations = [operation for operation, queue in enterprise.list_notifications()[earlier:] if queue == name]
    judge("MQDMPR-3.1.7.1.24-11", expected=holds("the SUT raises a change notification"), observed=bool(operations))
    if operations:
        judge("MQDMPR-3.1.7.1.24-12", expected=["QueueUpdate"], observed=operations, case="change notifications")
    else:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.24-12", reason="the SUT raised no change notification")
