"""Work on few lines is done at once: Spark plans on one core, and has tasks for less."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FEW = 250_000
"""Lines of verdicts that are few: what is done side by side is in memory side by side."""


def do(lines: int, *parts: Callable[[], object]) -> None:
    """Do the parts of a work on so many lines, side by side when they are few."""
    if lines > FEW:
        # Ctrl-C reaches the main thread alone: what takes minutes is done there.
        for part in parts:
            part()
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        for future in [pool.submit(part) for part in parts]:
            future.result()
