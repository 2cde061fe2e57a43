"""MS-MQDMPR 3.1.7.1.19 Delete Directory Object: the object of a deleted public queue."""

from __future__ import annotations

from harness.expectations import facts, holds
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise


@needs("directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.19-07", "MQDMPR-3.1.7.1.19-13")
def test_deleted_public_queue_has_no_directory_object(peer, sut, judge):
    """The SUT deletes a public queue. The directory then contains no object of this queue, but still contains the
    objects of the other public queues. Then the SUT deletes a transactional queue and a queue with a message, with the
    same result.
    """
    enterprise = Enterprise(peer, sut)
    first, name, last = (enterprise.create_queue(label=label) for label in ("first", "deleted", "last"))
    transactional, filled = enterprise.create_queue(transactional=True), enterprise.create_queue()
    if sut.has("send"):
        sut.send_here(filled, ["deleted with the queue"])
    for deleted in (name, transactional, filled):
        answer = sut.attempt(sut.delete_queue, deleted)
        judge("MQDMPR-3.1.7.1.19-13", expected=Outcome.DONE, observed=answer, case="deletion of the queue")
        judge(
            "MQDMPR-3.1.7.1.19-07",
            expected={},
            observed=enterprise.read_directory_object(deleted),
            case="directory object",
        )
    judge(
        "MQDMPR-3.1.7.1.19-07",
        expected=["first", "last"],
        observed=[enterprise.read_directory_object(one).get("label") for one in (first, last)],
        case="labels of the other objects",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers(
    "MQDMPR-3.1.7.1.19-03",
    "MQDMPR-3.1.7.1.19-04",
    "MQDMPR-3.1.7.1.19-09",
    "MQDMPR-3.1.7.1.19-10",
    "MQDMPR-3.1.7.1.19-11",
    "MQDMPR-3.1.7.1.19-13",
)
def test_public_queue_is_not_deleted_without_directory(peer, sut, judge):
    """While the directory is unavailable, the SUT refuses twice to delete a public queue, each time with a change
    notification. The queue, its message and its object remain, and the SUT shows DirectoryOffline. The second request
    does not restart the Directory Online Timer: when the directory is available again, DirectoryOffline becomes False
    as soon as the timer that the first request started has expired.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue(label="old label")
    stored = ["stays"] if sut.has("send") and sut.has("receive") else []
    for label in stored:
        sut.send_here(name, [label])
    earlier = len(enterprise.list_change_notifications())
    sut.change_environment(directory=False)
    answer = sut.attempt(sut.delete_queue, name)
    timer_ms = enterprise.get_remaining_online_timer_ms()
    peer.pass_time(timer_ms // 2)
    again = sut.attempt(sut.delete_queue, name)
    later_ms = enterprise.get_remaining_online_timer_ms()
    operations = [operation for operation, queue in enterprise.list_change_notifications()[earlier:] if queue == name]
    judge(
        "MQDMPR-3.1.7.1.19-03",
        "MQDMPR-3.1.7.1.19-04",
        expected=facts(deletions=[Outcome.REFUSED] * 2, notifications=["QueueDeletion"] * 2),
        observed={"deletions": [answer, again], "notifications": operations},
    )
    case = "deletions without the directory"
    judge("MQDMPR-3.1.7.1.19-13", expected=[Outcome.REFUSED] * 2, observed=[answer, again], case=case)
    judge(
        "MQDMPR-3.1.7.1.19-10",
        expected=holds("the timer that the first deletion started continues to run"),
        observed=0 < later_ms <= timer_ms - timer_ms // 2 or f"{later_ms} ms remain, after {timer_ms} ms",
    )
    judge(
        "MQDMPR-3.1.7.1.19-09",
        expected=facts(DirectoryOffline=True),
        observed={"DirectoryOffline": enterprise.is_directory_offline()},
    )
    is_listed = name in [queue["name"] for queue in sut.control.call("list")["queues"]]
    published = enterprise.read_directory_object(name).get("label")
    judge(
        "MQDMPR-3.1.7.1.19-11",
        expected=facts(
            deletion=Outcome.REFUSED, queue_is_listed=True, label_in_the_directory="old label", messages=stored
        ),
        observed={
            "deletion": answer,
            "queue_is_listed": is_listed,
            "label_in_the_directory": published,
            "messages": sut.labels(name) if stored and is_listed else [],
        },
    )
    sut.change_environment(directory=True)
    is_online = enterprise.await_directory_online()
    judge(
        "MQDMPR-3.1.7.1.19-10",
        expected=holds("online again", otherwise="offline"),
        observed=is_online,
        case="state of the directory according to the SUT",
    )


@needs("directory", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.19-03", "MQDMPR-3.1.7.1.19-04")
@varied("queue journaling", "queue quota", "queue privacy")
def test_deletion_of_public_queue_is_notified_once(peer, sut, judge):
    """The SUT deletes three public queues, one of them transactional, that contain messages. Each deletion causes one
    change notification with the name of the queue and the operation QueueDeletion.
    """
    enterprise = Enterprise(peer, sut)
    kinds = (False, True, False)
    names = [enterprise.create_queue(transactional=transactional) for transactional in kinds]
    for transactional, name in reversed([*zip(kinds, names, strict=True)]):
        if sut.has("send"):
            sut.send_here(name, ["deleted"], delivery="transactional" if transactional else "express")
        earlier = len(enterprise.list_change_notifications())
        sut.delete_queue(name)
        made = [one for one in enterprise.list_change_notifications()[earlier:] if one[1] in names]
        operations = [operation for operation, queue in made if queue == name]
        raised = holds("the SUT raises a change notification")
        case = "transactional queue" if transactional else "nontransactional queue"
        judge("MQDMPR-3.1.7.1.19-03", expected=raised, observed=bool(operations), case=case)
        if made:
            judge(
                "MQDMPR-3.1.7.1.19-04",
                expected=[("QueueDeletion", name)],
                observed=made,
                case="operations and queues of the change notifications",
            )
        else:
            judge.mark_not_exercised("MQDMPR-3.1.7.1.19-04", reason="the SUT raised no change notification")


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.19-09", "MQDMPR-3.1.7.1.19-10", "MQDMPR-3.1.7.1.19-13")
def test_each_outage_is_noticed_by_a_deletion(peer, sut, judge):
    """In each of three outages, the SUT's first access to the directory is a refused deletion: of a public queue, then
    of a transactional public queue, and then of the first queue again. The SUT sets DirectoryOffline each time, and
    clears it when the directory is available again. Then the SUT deletes both queues.
    """
    enterprise = Enterprise(peer, sut)
    names = [enterprise.create_queue(), enterprise.create_queue(transactional=True, label="labelled")]
    for outage, name in enumerate((names[0], names[1], names[0]), start=1):
        sut.change_environment(directory=False)
        answer = sut.attempt(sut.delete_queue, name)
        offline = enterprise.is_directory_offline()
        judge(
            "MQDMPR-3.1.7.1.19-09",
            expected=facts(deletion=Outcome.REFUSED, DirectoryOffline=True),
            observed={"deletion": answer, "DirectoryOffline": offline},
            case=f"outage {outage}",
        )
        sut.change_environment(directory=True)
        online = enterprise.await_directory_online()
        judge(
            "MQDMPR-3.1.7.1.19-10",
            expected=holds("online again", otherwise="offline"),
            observed=bool(online and offline),
            case=f"state of the directory according to the SUT after outage {outage}",
        )
    judge(
        "MQDMPR-3.1.7.1.19-13",
        expected=[Outcome.DONE] * 2,
        observed=[sut.attempt(sut.delete_queue, name) for name in names],
        case="deletions while the directory is available",
    )
