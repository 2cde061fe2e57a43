"""MS-MQSO 6.4.1 Directory Service Synchronization Timers: a SUT in workgroup mode."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqso.steps.timers import list_running_directory_timers


@needs("inspect")
@covers("MQSO-6.4.1-D01")
def test_workgroup_mode_runs_no_directory_timer(sut, judge):
    """A SUT in workgroup mode runs neither the Directory Sites Update Timer nor the Directory Site Gates Update
    Timer.
    """
    queue_manager = sut.inspect_queue_manager()
    if read_data_model_element(queue_manager, "DirectoryIntegrated"):
        judge.mark_not_exercised("MQSO-6.4.1-D01", reason="the SUT is in directory mode")
        return
    running = list_running_directory_timers(queue_manager)
    judge("MQSO-6.4.1-D01", expected=none("running directory timer"), observed=running)
