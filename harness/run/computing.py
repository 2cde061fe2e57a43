"""A bound for what a check in virtual time computes: there nothing else ends a core that computes without an end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import Endless

CHECK_CPU_S = 20.0
"""Of the processor, not of the clock: a busy machine takes nothing from it. The longest check needs less than one."""


@contextmanager
def bounded_computing(seconds: float = CHECK_CPU_S) -> Iterator[None]:
    """Raise Endless within what computes longer than that, again and again until it ends. In the main thread only."""

    def end(*_: object) -> None:
        raise Endless(f"no end after {seconds:.0f} s of computing")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
