"""Limit the CPU time of a check in virtual time, so that an endless computation in a core ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import EndlessComputation

CHECK_CPU_S = 20.0
"""int s: the limit for the CPU time of a check. The CPU time does not depend on the load of the machine. The
longest check needs less than one second.
"""


@contextmanager
def limit_computing_time(seconds: float = CHECK_CPU_S) -> Iterator[None]:
    """Raise EndlessComputation in the body of this context after ``seconds`` seconds of CPU time, and again after every
    further ``seconds`` seconds until the body ends. This works only in the main thread.
    """

    def raise_endless(*_: object) -> None:
        raise EndlessComputation(f"the computation has not ended after {seconds:.0f} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, raise_endless)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
