"""MS-MQQP notes <17>, <22> to <24>: the expectations of a SUT whose profile is a Windows release."""

from __future__ import annotations

import pytest

from harness.environment import VirtualEnvironment
from harness.errors import UsageError
from harness.rules.releases import RELEASE_WITHOUT_DEVIATIONS, RELEASES
from harness.sut.releases import find_release
from harness.sut.sut import Sut
from harness.sut.sut_file import parse_sut_file
from reference_qm.releases.names import KNOWN_RELEASES


def sut(profile: str) -> Sut:
    tree = {"sut": {"name": "Contoso", "profile": profile}, "driver": {"kind": "virtual"}}
    ports = {"tcp_port": 1801, "ping_port": 3527}
    return Sut(
        parse_sut_file(tree), VirtualEnvironment(), None, identifier=None, facilities=frozenset(), scale=1, **ports
    )


def test_system_that_is_no_windows_gets_no_product_note() -> None:
    assert find_release(sut("none")) == RELEASE_WITHOUT_DEVIATIONS
    assert RELEASE_WITHOUT_DEVIATIONS.version == (6, 1)


def test_unknown_profile_is_refused_with_known_profiles() -> None:
    with pytest.raises(
        UsageError, match="unknown profile 'windows-server-2020'; known: none, windows-nt, windows-2000, "
    ):
        sut("windows-server-2020")


def test_every_release_that_has_a_name_is_known_as_a_profile() -> None:
    assert tuple(RELEASES) == KNOWN_RELEASES


@pytest.mark.parametrize(("profile", "version"), [("windows-xp", (5, 1)), ("windows-server-2008", (6, 0))])
def test_windows_release_is_judged_by_its_product_notes(profile: str, version: tuple[int, int]) -> None:
    assert find_release(sut(profile)).version == version


def test_releases_since_windows_7_return_qm2qm_version_6_1() -> None:
    later = {name: one.version for name, one in RELEASES.items() if (one.first_build or 0) > 6001}
    assert set(later.values()) == {(6, 1)}
    assert "windows-server-2022" in later


def test_only_windows_nt_and_2000_call_a_missing_queue_an_invalid_handle() -> None:
    odd = [
        name
        for name, one in RELEASES.items()
        if one.status_of_cancel_without_queue != RELEASE_WITHOUT_DEVIATIONS.status_of_cancel_without_queue
    ]
    assert odd == ["windows-nt", "windows-2000"]
