"""Handle errors in the teardown of a check. If the teardown fails, the rules of the check get a verdict whose
reason describes the failure in one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.errors import ConformanceFailure, FolderError, SutUnavailable
from harness.judging.verdicts import Verdict
from harness.run.stash import JUDGE_KEY
from harness.sut.shown import NotShown

ERRORS_CAUSED_BY_SYSTEM = (ConformanceFailure, SutUnavailable)
"""The types of errors that the system causes. Other errors are bugs in the harness."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Any:
    """If the teardown of a check fails, record a verdict, which makes the run fail."""
    try:
        return (yield)
    except Exception as error:
        causes = list(list_raised_exceptions(error))
        for cause in causes:
            if isinstance(cause, FolderError):  # no further check can be judged
                raise cause from None
        if JUDGE_KEY not in item.stash:
            raise
        # A SUT that does not show a value cannot fail because of this value.
        if all(isinstance(one, NotShown) for one in causes):
            item.stash[JUDGE_KEY].end_unobservable(f"the check could not be ended: {causes[0]}")
            return None
        said = "; ".join(f"{type(one).__name__}: {one}" for one in causes)
        theirs = all(isinstance(one, ERRORS_CAUSED_BY_SYSTEM) for one in causes)
        reason = f"the check could not be ended: {' '.join(said.split())}"
        item.stash[JUDGE_KEY].abort_check(reason, Verdict.INCONCLUSIVE if theirs else Verdict.HARNESS_ERROR)
        raise pytest.fail.Exception(reason, pytrace=False) from None


def list_raised_exceptions(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions that were raised. If an exception is a group, yield its parts one by one."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from list_raised_exceptions(part)
    else:
        yield error
