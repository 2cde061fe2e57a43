"""Ctrl-C raises an exception where a command must undo changes, and has no effect where it is ignored."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from harness.interrupts import unwind_on_signals
from harness.proof.collecting import collect_checks
from mqconform.command import end_when_interrupted


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stays_ignored_in_a_process_that_ignores_it() -> None:
    """A process that was started with Ctrl-C ignored, such as a background process of a shell, continues to
    ignore it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_when_interrupted()
    with unwind_on_signals():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_interrupt_runs_cleanup_and_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def handler(*_: object) -> None:
        raise AssertionError

    signal.signal(signal.SIGINT, handler)
    undone = []
    with pytest.raises(SystemExit) as ended, unwind_on_signals():
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            undone.append("all")
    assert (ended.value.code, undone) == (130, ["all"])
    assert capsys.readouterr() == ("", "mqconform: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is handler


def test_interrupted_collection_is_not_reported_as_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest, "main", lambda *_: pytest.ExitCode.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        collect_checks(["suites/mqqb"])
