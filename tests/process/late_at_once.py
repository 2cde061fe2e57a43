"""A plugin for ``PYTEST_PLUGINS``: after a few checks the deadline of a run passes, however fast the machine is."""

from __future__ import annotations

import itertools

from harness.run.run import Run

BEFORE = 5
"""int, how often a run is asked before whether its deadline has passed."""
asked = itertools.count(1)
overdue = Run.is_overdue


def overdue_soon(self: Run) -> bool:
    if next(asked) == BEFORE and self.deadline_s is not None:
        self.began_s -= self.deadline_s
    return overdue(self)


Run.is_overdue = overdue_soon  # type: ignore[method-assign]
