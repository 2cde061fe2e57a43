"""Run checks in parallel (``--workers``), in processes forked from the pytest session, each with its own
configuration.

Only the session writes files: it receives the results of each check from a worker, and appends all verdicts of the
check at once. So the verdict file, ``--resume`` and pytest's reports are the same as without workers.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

import pytest

from harness.errors import FolderError
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.run.checks import find_covered_rules, get_check_id, needs_known_peer, needs_sut_alone
from harness.run.ending import end_run, restart_sut_if_process_ended
from harness.run.named_roots import RootCauses
from harness.run.stash import (
    DRIVER_KEY,
    IS_CHECK_REPEATED_ALONE_KEY,
    PROCESS_END_REPORTED_KEY,
    RESIDUE_KEY,
    ROOT_CAUSES_KEY,
    RUN_KEY,
    VERDICT_LOG_KEY,
)
from harness.run.terminal import PROGRESS_PLUGIN
from harness.sut.drivers import SutDriver

_SESSION_POLL_INTERVAL_S = 1.0
_RESULT_POLL_INTERVAL_S = 0.05


@dataclass(slots=True)
class CheckResult:
    """The result of one check that a worker ran: the verdicts, and pytest's reports in serialized form."""

    entries: list[VerdictEntry] = field(default_factory=list)
    reports: list[Any] = field(default_factory=list)
    residue: list[dict[str, str]] = field(default_factory=list)
    root_causes: RootCauses = field(default_factory=RootCauses)
    must_run_alone: bool = False
    """Whether the check found that it must run alone. If so, this result is discarded, and the check runs again later.
    """
    is_process_end_reported: bool = False
    """Whether the verdicts report the end of the SUT's process."""
    reason_to_end_run: str | None = None
    """The reason why the run must end, or None."""
    write_error: str | None = None
    """The reason why the run folder can no longer be written, or None."""


@dataclass(slots=True)
class _Worker:
    number: int
    process: ForkProcess
    connection: Connection
    index: int = -1
    """The index of the check that the worker is running, in the session's list of checks."""


class WorkerProcessesPlugin:
    """The workers of a session and the queue of waiting checks."""

    def __init__(self, session: pytest.Session, drivers: list[SutDriver]) -> None:
        self.session = session
        self.run = session.config.stash[RUN_KEY]
        self.drivers = drivers
        self.busy: dict[Any, _Worker] = {}
        self._checks_for_first_worker: deque[int] = deque()
        self._checks_for_any_worker: deque[int] = deque()
        self._checks_to_run_alone: deque[int] = deque()
        """The checks that affect the SUT for all workers. These checks run last, one at a time."""
        for index, item in enumerate(session.items):
            self._choose_queue(item).append(index)

    def run_session(self) -> None:
        """Run every check. To end the session, raise the same exceptions as pytest's own loop."""
        gc.collect()
        gc.freeze()  # the workers share the existing objects, which are never garbage
        try:
            with self.run.system_prerequisites.share_answer():
                self._run_all_checks()
        finally:
            for worker in self.busy.values():
                worker.process.terminate()
                worker.process.join()
            gc.unfreeze()

    def _choose_queue(self, item: pytest.Item) -> deque[int]:
        shared = self.drivers[0].shared
        if shared and needs_sut_alone(item):
            return self._checks_to_run_alone
        return self._checks_for_first_worker if shared and needs_known_peer(item) else self._checks_for_any_worker

    def _run_all_checks(self) -> None:
        for driver in self.drivers:
            driver.are_other_workers_running = driver.shared
        self._run_waiting_checks()
        self.drivers[0].are_other_workers_running = False
        self._checks_for_first_worker = self._checks_to_run_alone
        self._run_waiting_checks()

    def _run_waiting_checks(self) -> None:
        """Let the workers run all waiting checks."""
        for number in range(len(self.drivers)):
            self._start_worker(number)
        while self.busy:
            for driver in self.drivers:
                driver.describe_end()  # this call also records the end of the process for the workers
            for connection in wait(list(self.busy), _RESULT_POLL_INTERVAL_S):
                self._receive_result(self.busy.pop(connection))
            if self.session.shouldfail:
                raise self.session.Failed(self.session.shouldfail)
            if self.session.shouldstop:
                raise self.session.Interrupted(self.session.shouldstop)

    def _start_worker(self, number: int) -> None:
        if not (self._checks_for_any_worker or (number == 0 and self._checks_for_first_worker)):
            return
        ours, theirs = multiprocessing.Pipe()
        others = [*self.busy, ours]
        process = multiprocessing.get_context("fork").Process(
            target=_run_worker, args=(self.session, self.drivers[number], theirs, others), daemon=True
        )
        process.start()
        theirs.close()
        self._send_next_check(_Worker(number, process, ours))

    def _send_next_check(self, worker: _Worker) -> None:
        """Send a worker its next check. If no check is waiting, end the worker."""
        waiting = (
            self._checks_for_first_worker
            if worker.number == 0 and self._checks_for_first_worker
            else self._checks_for_any_worker
        )
        if not waiting or self.run.is_overdue():
            worker.connection.close()
            worker.process.join()
            return
        worker.index = waiting.popleft()
        self.busy[worker.connection] = worker
        worker.connection.send(worker.index)

    def _receive_result(self, worker: _Worker) -> None:
        item = self.session.items[worker.index]
        try:
            result = worker.connection.recv()
        except (EOFError, ConnectionError):
            worker.connection.close()
            worker.process.join()
            self._record_results(item, _build_result_of_crash(item, worker))
            self._start_worker(worker.number)
        else:
            if result.write_error is not None:
                raise FolderError(result.write_error)
            if result.must_run_alone:
                self._checks_to_run_alone.append(worker.index)
            else:
                self._record_results(item, result)
            if result.reason_to_end_run is not None:
                end_run(self.session, result.reason_to_end_run)
            if self._restart_worker(worker, item, told=result.is_process_end_reported):
                worker.connection.close()
                worker.process.join()
                self._start_worker(worker.number)
            else:
                self._send_next_check(worker)

    def _restart_worker(self, worker: _Worker, item: pytest.Item, *, told: bool) -> bool:
        """Restart the worker's SUT if it has ended and further checks follow. Return whether the SUT had ended; if it
        had, a new worker must replace this worker.
        """
        more = (
            bool(self._checks_for_any_worker or (worker.number == 0 and self._checks_for_first_worker))
            and not self.session.shouldstop
        )
        return restart_sut_if_process_ended(item, self.drivers[worker.number], more=more, told=told)

    def _record_results(self, item: pytest.Item, result: CheckResult) -> None:
        """Write the verdicts of a check, and report to pytest as if the check had run in this process."""
        if result.entries or result.reason_to_end_run is None:
            self.run.ids_of_run_checks.add(str(get_check_id(item)))
        self.run.residue += result.residue
        self.run.root_causes.take(result.root_causes)
        for entry in result.entries:
            self.run.verdict_log.append(entry)
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for sent in result.reports:
            report = item.config.hook.pytest_report_from_serializable(config=item.config, data=sent)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _convert_report_to_serializable_data(item: pytest.Item, report: pytest.TestReport) -> Any:
    return item.config.hook.pytest_report_to_serializable(config=item.config, report=report)


