"""A plugin for ``PYTEST_PLUGINS``: the deadline of a run passes after a few checks, on a machine of any speed."""

from __future__ import annotations

import itertools

from harness.run.run import ConformanceRun

BEFORE = 5
"""The number of the query for an expired deadline to which the answer becomes true."""
asked = itertools.count(1)
overdue = ConformanceRun.is_overdue


def overdue_soon(self: ConformanceRun) -> bool:
    if next(asked) == BEFORE and self.deadline_s is not None:
        self.began_s -= self.deadline_s
    return overdue(self)


ConformanceRun.is_overdue = overdue_soon  # type: ignore[method-assign]
