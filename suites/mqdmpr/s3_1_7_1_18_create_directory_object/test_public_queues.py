"""MS-MQDMPR 3.1.7.1.18 Create Directory Object: the object of a new public queue."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

CREATED_PROPERTIES = {"label": "created", "quota_kb": 77, "journaling": True, "base_priority": 3}


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.18-02", "MQDMPR-3.1.7.1.18-D02", "MQDMPR-3.1.7.1.18-D04")
def test_created_public_queue_has_directory_object(peer, sut, judge):
    """The creation of a public queue succeeds; the directory contains an object with the queue's properties, and the
    public format name contains the object's GUID.
    """
    enterprise = Enterprise(peer, sut)
    name, other_name = enterprise.new_path_name(), enterprise.new_path_name()
    peer.at_end(lambda: sut.attempt("delete_queue", name=other_name))
    outcome = PendingRequest(peer, "create_queue", name=other_name).await_outcome()
    judge("MQDMPR-3.1.7.1.18-D02", expected=Outcome.DONE, observed=outcome, case="creation of the queue")
    sut.create_queue(name, **CREATED_PROPERTIES)
    directory_object = enterprise.read_object(name)
    observed = {key: directory_object.get(key) for key in CREATED_PROPERTIES}
    judge(
        "MQDMPR-3.1.7.1.18-02",
        "MQDMPR-3.1.7.1.18-D02",
        expected=CREATED_PROPERTIES,
        observed=observed,
        case="directory object",
    )
    format_name = sut.format_names(name).get("public", "").lower()
    public_name = f"public={directory_object.get('identifier', 'the GUID of its object')}".lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=public_name, observed=format_name, case="format name")
    transactional = enterprise.create_queue(transactional=True)
    public_name = f"public={enterprise.read_object(transactional).get('identifier', 'the GUID of its object')}".lower()
    format_name = sut.format_names(transactional).get("public", "").lower()
    judge("MQDMPR-3.1.7.1.18-D04", expected=public_name, observed=format_name, case="format name of a later queue")


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.18-D04")
def test_public_queue_is_not_created_beside_existing_object(peer, sut, judge):
    """The directory already contains an object with the path name of a new public queue: the SUT refuses to create the
    queue, and does not list it.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.new_path_name()
    try:
        found = enterprise.change_object(name, present=True, label="of another queue")
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue's object in the directory: {refused}")
        return
    answer = sut.attempt("create_queue", name=name)
    is_listed = name in [queue["name"] for queue in sut.control.call("list")["queues"]]
    if is_listed:
        sut.attempt("delete_queue", name=name)
    else:
        enterprise.change_object(name, present=False)
    judge(
        "MQDMPR-3.1.7.1.18-D04",
        expected=facts(object_exists=True, creation=Outcome.REFUSED, queue_is_listed=False),
        observed={"object_exists": bool(found), "creation": answer, "queue_is_listed": is_listed},
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-D03")
def test_public_queue_is_not_created_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses two requests to create a public queue, neither the queue nor
    its directory object exists, and the SUT shows DirectoryOffline True; when the directory is available again,
    DirectoryOffline is False.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.new_path_name()
    sut.change_environment(directory=False)
    answers = [sut.attempt(sut.create_queue, name) for _ in range(2)]
    offline = enterprise.is_offline()
    is_listed = name in [queue["name"] for queue in sut.control.call("list")["queues"]]
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected=facts(
            creations=[Outcome.REFUSED] * 2, queue_is_listed=False, directory_object={}, DirectoryOffline=True
        ),
        observed={
            "creations": answers,
            "queue_is_listed": is_listed,
            "directory_object": enterprise.read_object(name),
            "DirectoryOffline": offline,
        },
    )
    sut.change_environment(directory=True)
    is_online = enterprise.await_online()
    judge(
        "MQDMPR-3.1.7.1.18-D03",
        expected=holds("online again", otherwise="offline"),
        observed=is_online,
        case="state of the directory according to the SUT",
    )


@needs("directory", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-D01")
def test_creation_of_public_queue_is_notified_once(peer, sut, judge):
    """The SUT creates three public queues, one of them transactional: each creation causes one change notification,
    with the operation QueueCreation.
    """
    enterprise = Enterprise(peer, sut)
    for properties in ({}, {"label": "later"}, {"transactional": True}):
        name = enterprise.create_queue(**properties)
        operations = [operation for operation, queue in enterprise.list_notifications() if queue == name]
        case = f"change notifications about the queue created with {', '.join(properties) or 'default properties'}"
        judge("MQDMPR-3.1.7.1.18-D01", expected=["QueueCreation"], observed=operations, case=case)
