"""Run tasks in processes that are forked from the current process. The forked processes do not import modules
again, and no task can affect another task.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, Generic, TypeVar

ForkTask = TypeVar("ForkTask")
TaskOutcome = TypeVar("TaskOutcome")

MEMORY_LIMIT_BYTES = 3 << 30
"""The memory limit of one process (int bytes), because a fault may allocate memory endlessly."""


@dataclass(frozen=True, slots=True)
class ProcessDeathBeforeResult:
    """The result of a task whose process ended before it returned a result."""

    description: str


@dataclass(slots=True)
class _ForkedProcess(Generic[ForkTask]):
    task: ForkTask
    process: ForkProcess


def run_tasks_in_processes(
    tasks: Iterable[ForkTask], work: Callable[[ForkTask], TaskOutcome], *, jobs: int, cpu_s: int, together: int = 1
) -> Iterator[tuple[ForkTask, TaskOutcome | ProcessDeathBeforeResult]]:
    """Run tasks in separate processes, ``jobs`` processes at a time; yield the results as they arrive.

    ``cpu_s``: the CPU time in seconds after which a process is ended. ``together``: the number of tasks that share
    a process, which is faster if a task takes less time than a fork. If a shared process dies, each of its tasks
    runs again in a separate process. A task is read from ``tasks`` only when a process is free.
    """
    remaining, again = iter(tasks), list[ForkTask]()
    groups = iter(lambda: tuple(islice(remaining, together)), ())

    def work_on_all(group: tuple[ForkTask, ...]) -> list[TaskOutcome]:
        return [work(task) for task in group]

    for group, outcomes in _run_in_forks(groups, work_on_all, jobs=jobs, cpu_s=cpu_s):
        if not isinstance(outcomes, ProcessDeathBeforeResult):
            yield from zip(group, outcomes, strict=True)
        elif len(group) == 1:
            yield group[0], outcomes
        else:
            again += group
    if again:
        yield from run_tasks_in_processes(again, work, jobs=jobs, cpu_s=cpu_s)


def _run_in_forks(
    tasks: Iterable[ForkTask], work: Callable[[ForkTask], TaskOutcome], *, jobs: int, cpu_s: int
) -> Iterator[tuple[ForkTask, TaskOutcome | ProcessDeathBeforeResult]]:
    waiting = iter(tasks)
    busy: dict[Connection, _ForkedProcess[ForkTask]] = {}
    gc.collect()
    gc.freeze()  # the processes share the existing objects, which are never garbage
    try:
        while True:
            while len(busy) < jobs and (task := next(waiting, None)) is not None:
                connection, fork = _start_fork(task, work, cpu_s)
                busy[connection] = fork
            if not busy:
                return
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                fork = busy.pop(ready)
                yield fork.task, _receive_answer(ready, fork.process)
    finally:
        for fork in busy.values():
            fork.process.terminate()
            fork.process.join()
        gc.unfreeze()


def _start_fork(
    task: ForkTask, work: Callable[[ForkTask], Any], cpu_s: int
) -> tuple[Connection, _ForkedProcess[ForkTask]]:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_carry_out_task, args=(task, work, cpu_s, ours, theirs), daemon=True
    )
    process.start()
    theirs.close()
    return ours, _ForkedProcess(task, process)


def _receive_answer(connection: Connection, process: ForkProcess) -> Any:
    try:
        answer = connection.recv()
    except (EOFError, ConnectionError):
        process.join()
        code = process.exitcode or 0
        answer = ProcessDeathBeforeResult(signal.Signals(-code).name if code < 0 else f"exit code {code}")
    connection.close()
    process.join()
    return answer


def _carry_out_task(
    task: ForkTask, work: Callable[[ForkTask], Any], cpu_s: int, theirs: Connection, ours: Connection
) -> None:
    theirs.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process also gets the signal, and ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    ours.send(work(task))
    ours.close()
