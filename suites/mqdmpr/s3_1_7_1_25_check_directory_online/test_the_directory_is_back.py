"""MS-MQDMPR 3.1.7.1.25 Check Directory Online: changes that the SUT reads when the directory is available again."""

from __future__ import annotations

from functools import partial

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.applications import PendingRequest
from suites.mqdmpr.steps.directory import Enterprise

OLD_QUEUE_LABELS = ("first", "second", "third")
NEW_QUOTAS_KB_BY_OUTAGE = ((98, 54_321), (99, 54_320))
"""For each outage: the new quotas of the queues and of the SUT, in KB."""
OLD_QUOTA_KB = 50_000
QUEUE_LABEL_UPDATE_RULES = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-15", "MQDMPR-3.1.7.1.25-18")
DIRECTORY_RECOVERY_RULES = ("MQDMPR-3.1.7.1.25-03", "MQDMPR-3.1.7.1.25-06", "MQDMPR-3.1.7.1.25-20")


@needs("directory", "environment", "set_timers", "queue_control", "configure")
@covers("MQDMPR-3.1.7.1.25-10", *QUEUE_LABEL_UPDATE_RULES, *DIRECTORY_RECOVERY_RULES)
def test_offline_changes_are_read_when_directory_is_back(peer, sut, judge):
    """In each of two outages, the labels and quotas of three public queues, one of them transactional, and the quota of
    the SUT change in the directory. When the directory is available again, the SUT has the new values.
    """
    enterprise = Enterprise(peer, sut)
    sut.configure(quota_kb=OLD_QUOTA_KB)
    published = enterprise.read_directory_object()["quota_kb"]
    queues = {
        label: enterprise.create_queue(label=label, transactional=label == "second") for label in OLD_QUEUE_LABELS
    }

    def read_queue_labels():
        return {label: sut.control.call("get_queue", name=name)["label"] for label, name in queues.items()}

    def do_queues_have_labels(expected):
        return read_queue_labels() == expected

    try:
        for outage, (queue_quota_kb, own_quota_kb) in enumerate(NEW_QUOTAS_KB_BY_OUTAGE, start=1):
            changed_labels = {label: f"{label}, outage {outage}" for label in queues}
            enterprise.go_offline()
            enterprise.change_directory_object_of_queue(quota_kb=own_quota_kb)
            for label, name in queues.items():
                enterprise.change_directory_object_of_queue(name, label=changed_labels[label], quota_kb=queue_quota_kb)
            enterprise.await_expiry_of_online_timer()
            labels_before = read_queue_labels()
            sut.change_environment(directory=True)
            enterprise.wait_for_condition_during_online_timers(partial(do_queues_have_labels, changed_labels))
            case = f"quota of the SUT after outage {outage}"
            found = sut.control.call("configure")["quota_kb"]
            judge("MQDMPR-3.1.7.1.25-10", expected=own_quota_kb, observed=found, case=case)
            quotas = [sut.control.call("get_queue", name=name)["quota_kb"] for name in queues.values()]
            case = f"quotas of the queues after outage {outage}"
            judge("MQDMPR-3.1.7.1.25-18", expected=[queue_quota_kb] * len(queues), observed=quotas, case=case)
            labels = read_queue_labels()
            case = f"labels of the queues after outage {outage}"
            judge(*QUEUE_LABEL_UPDATE_RULES, expected=changed_labels, observed=labels, case=case)
            judge(
                *DIRECTORY_RECOVERY_RULES,
                expected=holds("the SUT reads the labels again", otherwise="the SUT does not read the labels again"),
                observed=labels != labels_before,
                case=f"outage {outage}",
            )
    finally:
        enterprise.change_directory_object_of_queue(quota_kb=published)


def open_queue_for_reading(peer, sut, queue):
    """Open the queue to receive messages."""
    sut.control.call("open_queue", queue=queue, access="receive")


def open_queue_to_peek(peer, sut, queue):
    """Open the queue to peek at messages, with a cursor."""
    handle = sut.control.call("open_queue", queue=queue, access="peek")["handle"]
    sut.control.call("open_cursor", handle=handle)


