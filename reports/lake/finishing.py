"""Waits until the runs that a command is to ingest are finished. Java starts during this wait."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from pyspark.sql import SparkSession

from reports.lake import sources
from reports.lake.files import FileAccess
from reports.lake.ingest import StageReporter

POLL_INTERVAL_S = 1
"""The time in seconds between two checks of unfinished runs."""


def wait_until_finished(
    spark: SparkSession,
    arguments: Iterable[str],
    wait_s: float,
    stage: StageReporter = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until all runs that the arguments name are finished, but at most ``wait_s`` seconds, rounded up."""
    arguments, files = list(arguments), FileAccess(spark)
    for _ in range(math.ceil(wait_s / POLL_INTERVAL_S)):
        found = sources.find_sources(files, arguments)
        missing = found.refused
        runs, unread = sources.read_runs(spark, files, found.runs)
        going = [run for run in runs if run.row["finished"] is None]
        if not (going or missing or unread):
            return
        stage(f"waiting for {len(going) + len(missing) + len(unread)} runs")
        wait(POLL_INTERVAL_S)
