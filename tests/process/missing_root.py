"""A pytest plugin: every check that asks for a queue of the system finds that this prerequisite is missing."""

from __future__ import annotations

from itertools import count

from harness.errors import RootMissing
from harness.sut.own_queues import QueuesOfTest

_NUMBERS = count(1)


def missing(self: QueuesOfTest, kind: str = "plain") -> str:
    """Raise the error that a check raises when the prerequisite is missing, with a different text each time."""
    raise RootMissing(f"made: the {kind} queue is missing, number {next(_NUMBERS)}")


QueuesOfTest.queue = missing  # type: ignore[method-assign] # in the processes of one run
