"""MS-MQSO 5.5.6: a directory in which the SUT's computer has a different identifier."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.pinging import read_data_model_element


@needs("directory", "environment", "inspect", "restart", "queue_control")
@covers("MQSO-5.5.6-01", "MQSO-5.5.6-02", "MQSO-5.5.6-03")
def test_foreign_directory_object_sets_directory_offline(peer, sut, judge):
    """While the directory object of its computer has a different Identifier, the SUT shows DirectoryOffline, even after
    its next query. When the object has the SUT's Identifier again, the SUT is online.
    """
    enterprise = Enterprise(peer, sut)
    sut.change_environment(registration=False)
    sut.restart()
    for when in ("after the start", "after the next query"):
        offline = bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryOffline"))
        judge.all(expected=True, observed=offline, case=f"DirectoryOffline {when}")
        enterprise.await_expiry_of_online_timer()
    sut.change_environment(registration=True)
    enterprise.await_directory_online()
    offline = bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryOffline"))
    judge("MQSO-5.5.6-03", expected=False, observed=offline, case="DirectoryOffline")
    sut.restart()
