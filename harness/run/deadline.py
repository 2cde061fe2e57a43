"""Start no check after the deadline of a run (``--deadline``); ``--resume`` runs the remaining checks."""

from __future__ import annotations

import pytest

from harness.run.checks import get_check_id
from harness.run.run import Run


class Deadline:
    """A pytest plugin that omits and counts the checks after the deadline."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Omit a check after the deadline; in a run with workers, send the workers no further check."""
        return True if self.run.is_overdue() else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Record the reason why the run is partial, if the deadline ended the run."""
        left = [item for item in session.items if get_check_id(item) not in self.run.tests_run]
        if left and self.run.is_overdue() and not self.run.aborted:
            self.run.aborted = (
                f"the deadline of {self.run.deadline_s} s passed before {len(left)} checks were started;"
                " --resume runs them"
            )
