"""MS-MQDMPR 3.1.7.1.25 Check Directory Online: changes that the SUT reads when the directory is available again."""

from __future__ import annotations

from functools import partial

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

OLD_LABELS = ("first", "second", "third")
NEW_QUOTAS_BY_OUTAGE = ((98, 54_321), (99, 54_320))
"""For each outage: the new quotas of the queues and of the SUT, in KB."""
OLD_QUOTA_KB = 50_000
LABEL_RULES = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-15", "MQDMPR-3.1.7.1.25-18")
RECOVERY_RULES = ("MQDMPR-3.1.7.1.25-03", "MQDMPR-3.1.7.1.25-06", "MQDMPR-3.1.7.1.25-20")


@needs("directory", "environment", "set_timers", "queue_control", "configure")
@covers("MQDMPR-3.1.7.1.25-10", *LABEL_RULES, *RECOVERY_RULES)
def test_offline_changes_are_read_when_directory_is_back(peer, sut, judge):
    """In each of two outages, the labels and quotas of three public queues, one of them transactional, and the quota of
    the SUT, change in the directory; the SUT has the new values when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    sut.configure(quota_kb=OLD_QUOTA_KB)
    published = enterprise.read_object()["quota_kb"]
    queues = {label: enterprise.create_queue(label=label, transactional=label == "second") for label in OLD_LABELS}

    def read_labels():
        return {label: sut.control.call("get_queue", name=name)["label"] for label, name in queues.items()}

    def has_labels(expected):
        return read_labels() == expected

    try:
        for outage, (queue_quota_kb, own_quota_kb) in enumerate(NEW_QUOTAS_BY_OUTAGE, start=1):
            changed_labels = {label: f"{label}, outage {outage}" for label in queues}
            enterprise.go_offline()
            enterprise.change_object(quota_kb=own_quota_kb)
            for label, name in queues.items():
                enterprise.change_object(name, label=changed_labels[label], quota_kb=queue_quota_kb)
            enterprise.await_timer()
            labels_before = read_labels()
            sut.change_environment(directory=True)
            enterprise.wait_until(partial(has_labels, changed_labels))
            case = f"quota of the SUT after outage {outage}"
            found = sut.control.call("configure")["quota_kb"]
            judge("MQDMPR-3.1.7.1.25-10", expected=own_quota_kb, observed=found, case=case)
            quotas = [sut.control.call("get_queue", name=name)["quota_kb"] for name in queues.values()]
            case = f"quotas of the queues after outage {outage}"
            judge("MQDMPR-3.1.7.1.25-18", expected=[queue_quota_kb] * len(queues), observed=quotas, case=case)
            labels = read_labels()
            case = f"labels of the queues after outage {outage}"
            judge(*LABEL_RULES, expected=changed_labels, observed=labels, case=case)
            judge(
                *RECOVERY_RULES,
                expected=holds("the SUT reads the labels again", otherwise="the SUT does not read the labels again"),
                observed=labels != labels_before,
                case=f"outage {outage}",
            )
    finally:
        enterprise.change_object(quota_kb=published)


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.25-11", "MQDMPR-3.1.7.1.25-20")
def test_directory_offline_until_directory_is_back(peer, sut, judge):
    """In each of two outages, DirectoryOffline is still True when the timer has expired several times while the
    directory is unavailable, and is False when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    for outage, expiries in enumerate((3, 1), start=1):
        enterprise.go_offline()
        for _ in range(expiries):
            enterprise.await_timer()
        without = enterprise.is_offline()
        sut.change_environment(directory=True)
        judge.all(
            expected={"SUT is offline without the directory": True, "SUT is online with the directory": True},
            observed={
                "SUT is offline without the directory": without,
                "SUT is online with the directory": enterprise.await_online(),
            },
            case=f"outage {outage}",
        )
