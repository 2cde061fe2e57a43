"""Limit the computing time of a check in virtual time, to end a core that computes without end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import Endless

CHECK_CPU_S = 20.0
"""The limit for a check in CPU seconds, so that a busy machine does not reach it. The longest check needs less than one
second.
"""


@contextmanager
def bounded_computing(seconds: float = CHECK_CPU_S) -> Iterator[None]:
    """Raise Endless in the code of this context when it has computed for ``seconds``, and again until the code ends.
    This works only in the main thread.
    """

    def raise_endless(*_: object) -> None:
        raise Endless(f"it still computes after {seconds:.0f} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, raise_endless)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
