"""Handle Ctrl-C in commands whose changes must be undone. Ctrl-C raises an exception, and the command ends with a
one-line message.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.exit_codes import EXIT_INTERRUPTED

SignalHandlers = dict[signal.Signals, Any]


def raise_interrupt_on(signals: Iterable[signal.Signals]) -> SignalHandlers:
    """Make the given signals raise KeyboardInterrupt, and return their previous handlers. A signal that was ignored
    stays ignored.
    """
    # None means that the handler was not installed by Python.
    wanted = [each for each in signals if signal.getsignal(each) not in (signal.SIG_IGN, None)]
    return {each: signal.signal(each, signal.default_int_handler) for each in wanted}


def restore_handlers(handlers: SignalHandlers) -> None:
    """Restore the signal handlers that `raise_interrupt_on` replaced."""
    for each, handler in handlers.items():
        signal.signal(each, handler)


@contextmanager
def unwind_on_signals() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt in the body of this context, so that the body can undo its changes. After an
    interruption, end the command with a one-line message.
    """
    handlers = raise_interrupt_on([signal.SIGINT])
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("mqconform: interrupted\n")
        raise SystemExit(EXIT_INTERRUPTED) from None
    finally:
        restore_handlers(handlers)
