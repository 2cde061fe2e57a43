"""Collect the checks in files of the suites with pytest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from harness.errors import HarnessError
from harness.proof.check import CheckDescription
from harness.run.checks import (
    explain_missing_collection,
    find_covered_rules,
    find_needs,
    find_varied_parameters,
    get_check_id,
)
from harness.run.options import build_pytest_arguments


class _TestItemCollector:
    def __init__(self, paths: Iterable[str]) -> None:
        self.found: dict[str, list[CheckDescription]] = {path: [] for path in paths}
        self.broken: str | None = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = self.broken or explain_missing_collection(report)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            name = get_check_id(item)
            if name is not None:
                self.found[name.partition("::")[0]].append(
                    CheckDescription(
                        name, list(find_covered_rules(item)), list(find_needs(item)), find_varied_parameters(item)
                    )
                )


def collect_checks(paths: list[str]) -> Mapping[str, list[CheckDescription]]:
    """Return the checks of each file without running the checks; raise HarnessError if a file cannot be read."""
    collector = _TestItemCollector(paths)
    code = pytest.main([*build_pytest_arguments(paths), "--collect-only", "-p", "no:terminal"], [collector])
    if code is pytest.ExitCode.INTERRUPTED and collector.broken is None:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HarnessError(
            collector.broken or "the suites cannot be collected; `pytest suites --collect-only` shows why"
        )
    return collector.found