def _build_result_of_crash(item: pytest.Item, worker: _Worker) -> CheckResult:
    """Return the result of a check during which its worker died."""
    code = worker.process.exitcode or 0
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    reason = f"worker {worker.number} died in this check ({how})"
    result, catalogue = CheckResult(), item.config.stash[RUN_KEY].catalogue
    judge = Judge(
        catalogue, result.entries, test=str(get_check_id(item)), covers=find_covered_rules(item), capture=None
    )
    judge.give_up(Verdict.HARNESS_ERROR, reason)
    result.reports.append(
        _convert_report_to_serializable_data(
            item, pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call")
        )
    )
    return result


# -- in the process of a worker -------------------------------------------------------------------------------------


def _run_worker(session: pytest.Session, driver: SutDriver, connection: Connection, others: list[Connection]) -> None:
    """Run the checks that the session sends until it closes the connection."""
    for other in others:
        other.close()  # otherwise the worker would not notice that the session closes its end of the connection
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session also gets the signal, and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_exit_when_session_is_killed, args=(os.getppid(),), daemon=True).start()
    session.config.stash[DRIVER_KEY] = driver
    session.config.stash[RUN_KEY].deadline_s = None  # a check that was sent before the deadline is run
    _silence_terminal(session.config)
    while True:
        try:
            item = session.items[connection.recv()]
        except EOFError:
            return
        connection.send(_run_check(item))


def _silence_terminal(config: pytest.Config) -> None:
    """Discard the terminal output of a worker, and detach the worker from the files of the session, which it shares
    because it was forked.
    """
    manager = config.pluginmanager
    *shown, capture = (manager.get_plugin(name) for name in ("terminalreporter", PROGRESS_PLUGIN, "capturemanager"))
    for plugin in filter(None, shown):
        manager.unregister(plugin)
    if capture is not None:
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()


class _ReportCollector:
    """A store of pytest's reports of one check."""

    def __init__(self, item: pytest.Item, result: CheckResult) -> None:
        self.item = item
        self.result = result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.result.reports.append(_convert_report_to_serializable_data(self.item, report))


def _run_check(item: pytest.Item) -> CheckResult:
    result, config = CheckResult(), item.config
    config.stash[VERDICT_LOG_KEY], config.stash[RESIDUE_KEY], config.stash[ROOT_CAUSES_KEY] = (
        result.entries,
        result.residue,
        result.root_causes,
    )
    listener = _ReportCollector(item, result)
    config.pluginmanager.register(listener)
    try:
        config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    except pytest.exit.Exception as error:
        result.write_error = str(error)
    finally:
        config.pluginmanager.unregister(listener)
    result.must_run_alone = item.stash.get(IS_CHECK_REPEATED_ALONE_KEY, False)
    result.is_process_end_reported = item.stash.get(PROCESS_END_REPORTED_KEY, False)
    run = config.stash[RUN_KEY]
    result.reason_to_end_run = run.abort_reason if run.was_sut_lost else None
    return result


def _exit_when_session_is_killed(session: int) -> None:
    """Make a worker exit immediately when the session is killed. Otherwise the current check could continue for
    minutes.
    """
    while os.getppid() == session:
        time.sleep(_SESSION_POLL_INTERVAL_S)
    os._exit(1)
