"""End the run with a one-line message when its folder cannot be written. When the disk has free space again,
``--resume`` can continue the run.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from harness.errors import FolderError
from harness.exit_codes import EXIT_USAGE
from harness.run.run import ConformanceRun


class RunFolderErrorPlugin:
    """A pytest plugin that recognizes errors in writing the run folder, including errors in pytest's reports."""

    def __init__(self, run: ConformanceRun) -> None:
        self.run = run

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """End the run when a check could not write to the run folder. Later errors in this check would not be
        caused by the SUT.
        """
        report = yield
        if call.excinfo is not None and (error := _describe_folder_error(call.excinfo.value)) is not None:
            self._end_run(str(error))
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        """End the run if rules.json cannot be written."""
        try:
            return (yield)
        except FolderError as error:
            self._end_run(str(error))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """End the run if the verdicts or the reports of workers could not be written."""
        try:
            return (yield)
        except Exception as error:
            if (why := self._find_disk_error(error)) is not None:
                self._end_run(why)
            raise

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Print the summary of a run even if its last files could not be written."""
        try:
            return (yield)
        except Exception as error:
            if (why := self._find_disk_error(error)) is None:
                raise
            if not self.run.was_sut_lost:
                self.run.lose(why)
            session.exitstatus = EXIT_USAGE

    def _end_run(self, why: str) -> None:
        self.run.lose(why)
        pytest.exit(why, returncode=EXIT_USAGE)

    def _find_disk_error(self, error: BaseException | None) -> str | None:
        """Return a message about an error if writing the run folder caused the error, or None for any other error."""
        while error is not None:
            if isinstance(error, FolderError):
                return str(error)
            if isinstance(error, OSError) and self._concerns_run_folder(error):
                return str(FolderError.from_os_error(self.run.folder, error))
            error = error.__cause__ or error.__context__
        return None

    def _concerns_run_folder(self, error: OSError) -> bool:
        """Return whether an error concerns a file in the run folder or the free space on its disk."""
        named = error.filename is not None and str(self.run.folder) in str(error.filename)
        return named or error.errno in FolderError.DISK_ERROR_NUMBERS


def _describe_folder_error(error: BaseException) -> FolderError | None:
    if isinstance(error, FolderError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_describe_folder_error, error.exceptions)), None)
    return None
