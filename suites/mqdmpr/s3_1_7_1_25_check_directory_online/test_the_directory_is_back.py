"""MS-MQDMPR 3.1.7.1.25 Check Directory Online: changes that the SUT reads when the directory is available again."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

CHANGED_LABELS = {"first": "changed meanwhile", "second": "changed meanwhile as well"}
CHANGED_PROPERTIES = {"quota_kb": 98}
OLD_QUOTA_KB, CHANGED_QUOTA_KB = 50_000, 54_321
LABEL_RULES = ("MQDMPR-3.1.7.1.25-12", "MQDMPR-3.1.7.1.25-15", "MQDMPR-3.1.7.1.25-18")
RECOVERY_RULES = ("MQDMPR-3.1.7.1.25-03", "MQDMPR-3.1.7.1.25-06", "MQDMPR-3.1.7.1.25-20")


@needs("directory", "environment", "set_timers", "queue_control", "configure")
@covers("MQDMPR-3.1.7.1.25-10", *LABEL_RULES, *RECOVERY_RULES)
def test_offline_changes_are_read_when_directory_is_back(peer, sut, judge):
    """While the SUT is offline, the labels and quotas of two public queues, one of them transactional, and the quota of
    the SUT, change in the directory; the SUT has the new values when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    sut.configure(quota_kb=OLD_QUOTA_KB)
    published = enterprise.read_object()["quota_kb"]
    queues = {label: enterprise.create_queue(label=label, transactional=label == "second") for label in CHANGED_LABELS}

    def read_labels():
        return {label: sut.control.call("get_queue", name=name)["label"] for label, name in queues.items()}

    enterprise.go_offline()
    try:
        enterprise.change_object(quota_kb=CHANGED_QUOTA_KB)
        for label, name in queues.items():
            enterprise.change_object(name, label=CHANGED_LABELS[label], **CHANGED_PROPERTIES)
        enterprise.await_timer()
        labels_before = read_labels()
        sut.change_environment(directory=True)
        enterprise.wait_until(lambda: read_labels() == CHANGED_LABELS)
        quota_kb = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.7.1.25-10", expected={"quota_kb": CHANGED_QUOTA_KB}, observed={"quota_kb": quota_kb})
        properties = [sut.control.call("get_queue", name=name) for name in queues.values()]
        found = [{key: one[key] for key in CHANGED_PROPERTIES} for one in properties]
        case = "quotas of the queues"
        judge("MQDMPR-3.1.7.1.25-18", expected=[CHANGED_PROPERTIES] * len(queues), observed=found, case=case)
        judge(*LABEL_RULES, expected=CHANGED_LABELS, observed=read_labels(), case="labels of the queues")
        judge(
            *RECOVERY_RULES,
            expected=holds("the SUT reads the labels again", otherwise="the SUT does not read the labels again"),
            observed=read_labels() != labels_before,
        )
    finally:
        enterprise.change_object(quota_kb=published)


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers("MQDMPR-3.1.7.1.25-11", "MQDMPR-3.1.7.1.25-20")
def test_directory_offline_until_directory_is_back(peer, sut, judge):
    """DirectoryOffline is still True when the timer has expired but the directory is unavailable, and False when the
    directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    enterprise.go_offline()
    enterprise.await_timer()
    without = enterprise.is_offline()
    sut.change_environment(directory=True)
    judge.all(
        expected={"SUT is offline without the directory": True, "SUT is online with the directory": True},
        observed={
            "SUT is offline without the directory": without,
            "SUT is online with the directory": enterprise.await_online(),
        },
    )
