"""Defines the object with which hosts pass the time to the core. The core itself reads no clock."""

from __future__ import annotations

from reference_qm.value_object import value_object


@value_object(order=True)
class Now:
    """An instant on the two clocks that the protocol uses.

    ``monotonic_ms``: the time in ms on the clock of every timer of MS-MQQB 3.1.2, which also counts the
    "milliseconds since the operating system was started" (MS-MQQB 2.2.3.1 TimeStamp). ``utc_s``: the time in s
    since 1970-01-01 UTC, for SentTime and the histories.
    """

    monotonic_ms: int
    utc_s: int
