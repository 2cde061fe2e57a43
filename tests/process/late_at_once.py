"""A plugin for ``PYTEST_PLUGINS``: the deadline of a run passes after a few checks, on a machine of any speed."""

from __future__ import annotations

import itertools

from harness.run.run import Run

BEFORE = 5
"""The number of the query for an expired deadline to which the answer becomes true."""
asked = itertools.count(1)
overdue = Run.is_overdue


def overdue_soon(self: Run) -> bool:
    if next(asked) == BEFORE and self.deadline_s is not None:
        self.began_s -= self.deadline_s
    return overdue(self)


Run.is_overdue = overdue_soon  # type: ignore[method-assign]
