"""The timers with which a SUT in directory mode updates its data from the directory (MS-MQSO 6.4.1)."""

from __future__ import annotations

from typing import Any

from suites.mqqb.steps.pinging import read_data_model_element

_DIRECTORY_TIMERS = ("DirectorySitesUpdate", "DirectorySiteGatesUpdate")


def list_running_directory_timers(queue_manager: dict[str, Any]) -> list[str]:
    """Return the names of those directory timers that are running in the data model of a queue manager."""
    timers = read_data_model_element(queue_manager, "timers")
    return [name for name in _DIRECTORY_TIMERS if read_data_model_element(timers, name) is not None]