def begin_waiting_receive(peer, sut, queue):
    """Let a receive wait for a message of the queue."""
    request = PendingRequest(peer, "receive", queue=queue, timeout_ms=None)
    peer.call_at_end_of_test(lambda: sut.attempt(lambda: sut.control.call("cancel", request=request.number)))


def store_message_in_queue(peer, sut, queue):
    """Put a message into the queue."""
    sut.send_here(queue, ["stored"])


@needs("directory", "environment", "set_timers", "queue_control", "receive")
@covers("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-15")
@pytest.mark.parametrize(
    "use",
    [
        open_queue_for_reading,
        open_queue_to_peek,
        begin_waiting_receive,
        pytest.param(store_message_in_queue, marks=needs("send")),
    ],
)
def test_object_of_public_queue_in_use_is_read_again(peer, sut, judge, use):
    """A public queue is open, has a waiting receive or contains a message, and a second public queue is not in use. The
    labels of both queues change in the directory during an outage. When the directory is available again, the SUT has
    the new labels.
    """
    enterprise = Enterprise(peer, sut)
    queues = {word: enterprise.create_queue(label="old") for word in ("queue in use", "other queue")}
    use(peer, sut, queues["queue in use"])
    enterprise.go_offline()
    for name in queues.values():
        enterprise.change_directory_object_of_queue(name, label="new")
    sut.change_environment(directory=True)

    def read_queue_labels():
        return {word: sut.control.call("get_queue", name=name)["label"] for word, name in queues.items()}

    enterprise.wait_for_condition_during_online_timers(lambda: set(read_queue_labels().values()) == {"new"})
    judge(
        "MQDMPR-3.1.7.1.25-12",
        "MQDMPR-3.1.7.1.25-15",
        expected=dict.fromkeys(queues, "new"),
        observed=read_queue_labels(),
        case="labels of the queues",
    )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.25-03", "MQDMPR-3.1.7.1.25-06", "MQDMPR-3.1.7.1.25-11", "MQDMPR-3.1.7.1.25-20")
def test_directory_offline_until_directory_is_back(peer, sut, judge):
    """In each of two outages, DirectoryOffline is still True when the timer has expired several times while the
    directory is unavailable, and is False when the directory is available again. During the second outage, the object
    of the SUT's public queue is deleted.
    """
    enterprise = Enterprise(peer, sut)
    queue = enterprise.create_queue()
    for outage, expiries in enumerate((3, 1), start=1):
        enterprise.go_offline()
        for _ in range(expiries):
            enterprise.await_expiry_of_online_timer()
        without = enterprise.is_directory_offline()
        if outage == 2:
            sut.attempt(enterprise.change_directory_object_of_queue, queue, present=False)
        sut.change_environment(directory=True)
        judge.all(
            expected={"SUT is offline without the directory": True, "SUT is online with the directory": True},
            observed={
                "SUT is offline without the directory": without,
                "SUT is online with the directory": enterprise.await_directory_online(),
            },
            case=f"outage {outage}",
        )


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.25-06")
def test_directory_offline_until_own_object_is_back(peer, sut, judge):
    """During an outage, the directory object of the SUT's computer gets another Identifier. DirectoryOffline stays True
    when the directory is available again, and is False when the object has the SUT's Identifier again.
    """
    enterprise = Enterprise(peer, sut)
    enterprise.go_offline()
    sut.change_environment(registration=False)
    sut.change_environment(directory=True)
    enterprise.await_expiry_of_online_timer()
    offline = enterprise.is_directory_offline()
    sut.change_environment(registration=True)
    judge(
        "MQDMPR-3.1.7.1.25-06",
        expected={"SUT is offline without its object": True, "SUT is online with its object": True},
        observed={
            "SUT is offline without its object": offline,
            "SUT is online with its object": enterprise.await_directory_online(),
        },
        case="object of the SUT's computer",
    )
