"""Provide the packets of a verdict to the package ``reports``, which loads this module through an entry point.
Therefore ``reports`` itself imports no code that knows the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.capture.deciding import VerdictTexts
from harness.capture.packets import CapturedPackets, PacketForReaders, PacketNamedByVerdict
from harness.errors import MqconformError

EvidencePacketFinder = Callable[
    [str, str, str, Sequence[tuple[int, int | None, int | None]]], list[PacketForReaders] | str
]
"""The type of functions that show the packets of a verdict. The arguments are the document and section
(``MQMQ-2.2.19.1``), the expectation, the observation, and a tuple (frame, first, last) for each packet. The result
is the packets, or the reason why they cannot be shown.
"""


def packets_of(path: Path) -> EvidencePacketFinder:
    """Read a capture file. Return the function that shows packets of this file in a form for readers."""
    try:
        capture = CapturedPackets(path)
    except (MqconformError, OSError) as error:
        why = f"the capture cannot be read: {error}"
        return lambda *_: why

    def show_packets(
        section: str, expected: str, observed: str, wanted: Sequence[tuple[int, int | None, int | None]]
    ) -> list[PacketForReaders] | str:
        try:
            return capture.show(
                [PacketNamedByVerdict(*one) for one in wanted], VerdictTexts(section, expected, observed)
            )
        except MqconformError as error:
            return f"the packets of this verdict cannot be shown: {error}"

    return show_packets
