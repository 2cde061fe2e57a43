"""End a run whose SUT sends packets endlessly. Further checks would end in the same way and fill the disk with
captures.
"""

from __future__ import annotations

from itertools import count, takewhile
from pathlib import Path

import pytest

from harness.judging.robustness import FINDING_BY_CONDITION, SystemCondition
from harness.run.checks import get_check_id
from harness.run.run import ConformanceRun
from harness.run.stash import RUN_KEY

MAX_CHECKS_WITH_FLOODS = 3
MAX_CAPTURED_BYTES = 512 * 1024 * 1024
"""int bytes: the largest total size of the captures of a run. If the SUT conforms, the captures of a complete run
have about 15 MB.
"""


def find_end_reason(item: pytest.Item) -> str | None:
    """After each check, count the checks with endless packets and the captured bytes. Return the reason why the run
    must end, or None.
    """
    run = item.config.stash[RUN_KEY]
    run.captured_byte_count += _count_captured_bytes(run, str(get_check_id(item)))
    floods = run.verdict_log.fails[FINDING_BY_CONDITION[SystemCondition.FLOODS][0]]
    if floods >= MAX_CHECKS_WITH_FLOODS:
        return f"the SUT sent packets endlessly in {floods} checks; correct the SUT, then continue with --resume"
    if run.captured_byte_count > MAX_CAPTURED_BYTES:
        return (
            f"the captures of this run have {run.captured_byte_count:,} bytes, but a correct SUT causes less than "
            f"{MAX_CAPTURED_BYTES:,} bytes"
        )
    return None


def _count_captured_bytes(run: ConformanceRun, test: str) -> int:
    """Return the total size of the captures of all attempts at a check (int bytes)."""
    paths = (run.capture_path(test, attempt) for attempt in count())
    return sum(path.stat().st_size for path in takewhile(Path.is_file, paths))
