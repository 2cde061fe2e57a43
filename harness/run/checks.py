"""Checks as pytest has them: what each covers and needs, and what a run keeps with a check and with the session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.paths import SUITES

if TYPE_CHECKING:
    from harness.judging.judge import Judge
    from harness.judging.mirrored import Mirror
    from harness.judging.verdicts import Log
    from harness.run.named_roots import NamedRoots
    from harness.run.rests import Rests
    from harness.run.results import RuleResult
    from harness.run.run import Run
    from harness.sut.drivers import SutDriver

RUN: pytest.StashKey[Run] = pytest.StashKey()
DRIVERS: pytest.StashKey[list[SutDriver]] = pytest.StashKey()
"""Of every worker."""
DRIVER: pytest.StashKey[SutDriver] = pytest.StashKey()
"""Of this process."""
LOG: pytest.StashKey[Log] = pytest.StashKey()
"""The log that this process writes its verdicts to."""
FOUND: pytest.StashKey[list[RuleResult]] = pytest.StashKey()
"""At the end of the run: what stands of every rule."""
JUDGE: pytest.StashKey[Judge] = pytest.StashKey()
RESIDUE: pytest.StashKey[list[dict[str, str]]] = pytest.StashKey()
"""What checks left behind in the SUT, as this process found out."""
ROOTS: pytest.StashKey[NamedRoots] = pytest.StashKey()
"""What verdicts rest on and is missing, as this process found out."""
RESTS: pytest.StashKey[Rests] = pytest.StashKey()
"""What the verdicts of a check rest on."""
AGAIN: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a check has to be made again when no other runs beside it."""
TOLD: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a check's verdicts tell of the end of the SUT's process."""
MIRROR: pytest.StashKey[Mirror] = pytest.StashKey()
"""Where packets of the peer are held against the rules, too: in the clean run of ``prove``."""
ATTEMPT: pytest.StashKey[int] = pytest.StashKey()
"""How many attempts at this check there were before."""


def suite_path(item: pytest.Item) -> str | None:
    """Return a check's id, ``suites/<document>/<section>/<module>::<name>``; None for a test that is no check."""
    if not item.path.is_relative_to(SUITES):
        return None
    return f"suites/{item.path.relative_to(SUITES).as_posix()}::{item.nodeid.split('::', 1)[1]}"


def why_not_collected(report: pytest.CollectReport) -> str:
    """Return in one line why a file of checks cannot be read: its place and the exception."""
    lines = str(report.longrepr).splitlines()
    said = [line[1:].strip() for line in lines if line.startswith("E ")] or [line for line in lines if line.strip()]
    return f"suites/{report.nodeid}: {said[-1] if said else 'cannot be read'}; mend it, or take the file out"


def covered(item: pytest.Item) -> tuple[str, ...]:
    """Return the rules that a check covers, in order."""
    rules = [rule for marker in item.iter_markers("covers") for rule in marker.args]
    return tuple(dict.fromkeys(rules))


def malformed(item: pytest.Item) -> frozenset[str]:
    """Return the rules that a check breaks with packets of its own."""
    return frozenset(rule for marker in item.iter_markers("malforms") for rule in marker.args)


def needed(item: pytest.Item) -> tuple[str, ...]:
    """Return what a check cannot do without, in order."""
    needs = [need for marker in item.iter_markers("needs") for need in marker.args]
    return tuple(dict.fromkeys(needs))


def needs_sut_alone(item: pytest.Item) -> bool:
    """Return whether a check changes the SUT for all others."""
    from harness.sut.worker_configurations import NEEDS_FOR_ONE

    return not NEEDS_FOR_ONE.isdisjoint(needed(item))


def needs_known_peer(item: pytest.Item) -> bool:
    """Return whether a check needs what a SUT knows of its peer beforehand, such as a route."""
    from harness.sut.sut_file import OF_THE_KNOWN_PEER

    return not OF_THE_KNOWN_PEER.isdisjoint(needed(item))


def capture_path_of(item: pytest.Item) -> Path:
    """Return the capture file of this attempt at a check."""
    test = str(suite_path(item))
    return item.config.stash[RUN].capture_path(test, attempt=item.stash.get(ATTEMPT, 0))
