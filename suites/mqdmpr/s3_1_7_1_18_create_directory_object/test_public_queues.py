"""MS-MQDMPR 3.1.7.1.18 Create Directory Object: the object of a new public queue."""

from __future__ import annotations

import pytest

from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

CREATED_QUEUE_PROPERTIES = {"label": "created", "quota_kb": 77, "journaling": True, "base_priority": 3}
DIRECTORY_READ_PAUSE_MS = 1_000
"""A time in ms in which a queue manager can notice a change of the directory."""


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.18-02", "MQDMPR-3.1.7.1.18-D02", "MQDMPR-3.1.7.1.18-D04")
def test_created_public_queue_has_directory_object(peer, sut, judge):
    """The creation of a public queue succeeds. The directory contains an object with the queue's properties, and the
    public format name contains the object's GUID. The object of a transactional queue is transactional.
    """
    enterprise = Enterprise(peer, sut)
    name, other_name = enterprise.make_new_path_name(), enterprise.make_new_path_name()
    peer.call_at_end_of_test(lambda: sut.attempt("delete_queue", name=other_name))
    outcome = PendingRequest(peer, "create_queue", name=other_name).await_outcome()
    judge("MQDMPR-3.1.7.1.18-D02", expected=Outcome.DONE, observed=outcome, case="creation of the queue")
    sut.create_queue(name, **CREATED_QUEUE_PROPERTIES)
    directory_object = enterprise.read_directory_object(name)
    observed = {key: directory_object.get(key) for key in CREATED_QUEUE_PROPERTIES}
    judge(
        "MQDMPR-3.1.7.1.18-02",
        "MQDMPR-3.1.7.1.18-D02",
        expected=CREATED_QUEUE_PROPERTIES,
        observed=observed,
        case="directory object",
    )
    format_name = sut.format_names(name).get("public", "").lower()
    public_name = f"public={directory_object.get('identifier', 'the GUID of its object')}".lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=public_name, observed=format_name, case="format name")
    transactional = enterprise.create_queue(transactional=True)
    object_of_transactional = enterprise.read_directory_object(transactional)
    judge(
        "MQDMPR-3.1.7.1.18-02",
        expected=[False, True],
        observed=[one.get("transactional") for one in (directory_object, object_of_transactional)],
        case="objects of a nontransactional and of a transactional queue are transactional",
    )
    public_name = f"public={object_of_transactional.get('identifier', 'the GUID of its object')}".lower()
    format_name = sut.format_names(transactional).get("public", "").lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=public_name, observed=format_name, case="format name of a later queue")


def add_object_of_other_computer(enterprise, judge, name):
    """As an administrator, create a directory object with the path name of a new public queue, and return it. If the
    control channel cannot create the object, end the check and return None.
    """
    try:
        return enterprise.change_directory_object_of_queue(name, present=True, label="of another queue")
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue's object in the directory: {refused}")
        return None


def is_queue_listed(sut, name):
    """Return whether the SUT lists a queue."""
    return name in [queue["name"] for queue in sut.control.call("list")["queues"]]


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.18-D04")
def test_public_queue_is_not_created_beside_existing_object(peer, sut, judge):
    """The directory already contains an object with the path name of a new public queue. The SUT refuses to create the
    queue, at once and again after it has had time to read the object. It does not list the queue, and the object is
    unchanged.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.make_new_path_name()
    found = add_object_of_other_computer(enterprise, judge, name)
    if found is None:
        return
    answers = [sut.attempt("create_queue", name=name)]
    listed = [is_queue_listed(sut, name)]
    peer.pass_time(DIRECTORY_READ_PAUSE_MS)
    answers.append(sut.attempt("create_queue", name=name))
    listed.append(is_queue_listed(sut, name))
    left = enterprise.read_directory_object(name)
    if any(listed):
        sut.attempt("delete_queue", name=name)
    else:
        enterprise.change_directory_object_of_queue(name, present=False)
    judge(
        "MQDMPR-3.1.7.1.18-D04",
        expected=facts(
            object_exists=True,
            creations=[Outcome.REFUSED] * 2,
            queue_is_listed=[False] * 2,
            object_is_unchanged=holds("the directory object is unchanged"),
        ),
        observed={
            "object_exists": bool(found),
            "creations": answers,
            "queue_is_listed": listed,
            "object_is_unchanged": left == found,
        },
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-02")
@pytest.mark.parametrize("cause", ["directory unavailable", "existing object"])
def test_failed_creation_of_public_queue_is_notified(peer, sut, judge, cause):
    """The creation of a public queue fails because the directory is unavailable, or because the directory already
    contains an object with the queue's path name. The SUT nevertheless raises the change notification about the queue,
    because the notification precedes the access to the directory.
    """
    enterprise = Enterprise(peer, sut)
    notified = enterprise.create_queue()
    if ("QueueCreation", notified) not in enterprise.list_change_notifications():
        reason = "the SUT raises no change notification about a created public queue"
        judge.mark_not_exercised("MQDMPR-3.1.7.1.18-02", reason=reason)
        return
    name = enterprise.make_new_path_name()
    if cause == "directory unavailable":
        sut.change_environment(directory=False)
    elif add_object_of_other_computer(enterprise, judge, name) is None:
        return
    answer = sut.attempt("create_queue", name=name)
    operations = [operation for operation, queue in enterprise.list_change_notifications() if queue == name]
    if cause == "directory unavailable":
        sut.change_environment(directory=True)
        enterprise.await_directory_online()
    elif answer == Outcome.REFUSED:
        enterprise.change_directory_object_of_queue(name, present=False)
    if answer != Outcome.REFUSED:
        sut.attempt("delete_queue", name=name)
        judge.mark_not_exercised("MQDMPR-3.1.7.1.18-02", reason="the SUT created the queue")
        return
    judge(
        "MQDMPR-3.1.7.1.18-02",
        expected=["QueueCreation"],
        observed=operations,
        case=f"change notifications about a queue that was not created ({cause})",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-D03")
def test_public_queue_is_not_created_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses two requests to create a public queue. Neither the queue nor
    its directory object exists, and the SUT shows DirectoryOffline True. When the directory is available again,
    DirectoryOffline is False.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.make_new_path_name()
    sut.change_environment(directory=False)
    answers = [sut.attempt(sut.create_queue, name) for _ in range(2)]
    offline = enterprise.is_directory_offline()
    listed = is_queue_listed(sut, name)
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected=facts(
            creations=[Outcome.REFUSED] * 2, queue_is_listed=False, directory_object={}, DirectoryOffline=True
        ),
        observed={
            "creations": answers,
            "queue_is_listed": listed,
            "directory_object": enterprise.read_directory_object(name),
            "DirectoryOffline": offline,
        },
    )
    sut.change_environment(directory=True)
    is_online = enterprise.await_directory_online()
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected=holds("online again", otherwise="offline"),
        observed=is_online,
        case="state of the directory according to the SUT",
    )


@needs("directory", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-D01")
def test_creation_of_public_queue_is_notified_once(peer, sut, judge):
    """The SUT creates three public queues, one of them transactional. Each creation causes one change notification,
    with the operation QueueCreation.
    """
    enterprise = Enterprise(peer, sut)
    for properties in ({}, {"label": "later"}, {"transactional": True}):
        name = enterprise.create_queue(**properties)
        operations = [operation for operation, queue in enterprise.list_change_notifications() if queue == name]
        case = f"change notifications about the queue created with {', '.join(properties) or 'default properties'}"
        judge("MQDMPR-3.1.7.1.18-D01", expected=["QueueCreation"], observed=operations, case=case)
