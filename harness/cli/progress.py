"""Show the progress of a command on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar if standard error is a terminal. Yield the function to call with the finished amount and
    the total amount.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, of: shown.update(task, completed=done, total=of)
