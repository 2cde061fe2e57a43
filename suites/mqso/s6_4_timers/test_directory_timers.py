"""MS-MQSO 6.4.1 Directory Service Synchronization Timers."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import element

TIMERS = ("DirectorySitesUpdate", "DirectorySiteGatesUpdate")


@needs("inspect")
@covers("MQSO-6.4.1-D01")
def test_without_a_directory_its_timers_do_not_run(sut, judge):
    """A queue manager in workgroup mode runs no timer of the directory."""
    shown = sut.inspect_queue_manager()
    if element(shown, "DirectoryIntegrated"):
        judge.mark_not_exercised("MQSO-6.4.1-D01", reason="the SUT is in directory mode")
        return
    timers = element(shown, "timers")
    running = [name for name in TIMERS if element(timers, name) is not None]
    judge("MQSO-6.4.1-D01", expected=none("timer of the directory that runs"), observed=running)
