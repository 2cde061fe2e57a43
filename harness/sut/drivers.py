"""Define the drivers of a SUT. There are drivers for the reference in virtual time, for a program on loopback, and
for a system at an address.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from harness.sut.external_driver import ExternalDriver
from harness.sut.process_driver import ProcessDriver
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile
from harness.sut.sut_process import ProcessEnd
from harness.sut.timeouts import report_timeouts
from harness.sut.virtual_driver import VirtualDriver


class SutDriver(Protocol):
    """A driver starts the SUT once for a run, and gives each test a view of the SUT. ``shared`` states whether several
    workers use this SUT. ``are_other_workers_running`` states whether other workers are running checks now.
    ``start_wait_s`` is the number of seconds that ``start`` waits for a SUT that is not running yet.
    """

    file: SutFile
    shared: bool
    are_other_workers_running: bool
    start_wait_s: int

    identifier: UUID | None
    """The QueueManager.Identifier that the SUT had when the run started, if it is known."""

    def start(self) -> None:
        """Start the SUT, or connect to a SUT that is already running. Raise SutUnavailable with a one-line message
        if this fails.
        """

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        """Return one test's view of the SUT, in a new environment. ``run`` is a string that is unique to the run.
        ``fresh_peer`` is a number that is unique in the run; it is given for a test with a fresh peer. ``needs``
        contains the capabilities and facilities that the test needs.
        """

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of how the SUT's process ended, or None if the process is still running or was not
        started by the run.
        """

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """When a check is over, return a description of how the SUT's process ended, or None if the process is
        running. A process that is about to exit counts as ended. ``has_other_side_closed_connection``
        states whether the SUT closed a connection.
        """

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return the record of how the SUT's process ended. Each record is returned only once. Return None while
        the process runs, and in every worker that did not start the process.

        ``check`` is the check that the record names: the check in progress or, between checks, the last check.
        """

    def start_again(self) -> None:
        """Restart the SUT's process. Raise SutLost if the process has ended too often."""

    def confirm_same_system(self) -> None:
        """Raise SutLost if the system at the address is not the same system as when the run started."""

    def stop(self) -> None:
        """Stop the processes that ``start`` started."""


def create_driver(file: SutFile, out: Path, worker: int = 0) -> SutDriver:
    """Return the driver that a worker uses. The SUT file specifies the kind of the driver."""
    if file.driver.kind == "virtual":
        return VirtualDriver(file)
    if file.driver.kind == "process":
        return ProcessDriver(file, out, worker)
    return ExternalDriver(file, out, worker)


def start_all_suts(drivers: Sequence[SutDriver]) -> None:
    """Start every SUT in parallel. If one of them fails to start, stop all of them and raise its error."""
    for driver in drivers:
        driver.shared = len(drivers) > 1 and driver.file.driver.kind == "external"
    started = False
    try:
        with ThreadPoolExecutor() as pool:
            begun = [pool.submit(driver.start) for driver in drivers]
        for each in begun:
            each.result()
        started = True
    finally:  # after every exception, including Ctrl-C
        if not started:
            for driver in drivers:
                driver.stop()


def report_timeouts_of_drivers(drivers: Sequence[SutDriver]) -> dict[str, Any] | None:
    """Return the timeouts of the drivers for run.json, or None in virtual time, where no timeouts apply."""
    real = [driver for driver in drivers if isinstance(driver, ExternalDriver)]
    if not real:
        return None
    slowest = max(real, key=lambda driver: driver.timeouts.response_ms)
    return report_timeouts([driver.vital_signs.speed for driver in real], slowest.timeouts)
