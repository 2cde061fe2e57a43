"""Start no checks after the deadline of a run (``--deadline``). The option ``--resume`` runs the remaining checks."""

from __future__ import annotations

import pytest

from harness.run.checks import get_check_id
from harness.run.run import ConformanceRun


class DeadlinePlugin:
    """A pytest plugin that starts no check after the deadline, and counts the omitted checks."""

    def __init__(self, run: ConformanceRun) -> None:
        self.run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Omit a check if the deadline has passed. In a run with workers, also send no further check to the
        workers.
        """
        return True if self.run.is_overdue() else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """If the deadline ended the run, record this as the reason why the run is partial."""
        left = [item for item in session.items if get_check_id(item) not in self.run.ids_of_run_checks]
        if left and self.run.is_overdue() and not self.run.abort_reason:
            self.run.abort_reason = (
                f"the deadline of {self.run.deadline_s} s passed before {len(left)} checks were started;"
                " --resume runs them"
            )
