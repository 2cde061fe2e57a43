"""MS-MQSO 6.6.2: a start in the domain of the last start."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

LABEL_SET_BY_ADMINISTRATOR = "of the administrator"


@needs("directory", "environment", "inspect", "restart", "queue_control")
@covers("MQSO-6.6.2-01", "MQSO-6.6.2-D01")
def test_restart_in_same_domain_keeps_changes_of_administrator(peer, sut, judge):
    """An administrator changes the quota in the SUT's directory object, and the label in the object of a public queue
    of the SUT. Two restarts of the SUT change neither object.
    """
    enterprise = Enterprise(peer, sut)
    public = enterprise.create_queue(label="of the application")
    quota_kb = enterprise.read_directory_object().get("quota_kb")
    if quota_kb is None:
        raise ConformanceFailure("the directory does not show the quota of the SUT")
    enterprise.change_directory_object_of_queue(quota_kb=quota_kb - 1)
    enterprise.change_directory_object_of_queue(public, label=LABEL_SET_BY_ADMINISTRATOR)
    before = [enterprise.read_directory_object(), enterprise.read_directory_object(public)]
    for number in (1, 2):
        sut.restart()
        enterprise.await_directory_online()
        after = [enterprise.read_directory_object(), enterprise.read_directory_object(public)]
        case = f"objects of the SUT and of its public queue after restart {number}"
        judge.all(expected=before, observed=after, case=case)
    enterprise.change_directory_object_of_queue(quota_kb=quota_kb)
    sut.delete_queue(public)
