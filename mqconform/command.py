"""Provides the entry point of the command ``mqconform``."""

from __future__ import annotations

# Not the module `signal`, which imports other modules: until `main` handles Ctrl-C, a signal prints a traceback.
import _signal as signal  # type: ignore[import-not-found]
import os

from mqconform import prefer_bundled_packages

EXIT_INTERRUPTED = 130
INTERRUPTED_TEXT = "mqconform: interrupted"


def main() -> None:
    """Run the command line of ``mqconform``."""
    end_when_interrupted()
    prefer_bundled_packages()
    from harness.cli.main import main as run_command_line

    run_command_line()


def end_when_interrupted() -> None:
    """Make Ctrl-C end the process immediately instead of raising an exception, which imports and callbacks would print
    or ignore. A command that must undo its changes enables the exception (``harness.interrupts``). Where Ctrl-C is
    ignored, as in a background job of a shell, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    try:
        errors = os.dup(2)  # a copy, because pytest redirects the descriptor later
    except OSError:  # the descriptor is closed
        errors = 2

    def end_process(*_: object) -> None:
        try:
            os.write(errors, f"{INTERRUPTED_TEXT}\n".encode())
        finally:
            os._exit(EXIT_INTERRUPTED)

    signal.signal(signal.SIGINT, end_process)
