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
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES, Verdict, VerdictEntry
from harness.prerequisites.asking import (
    IDENTITY_SUBJECT,
    PEER_REACHED_SUBJECT,
    QUEUES_SUBJECT,
    TCP_NAME_SUBJECT,
    check_delivery_both_ways,
    check_identity,
)
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.prerequisites.remote_reading import REMOTE_READING_SUBJECT, check_qm2qm_endpoint
from harness.prerequisites.system import SystemWithCheckedPrerequisites
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
    """The state of the prerequisites on the system of a run. ``findings`` contains the findings, or None before the
    prerequisites are first checked.
    """

    findings: tuple[PrerequisiteFinding, ...] | None = None
    has_system_reached_peer: bool = False
    """Whether the system has opened a connection to the peer."""
    _attempts: int = 0
    _shared_findings_file: IO[bytes] | None = None
    """The file through which workers share the result of one check of the prerequisites."""

    @contextmanager
    def share_answer(self) -> Iterator[None]:
        """Let the processes that are forked in this context share one check of the prerequisites. The first process
        that needs the findings checks the prerequisites; the other processes wait.
        """
        with tempfile.TemporaryFile() as self._shared_findings_file:
            yield
        self._shared_findings_file = None

    def record_connection(self, prerequisites: CheckPrerequisites) -> None:
        """Record whether a check established a connection with the SUT."""
        self.has_system_reached_peer = self.has_system_reached_peer or prerequisites.has_system_connected

    def ask(self, driver: ExternalDriver) -> None:
        """Check the prerequisites whose state is still unknown."""
        if self.findings is not None or self._attempts == MAX_PREREQUISITE_ATTEMPTS:
            return
        self._attempts += 1
        gc.collect()  # a SUT that floods fills the memory with the packets of finished checks
        if self._shared_findings_file is None:
            self.findings = _check_roots(driver, reached=self.has_system_reached_peer)
            return
        number = self._shared_findings_file.fileno()
        fcntl.lockf(number, fcntl.LOCK_EX)
        try:
            if known := os.pread(number, os.fstat(number).st_size, 0):
                self.findings = pickle.loads(known)  # noqa: S301 - written by this run's own processes
            else:
                self.findings = _check_roots(driver, reached=self.has_system_reached_peer)
                os.pwrite(number, pickle.dumps(self.findings) if self.findings is not None else b"", 0)
        finally:
            fcntl.lockf(number, fcntl.LOCK_UN)

    def list_missing_prerequisites(self, prerequisites: CheckPrerequisites) -> Iterator[PrerequisiteFinding]:
        """Yield the missing prerequisites (root causes) on which a check depends."""
        for line in self.findings or ():
            if not line.is_missing:
                continue
            if (
                (line.subject == IDENTITY_SUBJECT and prerequisites.uses_peer_of_sut_file)
                or (
                    line.subject == PEER_REACHED_SUBJECT
                    and line.state is PrerequisiteState.MISSING
                    and prerequisites.was_connection_awaited_in_vain
                    and not self.has_system_reached_peer
                )
                or (line.subject == TCP_NAME_SUBJECT and prerequisites.was_system_queue_addressed)
                or (line.subject == QUEUES_SUBJECT and line.about in prerequisites.used_queue_keys)
                or (line.subject == REMOTE_READING_SUBJECT and prerequisites.needs_unobserved_remote_read)
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
    known = any(
        line.is_missing or (line.subject == TCP_NAME_SUBJECT and line.state is PrerequisiteState.OK) for line in found
    )
    return found if known else None


def _find_prerequisite_lines(driver: ExternalDriver, *, reached: bool) -> Iterator[PrerequisiteFinding]:
    """Check the prerequisites with a separate peer. If this machine has several addresses, this peer uses an address
    that no check uses.
    """
    system = SystemWithCheckedPrerequisites(
        derive_fresh_peer_file(driver.file, f"roots {time.time_ns()}", 0), driver, driver.identifier
    )
    yield check_identity(driver.file, driver.identifier)
    if driver.control_route is not None:
        system.facilities = driver.identify_system().facilities
    yield from check_delivery_both_ways(system, reached=reached)
    yield check_qm2qm_endpoint(system)


def mark_verdicts_doubtful_after_missing_prerequisite(
    entries: list[VerdictEntry],
    rests: CheckPrerequisites,
    roots: SystemPrerequisites,
    driver: ExternalDriver,
    named: RootCauses,
) -> list[VerdictEntry]:
    """Return the verdicts of a check. Verdicts that depend on a missing prerequisite become inconclusive, and this
    root cause becomes their reason.
    """
    roots.record_connection(rests)
    if not rests.depends_on_prerequisite or not any(
        _may_missing_prerequisite_explain_verdict(entry, rests) for entry in entries
    ):
        return entries
    roots.ask(driver)
    lines = [*roots.list_missing_prerequisites(rests)]
    if not lines:
        return entries
    resting = [entry for entry in entries if _may_missing_prerequisite_explain_verdict(entry, rests)]
    for line in lines:
        named.name(_get_root_key(line), line.sentence, {entry.test for entry in resting if entry.test})
    return [_make_inconclusive(lines, entry) if entry in resting else entry for entry in entries]


def _may_missing_prerequisite_explain_verdict(entry: VerdictEntry, prerequisites: CheckPrerequisites) -> bool:
    """Return whether a missing prerequisite may explain a verdict."""
    broken = (*VERDICTS_OF_BROKEN_RULES, Verdict.INCONCLUSIVE)
    missed = entry.verdict in broken and not prerequisites.is_proven_by_received_frames(entry)
    return entry.document != ROBUSTNESS_DOCUMENT and (missed or prerequisites.is_pass_based_on_silence(entry))


def _make_inconclusive(lines: Sequence[PrerequisiteFinding], entry: VerdictEntry) -> VerdictEntry:
    why = "; ".join(line.sentence for line in lines)
    reason = f"{why}; {entry.reason}" if entry.reason else why
    return replace(entry, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _get_root_key(line: PrerequisiteFinding) -> str:
    return f"{line.subject} {line.about}" if line.about else line.subject
