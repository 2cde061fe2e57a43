"""The packets of verdicts for reports, which know no protocol: an entry point, so that they import nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.capture.deciding import Says
from harness.capture.packets import CapturedPackets, Shown, Wanted
from harness.errors import MqconformError

Show = Callable[[str, str, str, Sequence[tuple[int, int | None, int | None]]], list[Shown] | str]
"""Gets document and section (``MQMQ-2.2.19.1``), the expectation, the observation, and (frame, first, last) of packets;
returns the packets, or in words why they cannot be shown.
"""


def packets_of(path: Path) -> Show:
    """Return the function that shows the packets of a capture file, which is read at once."""
    try:
        capture = CapturedPackets(path)
    except (MqconformError, OSError) as error:
        why = f"the capture cannot be read: {error}"
        return lambda *_: why

    def show(
        section: str, expected: str, observed: str, wanted: Sequence[tuple[int, int | None, int | None]]
    ) -> list[Shown] | str:
        try:
            return capture.show([Wanted(*one) for one in wanted], Says(section, expected, observed))
        except MqconformError as error:
            return f"the packets of this verdict cannot be shown: {error}"

    return show
