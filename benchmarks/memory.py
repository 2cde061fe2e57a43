"""Measures the memory of two processes during a million express messages. Target: at the end, at most a tenth more
memory than after the first tenth of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pairs import Options, run

MESSAGES = 1_000_000
MARKS = (MESSAGES // 10, MESSAGES // 2, MESSAGES)
WANTED = 1.1


def measure() -> Iterator[str]:
    """Send the messages between two processes. Raise AssertionError if the memory of a process grows."""
    outcome = run(Options("queue_managers", MESSAGES, "express", marks=MARKS))
    for name, at_marks in zip(("sender", "receiver"), zip(*outcome.memory, strict=True), strict=True):
        held = ", ".join(f"{size / 2**20:.1f} MiB after {mark:,}" for mark, size in zip(MARKS, at_marks, strict=True))
        grown = at_marks[-1] / at_marks[0]
        yield f"{name}: {held}: {grown:.2f} times (target: at most {WANTED})"
        assert grown <= WANTED, f"the memory of the {name} grows with the messages: {held}"
