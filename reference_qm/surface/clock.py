"""The time that hosts pass to the core, which reads no clock."""

from __future__ import annotations

from reference_qm.value_object import value_object


@value_object(order=True)
class Now:
    """An instant on the two clocks that the protocol uses.

    ``monotonic_ms`` int ms: the clock of every timer of MS-MQQB 3.1.2, and the "milliseconds since the operating system
    was started" (MS-MQQB 2.2.3.1 TimeStamp). ``utc_s`` int s since 1970-01-01 UTC: the clock of SentTime and of the
    histories.
    """

    monotonic_ms: int
    utc_s: int
