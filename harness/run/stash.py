"""The values that a run keeps in pytest's session and in each of its checks, and the results made from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.run.checks import find_covered_rules, suite_path

if TYPE_CHECKING:
    from harness.judging.judge import Judge
    from harness.judging.mirrored import Mirror
    from harness.judging.verdicts import Log
    from harness.run.named_roots import NamedRoots
    from harness.run.rests import Rests
    from harness.run.results import RuleResult
    from harness.run.rows import Rows
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
"""At the end of the run: the final verdict of every rule."""
JUDGE: pytest.StashKey[Judge] = pytest.StashKey()
ROWS: pytest.StashKey[Rows] = pytest.StashKey()
"""The peer and the judge of the row that a check runs with."""
RESIDUE: pytest.StashKey[list[dict[str, str]]] = pytest.StashKey()
"""Objects that checks left behind in the SUT, as this process found."""
ROOTS: pytest.StashKey[NamedRoots] = pytest.StashKey()
"""The missing roots of verdicts, as this process found."""
RESTS: pytest.StashKey[Rests] = pytest.StashKey()
"""The roots of the verdicts of a check."""
RUNS_AGAIN_ALONE: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a check has to be made again when no other runs beside it."""
END_REPORTED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a check's verdicts tell of the end of the SUT's process."""
MIRROR: pytest.StashKey[Mirror] = pytest.StashKey()
"""In the clean run of ``prove``: where packets of the peer are judged as well."""
ATTEMPT: pytest.StashKey[int] = pytest.StashKey()
"""How many attempts at this check there were before."""


def capture_path_of(item: pytest.Item) -> Path:
    """Return the capture file of this attempt at a check."""
    test = str(suite_path(item))
    return item.config.stash[RUN].capture_path(test, attempt=item.stash.get(ATTEMPT, 0))


def make_judge(item: pytest.Item) -> Judge:
    """Return a judge of a check, which writes to the log of this process."""
    from harness.judging.judge import Judge
    from harness.run_folder import CAPTURES_FOLDER

    run, path = item.config.stash[RUN], str(suite_path(item))
    capture = f"{CAPTURES_FOLDER}/{capture_path_of(item).name}"
    log = item.config.stash[LOG]
    profile = run.file.sut.profile
    covers = find_covered_rules(item)
    return Judge(run.catalogue, log, test=path, covers=covers, capture=capture, passes=run.passes, profile=profile)
