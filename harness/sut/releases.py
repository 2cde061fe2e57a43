"""The release of Windows that a SUT is held to, and what a check finds that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ConformanceFailure
from harness.rules.releases import RELEASES, Release

if TYPE_CHECKING:
    from harness.sut.sut import Sut

LATER_METHODS = frozenset({"RemoteQmGetVersion", "RemoteQMStartReceive2", "RemoteQMStartReceiveByLookupId"})
"""Those that NT and 2000 lack (MS-MQQP notes <2>, <21>, <25>, <27>)."""


class LackedByRelease(ConformanceFailure):
    """A step of a check asks for what the release of the SUT does not have, and a product note says so."""


def release_of(sut: Sut) -> Release:
    """Return the release that a SUT is held to."""
    return RELEASES[sut.file.sut.profile]


def lacks_method(sut: Sut, name: str) -> bool:
    """Return whether the release of a SUT has no such method."""
    return name in LATER_METHODS and not release_of(sut).later_methods
