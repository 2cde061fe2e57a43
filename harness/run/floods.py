"""The end of a run whose SUT sends without an end: further checks find the same, and fill the disk with captures."""

from __future__ import annotations

from itertools import count, takewhile
from pathlib import Path

import pytest

from harness.judging.robustness import FINDINGS, Condition
from harness.run.checks import suite_path
from harness.run.run import Run
from harness.run.stash import RUN

MOST_FLOODS = 3
MOST_CAPTURED = 512 * 1024 * 1024
"""int bytes of captures of one run. A conforming SUT makes about 15 MB in a whole run."""


def why_ended(item: pytest.Item) -> str | None:
    """Add a finished check to the floods and the captured bytes; return why the run must end, or None."""
    run = item.config.stash[RUN]
    run.captured += _count_captured_bytes(run, str(suite_path(item)))
    floods = run.log.fails[FINDINGS[Condition.FLOODS][0]]
    if floods >= MOST_FLOODS:
        return f"the SUT has sent without end in {floods} checks; fix that, then continue with --resume"
    if run.captured > MOST_CAPTURED:
        return f"the captures of this run have {run.captured:,} bytes; {MOST_CAPTURED:,} are allowed, a SUT sends less"
    return None


def _count_captured_bytes(run: Run, test: str) -> int:
    """Return the bytes of the captures of all attempts at a check."""
    paths = (run.capture_path(test, attempt) for attempt in count())
    return sum(path.stat().st_size for path in takewhile(Path.is_file, paths))
