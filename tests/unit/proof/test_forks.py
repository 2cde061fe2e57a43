"""Work in forked processes: the results that come back, and the tasks of a process that ends early."""

from __future__ import annotations

import os
import signal

import pytest

from harness.proof.forks import ProcessDeathBeforeResult, run_tasks_in_processes

DEADLY = 3


def process_of(task: int) -> int:
    if task == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.parametrize(("together", "processes"), [(1, 4), (2, 2), (8, 1)])
def test_forked_tasks_share_requested_number_of_processes(together: int, processes: int) -> None:
    found = dict(run_tasks_in_processes((0, 1, 2, 4), process_of, jobs=2, cpu_s=60, together=together))
    assert found.keys() == {0, 1, 2, 4}
    assert len(set(found.values())) == processes


@pytest.mark.parametrize("together", [1, 2, 8])
def test_forked_task_that_ends_its_process_loses_no_other_task(together: int) -> None:
    found = dict(run_tasks_in_processes(range(5), process_of, jobs=2, cpu_s=60, together=together))
    assert found.keys() == set(range(5))
    assert found[DEADLY] == ProcessDeathBeforeResult("SIGKILL")
    assert [task for task, outcome in found.items() if isinstance(outcome, ProcessDeathBeforeResult)] == [DEADLY]
