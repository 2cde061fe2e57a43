"""Differences of the releases of Windows, by the product notes of MS-MQQP: by ``[sut] profile`` of the SUT file.

The profile ``none`` is held to the text itself. Differences that a SHOULD permits need no entry: they are warnings,
with the note.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.sut.sut import Sut


@dataclass(frozen=True, slots=True)
class Release:
    """One release. ``version``: pMajor and pMinor; ``first_build``: pBuildNumber that it came out with, None unknown.

    ``spx``: whether it serves SPX, None where it may (notes <3>, <19>).
    ``no_queue_to_cancel``: what RemoteQMCancelReceive returns for a pQueue of 0 (note <17>).
    """

    version: tuple[int, int] = (6, 1)
    first_build: int | None = None
    no_queue_to_cancel: str = "MQ_ERROR_INVALID_PARAMETER"
    spx: bool | None = False


AS_PRINTED = Release(spx=None)
RELEASES = MappingProxyType(
    {
        "none": AS_PRINTED,
        "windows-2000": Release((5, 0), 645, "MQ_ERROR_INVALID_HANDLE", spx=True),
        "windows-xp": Release((5, 1), 1020),
        "windows-server-2003": Release((5, 2), 1716),
        "windows-vista": Release((6, 0), 6000),
        "windows-server-2008": Release((6, 0), 6001),
        "windows-7": Release((6, 1), 6531),
        "windows-server-2008-r2": Release((6, 1), 6531),
        "windows-8": Release((6, 1), 6531),
        "windows-server-2012": Release((6, 1), 6531),
        "windows-10": Release((6, 1), 6531),
        "windows-server-2016": Release((6, 1), 6531),
        "windows-server-2019": Release((6, 1), 6531),
        "windows-server-2022": Release((6, 1), 6531),
    }
)
"""Notes <3>, <17>, <19>, <22> to <24>. Windows 7 and later return 6.1, whatever their version is (<22>, <23>)."""


def release_of(sut: Sut) -> Release:
    """Return the release that a SUT is held to."""
    return RELEASES[sut.file.sut.profile]
