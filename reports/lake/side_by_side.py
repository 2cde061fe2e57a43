"""Runs small jobs in parallel, because Spark plans each job on one core and has few tasks for a small job."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

MAX_LINES_IN_PARALLEL = 250_000
"""Jobs run in parallel only if they process at most this number of verdict lines, so that the lines of all parallel
jobs fit into memory.
"""


def run_parts_of_spark_job(lines: int, *parts: Callable[[], object]) -> None:
    """Run the parts of a Spark job: in parallel if they process few verdict lines, otherwise one after the other."""
    if lines > MAX_LINES_IN_PARALLEL:
        # Ctrl-C reaches only the main thread, so long parts run there.
        for part in parts:
            part()
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        for future in [pool.submit(part) for part in parts]:
            future.result()
