"""Call a function in a pytest session instead of running the collected tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from harness.errors import HarnessError
from harness.exit_codes import EXIT_INTERRUPTED

WorkResult = TypeVar("WorkResult")


def run_function_in_pytest_session(
    arguments: Sequence[str], work: Callable[[pytest.Session], WorkResult], what: str
) -> WorkResult:
    """Collect tests with pytest, and call the function ``work`` with the session; return the result of the
    function. ``what``: the path to collect. The message about a failed collection names this path.
    """
    loop = _CallInsteadOfTests(work)
    if pytest.main([*arguments], [loop]) == EXIT_INTERRUPTED and loop.error is None:
        raise SystemExit(EXIT_INTERRUPTED)  # pytest has printed the reason
    if loop.error is not None:
        raise loop.error
    if not loop.answers:
        raise HarnessError(f"{what} cannot be collected; `pytest {what} --collect-only` shows why")
    answer: WorkResult = loop.answers[0]
    return answer


class _CallInsteadOfTests:
    """A pytest plugin that calls a function when pytest would run the tests."""

    def __init__(self, work: Callable[[pytest.Session], Any]) -> None:
        self.work = work
        self.answers: list[Any] = []
        self.error: BaseException | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Configure pytest to print tracebacks without source code. Its default style fails if a signal handler raised
        the exception.
        """
        config.option.tbstyle = "native"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if excinfo.type is KeyboardInterrupt:
            self.error = excinfo.value

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return True  # the collection failed
        try:
            self.answers.append(self.work(session))
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - raised again when the session has ended
            self.error = error
        return True
