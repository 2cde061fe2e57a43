"""MS-MQDMPR 3.1.7.1.24 Write Directory: the object of a changed public queue."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

CREATED_PROPERTIES = {"label": "old label", "quota_kb": 77, "journaling": True, "base_priority": 3}
FIRST_QUEUE_TYPE, SECOND_QUEUE_TYPE = "6d71636f-6e66-4f72-8d00-00000000007e", "6d71636f-6e66-4f72-8d00-00000000007f"
NON_DEFAULT_PROPERTIES = {"authenticated": True, "privacy": "body", "journal_quota_kb": 4_321}
COMPARED_QUEUE_PROPERTIES = (*CREATED_PROPERTIES, *NON_DEFAULT_PROPERTIES, "type", "transactional")
CHANGED_PROPERTIES = {"label": "last label", "quota_kb": 0x8000_0001, "journaling": False, "base_priority": -4}
PROPERTIES_RESET_TO_DEFAULTS = {"label": "", "quota_kb": 0, "base_priority": 0}

NOTIFIED_PROPERTY_CHANGES: tuple[dict[str, Any], ...] = (
    {"label": "other"},
    {"quota_kb": 88},
    {"base_priority": -2, "journaling": True},
    {"label": "last"},
)
"""Successive changes of a public queue."""


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.24-03", "MQDMPR-3.1.7.1.24-09")
def test_change_of_public_queue_is_in_directory(peer, sut, judge):
    """A change to a public queue's label succeeds. The queue's directory object has the new label, and its other
    attributes are unchanged. Then several attributes are changed together, and later set to an empty label and zero
    values. Each time, the object has all new values.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue(**CREATED_PROPERTIES)
    outcome = PendingRequest(peer, "set_queue", name=name, label="new label").await_outcome()
    judge("MQDMPR-3.1.7.1.24-09", expected=Outcome.DONE, observed=outcome, case="change of the queue")
    directory_object = enterprise.read_directory_object(name)
    observed = {key: directory_object.get(key) for key in CREATED_PROPERTIES}
    judge(
        "MQDMPR-3.1.7.1.24-03",
        expected={**CREATED_PROPERTIES, "label": "new label"},
        observed=observed,
        case="directory object",
    )
    for changes in (CHANGED_PROPERTIES, PROPERTIES_RESET_TO_DEFAULTS):
        PendingRequest(peer, "set_queue", name=name, **changes).await_outcome()
        directory_object = enterprise.read_directory_object(name)
        judge(
            "MQDMPR-3.1.7.1.24-03",
            expected=changes,
            observed={key: directory_object.get(key) for key in changes},
            case="directory object after the change of several attributes",
        )


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.24-09")
def test_change_of_queue_without_directory_object_is_refused(peer, sut, judge):
    """An administrator deletes the directory object of one of the SUT's public queues. The SUT refuses two changes of
    this queue's label, because the directory refuses the writes. It still changes a transactional public queue.
    """
    enterprise = Enterprise(peer, sut)
    name, other = enterprise.create_queue(label="old"), enterprise.create_queue(label="old", transactional=True)
    try:
        enterprise.change_directory_object_of_queue(name, present=False)
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot delete a queue's object in the directory: {refused}")
        return
    outcomes = [
        PendingRequest(peer, "set_queue", name=one, label=label).await_outcome()
        for one, label in ((name, "new"), (name, "newer"), (other, "new"))
    ]
    judge(
        "MQDMPR-3.1.7.1.24-09",
        expected=facts(queue_without_an_object=[Outcome.REFUSED] * 2, other_queue=Outcome.DONE),
        observed={"queue_without_an_object": outcomes[:2], "other_queue": outcomes[2]},
        case="changes of the labels",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.24-05", "MQDMPR-3.1.7.1.24-06", "MQDMPR-3.1.7.1.24-07")
def test_public_queue_is_not_changed_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses changes to a public queue's label and to several of its
    properties. The SUT and the directory keep the old properties, and the SUT shows DirectoryOffline. When the
    directory is available again, DirectoryOffline is False.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue(**CREATED_PROPERTIES)
    sut.change_environment(directory=False)
    answer = sut.attempt("set_queue", name=name, label="lost")
    answer_to_others = sut.attempt("set_queue", name=name, **CHANGED_PROPERTIES)
    judge(
        "MQDMPR-3.1.7.1.24-05",
        expected=facts(DirectoryOffline=True),
        observed={"DirectoryOffline": enterprise.is_directory_offline()},
    )
    shown, directory_object = sut.control.call("get_queue", name=name), enterprise.read_directory_object(name)
    names = [key for key in CREATED_PROPERTIES if key in shown]
    expected = {key: CREATED_PROPERTIES[key] for key in names}
    judge(
        "MQDMPR-3.1.7.1.24-07",
        expected=facts(changes=[Outcome.REFUSED] * 2, queue=expected, directory_object=expected),
        observed={
            "changes": [answer, answer_to_others],
            "queue": {key: shown[key] for key in names},
            "directory_object": {key: directory_object.get(key) for key in names},
        },
    )
    sut.change_environment(directory=True)
    is_online = enterprise.await_directory_online()
    judge(
        "MQDMPR-3.1.7.1.24-06",
        expected=holds("online again", otherwise="offline"),
        observed=is_online,
        case="state of the directory according to the SUT",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.24-05", "MQDMPR-3.1.7.1.24-06")
def test_each_outage_is_noticed_by_a_write(peer, sut, judge):
    """In each of three outages, the SUT's first access to the directory is a refused change: of a public queue, then of
    a transactional public queue, and then of the first queue again. The SUT sets DirectoryOffline each time, and clears
    it when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    names = [enterprise.create_queue(), enterprise.create_queue(transactional=True)]
    for outage, name in enumerate((names[0], names[1], names[0]), start=1):
        sut.change_environment(directory=False)
        answer = sut.attempt("set_queue", name=name, label=f"lost in outage {outage}")
        offline = enterprise.is_directory_offline()
        judge(
            "MQDMPR-3.1.7.1.24-05",
            expected=facts(change=Outcome.REFUSED, DirectoryOffline=True),
            observed={"change": answer, "DirectoryOffline": offline},
            case=f"outage {outage}",
        )
        sut.change_environment(directory=True)
        online = enterprise.await_directory_online()
        judge(
            "MQDMPR-3.1.7.1.24-06",
            expected=holds("online again", otherwise="offline"),
            observed=bool(online and offline),
            case=f"state of the directory according to the SUT after outage {outage}",
        )


@needs("directory", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12")
def test_change_of_public_queue_is_notified_once(peer, sut, judge):
    """Two public queues are changed alternately, with different properties and several times. Each change causes one
    change notification for its queue, with the operation QueueUpdate.
    """
    enterprise = Enterprise(peer, sut)
    queues = {
        "first queue": enterprise.create_queue(),
        "transactional queue": enterprise.create_queue(transactional=True),
    }
    for change in NOTIFIED_PROPERTY_CHANGES:
        for queue, name in queues.items():
            earlier = len(enterprise.list_change_notifications())
            sut.control.call("set_queue", name=name, **change)
            made = [one for one in enterprise.list_change_notifications()[earlier:] if one[1] in queues.values()]
            operations = [operation for operation, one in made if one == name]
            raised = holds("the SUT raises a change notification")
            case = f"change of {', '.join(change)} of the {queue}"
            judge("MQDMPR-3.1.7.1.24-11", expected=raised, observed=bool(operations), case=case)
            if made:
                judge(
                    "MQDMPR-3.1.7.1.24-12",
                    expected=[("QueueUpdate", name)],
                    observed=made,
                    case="operations and queues of the change notifications",
                )
            else:
                judge.mark_not_exercised("MQDMPR-3.1.7.1.24-12", reason="the SUT raised no change notification")


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.18-D02", "MQDMPR-3.1.7.1.24-03")
def test_directory_returns_all_properties_of_public_queues(peer, sut, judge):
    """Two public queues are created with different properties, and the second one is changed. Then the SUT loses its
    directory and reads it again. Both queues still have all their properties, because the directory has them too.
    """
    enterprise = Enterprise(peer, sut)
    created = enterprise.create_queue(
        transactional=True, type=FIRST_QUEUE_TYPE, **NON_DEFAULT_PROPERTIES, **CREATED_PROPERTIES
    )
    changed = enterprise.create_queue(**CREATED_PROPERTIES)
    sut.control.call("set_queue", name=changed, type=SECOND_QUEUE_TYPE, **NON_DEFAULT_PROPERTIES, **CHANGED_PROPERTIES)
    names = {"created": created, "changed": changed}
    directory_objects = {queue: enterprise.read_directory_object(name) for queue, name in names.items()}
    for rule, queue, transactional, properties in (
        ("MQDMPR-3.1.7.1.18-D02", "created", True, CREATED_PROPERTIES),
        ("MQDMPR-3.1.7.1.24-03", "changed", False, CHANGED_PROPERTIES),
    ):
        expected = {**properties, "transactional": transactional}
        found = {key: directory_objects[queue].get(key) for key in expected}
        judge(rule, expected=expected, observed=found, case=f"directory object of the {queue} queue")

    def read_queue_properties():
        shown = {queue: sut.control.call("get_queue", name=name) for queue, name in names.items()}
        return {
            queue: {key: one[key] for key in COMPARED_QUEUE_PROPERTIES if key in one} for queue, one in shown.items()
        }

    before = read_queue_properties()
    enterprise.go_offline()
    sut.change_environment(directory=True)
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT did not come online again after the outage of its directory")
    after = read_queue_properties()
    case = "properties of the queue after an outage of the directory"
    judge("MQDMPR-3.1.7.1.18-D02", expected=before["created"], observed=after["created"], case=case)
    judge("MQDMPR-3.1.7.1.24-03", expected=before["changed"], observed=after["changed"], case=case)
