"""A run begins no check after its deadline (``--deadline``); ``--resume`` makes the remaining checks."""

from __future__ import annotations

import pytest

from harness.run.checks import suite_path
from harness.run.run import Run


class Deadline:
    """A plugin of pytest that passes over checks when the deadline has passed, and counts them."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Pass over a check; workers are sent none."""
        return True if self.run.overdue() else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note why the run is only a part of one."""
        left = [item for item in session.items if suite_path(item) not in self.run.tests_run]
        if left and self.run.overdue() and not self.run.aborted:
            self.run.aborted = (
                f"the deadline of {self.run.deadline_s} s had passed before {len(left)} checks were begun;"
                " --resume makes them"
            )
