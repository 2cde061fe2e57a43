"""The release of Windows that a SUT is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.rules.releases import RELEASES, Release

if TYPE_CHECKING:
    from harness.sut.sut import Sut


def release_of(sut: Sut) -> Release:
    """Return the release that a SUT is held to."""
    return RELEASES[sut.file.sut.profile]
