"""Find the release of Windows whose behavior is expected from a SUT, and the RPC methods that this release does not
have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ConformanceFailure
from harness.rules.releases import RELEASES, Release

if TYPE_CHECKING:
    from harness.sut.sut import Sut

QM2QM_METHODS_OF_LATER_RELEASES = frozenset(
    {"RemoteQmGetVersion", "RemoteQMStartReceive2", "RemoteQMStartReceiveByLookupId"}
)
"""The methods that Windows NT and Windows 2000 do not have (MS-MQQP notes <2>, <21>, <25>, <27>)."""


class LackedByRelease(ConformanceFailure):
    """Raised when a check needs a method that, according to a product note, the SUT's release does not have."""


def find_release(sut: Sut) -> Release:
    """Return the Windows release whose behavior the checks expect from a SUT."""
    return RELEASES[sut.file.sut.profile]


def does_release_lack_method(sut: Sut, name: str) -> bool:
    """Return whether the release of a SUT lacks a method."""
    return name in QM2QM_METHODS_OF_LATER_RELEASES and not find_release(sut).has_later_qm2qm_methods
