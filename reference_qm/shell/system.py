"""Provides the core with the time and the entropy of the operating system."""

from __future__ import annotations

import os
import time

from reference_qm.surface.clock import Now


def read_clocks() -> Now:
    """Return the current instant: the time in ms on the system's monotonic clock, and the time in s in UTC."""
    return Now(time.monotonic_ns() // 1_000_000, int(time.time()))


class SystemEntropy:
    """A source of random bytes from the operating system."""

    __slots__ = ()

    def token(self, size: int) -> bytes:
        """Return ``size`` random bytes."""
        return os.urandom(size)
