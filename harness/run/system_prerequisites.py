"""Check the prerequisites on which the verdicts of a run depend. They are checked at the first verdict that a
missing prerequisite may explain; this may also be a pass that is based on silence.

The prerequisites are checked only once in a run. A verdict that depends on a missing prerequisite becomes
inconclusive, and this root cause becomes its reason.
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO

from harness.errors import ConformanceFailure, SutUnavailable
from harness.judging.robustness import ROBUSTNESS_DOCUMENT
from harness.judging.verdicts import BROKEN_VERDICTS, Entry, Verdict
from harness.prerequisites.asking import (
    IDENTITY_SUBJECT,
    PEER_REACHED_SUBJECT,
    QUEUES,
    TCP_NAME_SUBJECT,
    check_delivery_both_ways,
    check_identity,
)
from harness.prerequisites.line import PrerequisiteFinding, State
from harness.prerequisites.remote_reading import REMOTE_READING_SUBJECT, check_qm2qm_endpoint
from harness.prerequisites.system import System
from harness.run.check_prerequisites import CheckPrerequisites
from harness.run.named_roots import RootCauses
from harness.sut.external_driver import ExternalDriver
from harness.sut.worker_configurations import derive_fresh_peer_file

MAX_PREREQUISITE_ATTEMPTS = 3
"""The maximum number of attempts to check the prerequisites if the system does not answer, for instance because it
is restarting.
"""


@dataclass(slots=True)
class SystemPrerequisites:
    """The state of the prerequisites on the system of a run. ``lines`` contains the findings, or None before the
    prerequisites are first checked.
    """

    lines: tuple[PrerequisiteFinding, ...] | None = None
    reached: bool = False
    """Whether the system has opened a connection to the peer."""
    _attempts: int = 0
    _shared: IO[bytes] | None = None
    """The file through which workers share the result of one check of the prerequisites."""

    @contextmanager
    def share_answer(self) -> Iterator[None]:
        """Let the processes that are forked in this context share one check of the prerequisites. The first process
        that needs the findings checks the prerequisites; the other processes wait.
        """
        with tempfile.TemporaryFile() as self._shared:
            yield
        self._shared = None

    def record_connection(self, prerequisites: CheckPrerequisites) -> None:
        """Record whether a check established a connection with the SUT."""
        self.reached = self.reached or prerequisites.connected

    def ask(self, driver: ExternalDriver) -> None:
        """Check the prerequisites whose state is still unknown."""
        if self.lines is not None or self._attempts == MAX_PREREQUISITE_ATTEMPTS:
            return
        self._attempts += 1
        gc.collect()  # a SUT that floods fills the memory with the packets of finished checks
        if self._shared is None:
            self.lines = _check_roots(driver, reached=self.reached)
            return
        number = self._shared.fileno()
        fcntl.lockf(number, fcntl.LOCK_EX)
        try:
            if known := os.pread(number, os.fstat(number).st_size, 0):
                self.lines = pickle.loads(known)  # noqa: S301 - written by this run's own processes
            else:
                self.lines = _check_roots(driver, reached=self.reached)
                os.pwrite(number, pickle.dumps(self.lines) if self.lines is not None else b"", 0)
        finally:
            fcntl.lockf(number, fcntl.LOCK_UN)

    def list_missing_prerequisites(self, prerequisites: CheckPrerequisites) -> Iterator[PrerequisiteFinding]:
        """Yield the missing prerequisites (root causes) on which a check depends."""
        for line in self.lines or ():
            if not line.is_missing:
                continue
            if (
                (line.subject == IDENTITY_SUBJECT and prerequisites.known_peer)
                or (
                    line.subject == PEER_REACHED_SUBJECT
                    and line.state is State.MISSING
                    and prerequisites.awaited
                    and not self.reached
                )
                or (line.subject == TCP_NAME_SUBJECT and prerequisites.addressed)
                or (line.subject == QUEUES and line.about in prerequisites.provisioned)
                or (line.subject == REMOTE_READING_SUBJECT and prerequisites.reads)
            ):
                yield line


def _check_roots(driver: ExternalDriver, *, reached: bool) -> tuple[PrerequisiteFinding, ...] | None:
    """Check the prerequisites on the system. Return None if the system cannot be reached, so that the next caller
    tries again.
    """
    try:
        found = tuple(_find_prerequisite_lines(driver, reached=reached))
    except (ConformanceFailure, SutUnavailable, OSError):
        return None
    known = any(line.is_missing or (line.subject == TCP_NAME_SUBJECT and line.state is State.OK) for line in found)
    return found if known else None


def _find_prerequisite_lines(driver: ExternalDriver, *, reached: bool) -> Iterator[PrerequisiteFinding]:
    """Check the prerequisites with a separate peer. If this machine has several addresses, this peer uses an address
    that no check uses.
    """
    system = System(derive_fresh_peer_file(driver.file, f"roots {time.time_ns()}", 0), driver, driver.identifier)
    yield check_identity(driver.file, driver.identifier)
    if driver.control_route is not None:
        system.facilities = driver.identify_system().facilities
    yield from check_delivery_both_ways(system, reached=reached)
    yield check_qm2qm_endpoint(system)


def mark_doubtful_verdicts(
    entries: list[Entry],
    rests: CheckPrerequisites,
    roots: SystemPrerequisites,
    driver: ExternalDriver,
    named: RootCauses,
) -> list[Entry]:
    """Return the verdicts of a check. Verdicts that depend on a missing prerequisite become inconclusive, and this
    root cause becomes their reason.
    """
    roots.record_connection(rests)
    if not rests.any or not any(_is_doubtful(entry, rests) for entry in entries):
        return entries
    roots.ask(driver)
    lines = [*roots.list_missing_prerequisites(rests)]
    if not lines:
        return entries
    resting = [entry for entry in entries if _is_doubtful(entry, rests)]
    for line in lines:
        named.name(_get_root_key(line), line.sentence, {entry.test for entry in resting if entry.test})
    return [_make_inconclusive(lines, entry) if entry in resting else entry for entry in entries]


def _is_doubtful(entry: Entry, prerequisites: CheckPrerequisites) -> bool:
    """Return whether a missing prerequisite may explain a verdict."""
    broken = (*BROKEN_VERDICTS, Verdict.INCONCLUSIVE)
    missed = entry.verdict in broken and not prerequisites.is_shown(entry)
    return entry.document != ROBUSTNESS_DOCUMENT and (missed or prerequisites.is_silence(entry))


def _make_inconclusive(lines: Sequence[PrerequisiteFinding], entry: Entry) -> Entry:
    why = "; ".join(line.sentence for line in lines)
    reason = f"{why}; {entry.reason}" if entry.reason else why
    return replace(entry, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _get_root_key(line: PrerequisiteFinding) -> str:
    return f"{line.subject} {line.about}" if line.about else line.subject
