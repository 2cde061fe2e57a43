"""MS-MQSO 5.5.5 Internal Storage Failure, with 5.5.6."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.pinging import element


@needs("directory", "environment", "inspect", "restart", "queue_control")
@covers("MQSO-5.5.6-01", "MQSO-5.5.6-02", "MQSO-5.5.6-03")
def test_a_directory_that_knows_the_machine_as_another_is_not_used(peer, sut, judge):
    """A queue manager is offline while the directory knows its machine by another Identifier, and online afterwards."""
    enterprise = Enterprise(peer, sut)
    sut.change_environment(registration=False)
    sut.restart()
    judge.all(
        expected=True, observed=bool(element(sut.inspect_queue_manager(), "DirectoryOffline")), case="DirectoryOffline"
    )
    sut.change_environment(registration=True)
    enterprise.await_online()
    offline = bool(element(sut.inspect_queue_manager(), "DirectoryOffline"))
    judge("MQSO-5.5.6-03", expected=False, observed=offline, case="DirectoryOffline")
    sut.restart()
