"""Define the drivers of a SUT: in this process in virtual time, a program on loopback, a system at an address."""

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
from harness.sut.sut_process import Death
from harness.sut.timeouts import report_timeouts
from harness.sut.virtual_driver import VirtualDriver


class SutDriver(Protocol):
    """A driver starts the SUT once for a run, and gives each test a view of it. ``shared``: whether several workers use
    this SUT; ``beside_others``: whether other workers run checks at this time; ``wait_s``: how long ``start`` waits for
    a SUT that is not running yet.
    """

    file: SutFile
    shared: bool
    beside_others: bool
    wait_s: int

    identifier: UUID | None
    """The QueueManager.Identifier of the SUT at its start, if it is known."""

    def start(self) -> None:
        """Start or find the SUT; raise SutUnavailable with a one-line message when that fails."""

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        """Return the SUT as one test sees it, in a new environment. ``run``: a word that is unique to the run;
        ``fresh_peer``: a number that is unique in the run, for a test whose peer need not be known to the SUT;
        ``needs``: the capabilities and facilities that the test needs.
        """

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return how the SUT's process ended; None while it runs, or when the run did not start one."""

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return how the process ended, at the end of a check, including a process that is about to end. ``hung_up``:
        whether the SUT closed a connection.
        """

    def take_death(self, check: str | None) -> Death | None:
        """Return the end of the SUT's process, each end only once; None while the process runs, and in every worker
        that did not start it.

        ``check``: the check in progress, or the last one.
        """

    def start_again(self) -> None:
        """Start the SUT's process again; raise SutLost when it has ended too often."""

    def confirm(self) -> None:
        """Raise SutLost unless the system is the same one as at the start."""

    def stop(self) -> None:
        """Stop the processes that ``start`` started."""


def create_driver(file: SutFile, out: Path, worker: int = 0) -> SutDriver:
    """Return the driver of a worker, of the kind that the SUT file names."""
    if file.driver.kind == "virtual":
        return VirtualDriver(file)
    if file.driver.kind == "process":
        return ProcessDriver(file, out, worker)
    return ExternalDriver(file, out, worker)


def start_all(drivers: Sequence[SutDriver]) -> None:
    """Start every SUT at the same time; when one fails, stop them and raise its error."""
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
    """Return the timeouts for run.json; None in virtual time, which has no timeouts."""
    real = [driver for driver in drivers if isinstance(driver, ExternalDriver)]
    if not real:
        return None
    slowest = max(real, key=lambda driver: driver.timeouts.response_ms)
    return report_timeouts([driver.vital_signs.speed for driver in real], slowest.timeouts)
