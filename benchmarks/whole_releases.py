"""Runs all suites on the reference in the configuration of each Windows release, with the profile of the release, in
virtual time with two workers. Target: no rule fails or stays undecided.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.releases import SHOWN, count_verdicts, find_unwanted_verdicts, group_equal_releases, run_as_release
from harness.rules.catalogue import load_catalogue

HEAD = ("releases", "rules", *SHOWN, "other", "seconds")


def measure() -> Iterator[str]:
    """Run all suites on each release with different behavior. Yield a table in Markdown, and the failures."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{' --- |' * len(HEAD)}"
    complaints: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        for releases in group_equal_releases(load_catalogue()):
            began = time.monotonic()
            found = run_as_release(releases[-1], releases[-1], (), Path(name) / releases[-1], workers=2)
            counts = count_verdicts(one.verdict for one in found.rules.values())
            cells = [", ".join(releases), len(found.rules), *counts, round(time.monotonic() - began)]
            yield f"| {' | '.join(map(str, cells))} |"
            complaints += find_unwanted_verdicts(releases[-1], found)
    yield from complaints or ["no rule fails or stays undecided"]
