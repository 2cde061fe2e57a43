"""The parts of a job run in parallel for few lines, and one after the other for many lines."""

from __future__ import annotations

import threading

import pytest
from patience import PATIENCE_S

from reports.lake import side_by_side
from reports.lake.side_by_side import MAX_LINES_IN_PARALLEL


def test_ingest_parts_of_few_lines_run_in_parallel() -> None:
    meeting = threading.Barrier(2)
    side_by_side.run_parts_of_spark_job(
        MAX_LINES_IN_PARALLEL, lambda: meeting.wait(PATIENCE_S), lambda: meeting.wait(PATIENCE_S)
    )


def test_ingest_parts_of_many_lines_run_in_order_in_main_thread() -> None:
    done: list[tuple[int, threading.Thread]] = []
    parts = [lambda number=number: done.append((number, threading.current_thread())) for number in range(3)]
    side_by_side.run_parts_of_spark_job(MAX_LINES_IN_PARALLEL + 1, *parts)
    assert done == [(number, threading.main_thread()) for number in range(3)]


@pytest.mark.parametrize("lines", [1, MAX_LINES_IN_PARALLEL + 1])
def test_failure_of_one_ingest_part_fails_the_ingest(lines: int) -> None:
    def fails() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        side_by_side.run_parts_of_spark_job(lines, lambda: None, fails)
