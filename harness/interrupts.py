"""Ctrl-C while a command holds changes that must be undone: an exception, and one line at its end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.exit_codes import EXIT_INTERRUPTED

Handlers = dict[signal.Signals, Any]


def raise_on(signals: Iterable[signal.Signals]) -> Handlers:
    """Let signals raise KeyboardInterrupt; return the handlers before. Ignored signals stay ignored."""
    wanted = [each for each in signals if signal.getsignal(each) not in (signal.SIG_IGN, None)]  # None: not Python's
    return {each: signal.signal(each, signal.default_int_handler) for each in wanted}


def restore(handlers: Handlers) -> None:
    """Handle signals as before."""
    for each, handler in handlers.items():
        signal.signal(each, handler)


@contextmanager
def unwound() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt within, so that changes are undone; then end with one line."""
    handlers = raise_on([signal.SIGINT])
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("mqconform: interrupted\n")
        raise SystemExit(EXIT_INTERRUPTED) from None
    finally:
        restore(handlers)
