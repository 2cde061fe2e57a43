"""MS-MQSO 6.4.1 Directory Service Synchronization Timers: a SUT in workgroup mode."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_element

TIMER_NAMES = ("DirectorySitesUpdate", "DirectorySiteGatesUpdate")


@needs("inspect")
@covers("MQSO-6.4.1-D01")
def test_workgroup_mode_runs_no_directory_timer(sut, judge):
    """A SUT in workgroup mode runs neither the Directory Sites Update Timer nor the Directory Site Gates Update
    Timer.
    """
    queue_manager = sut.inspect_queue_manager()
    if read_element(queue_manager, "DirectoryIntegrated"):
        judge.mark_not_exercised("MQSO-6.4.1-D01", reason="the SUT is in directory mode")
        return
    timers = read_element(queue_manager, "timers")
    running = [name for name in TIMER_NAMES if read_element(timers, name) is not None]
    judge("MQSO-6.4.1-D01", expected=none("running directory timer"), observed=running)
