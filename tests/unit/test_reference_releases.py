"""The reference configured as a Windows release: the table of behaviours, their product notes, and the
configuration.
"""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from harness.errors import UsageError
from harness.rules.catalogue import load_catalogue, load_index
from harness.rules.errata import load_errata
from harness.rules.product_notes import REASON_BY_VALUE_WITHOUT_CONFIGURATION, ProductNote
from harness.rules.releases import RELEASES
from harness.sut.releases import QM2QM_METHODS_OF_LATER_RELEASES
from harness.sut.sut_file import parse_sut_file
from reference_qm.config import QueueManagerConfig
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import find_replaced_part
from reference_qm.releases import remote
from reference_qm.releases.names import KNOWN_RELEASES, WINDOWS_RELEASES, parse_releases
from reference_qm.releases.table import (
    BEHAVIOUR_BY_NAME,
    adapt_config_to_release,
    get_config_presets,
    get_parts_that_imitate_release,
    get_release_behaviours,
)
from reference_qm.shell.settings import ServeSettings, load_settings
from reference_qm.shell.toml_values import SettingsError
from reference_qm.surface.entropy import SeededEntropy

CONFIG = QueueManagerConfig(UUID(int=1))
FLAGS = dict.fromkeys(("--release", "--control"))


def notes() -> list[ProductNote]:
    return [note for of_document in load_catalogue().notes.by_document.values() for note in of_document.values()]


def configured(note: ProductNote) -> set[str]:
    """Return the behaviours that the reference shows because of a product note."""
    return {name for name in note.reference if name.partition(":")[0] not in REASON_BY_VALUE_WITHOUT_CONFIGURATION}


def test_every_product_note_has_behaviors_or_a_reason() -> None:
    of_errata = {name: one.erratum for name, one in BEHAVIOUR_BY_NAME.items() if one.erratum is not None}
    assert {name for note in notes() for name in configured(note)} == BEHAVIOUR_BY_NAME.keys() - of_errata
    assert set(of_errata.values()) <= load_errata(load_index()).keys()
    unconfigured = [note for note in notes() if not configured(note)]
    assert len(notes()) == 193
    assert {
        note.reference[0].partition(":")[0] for note in unconfigured
    } == REASON_BY_VALUE_WITHOUT_CONFIGURATION.keys()


def test_reference_release_shows_each_excused_behaviour() -> None:
    """The reference configured as a release shows each deviation that a note excuses, except deviations that need a
    missing feature or that the reference always shows.
    """
    for note in filter(configured, notes()):
        does = set(
            parse_releases([written for name in configured(note) for written in BEHAVIOUR_BY_NAME[name].releases])
        )
        assert does == set(note.excused) if note.excuses else does <= set(note.releases), note.name


def test_reference_releases_equal_the_known_profiles() -> None:
    assert tuple(RELEASES) == KNOWN_RELEASES
    assert get_release_behaviours("none") == {}
    assert adapt_config_to_release("none", CONFIG) == CONFIG
    assert remote.METHODS_ADDED_BY_LATER_RELEASES == QM2QM_METHODS_OF_LATER_RELEASES


@pytest.mark.parametrize("release", WINDOWS_RELEASES)
def test_a_queue_manager_of_each_release_has_its_parts_and_the_version_of_its_profile(release: str) -> None:
    installation = QueueManagerInstallation(
        adapt_config_to_release(release, CONFIG),
        SeededEntropy("release"),
        variants=get_parts_that_imitate_release(release),
    )
    core = installation({})
    assert isinstance(core, QueueManager)
    for variant in get_parts_that_imitate_release(release):
        assert any(
            isinstance(part, variant) for part in vars(core).values() if isinstance(part, find_replaced_part(variant))
        )
    if RELEASES[release].has_later_qm2qm_methods:
        assert core.config.version_for_remote_readers == (*RELEASES[release].version, RELEASES[release].first_build)


@pytest.mark.parametrize(
    ("text", "pings", "answers"),
    [
        ("", False, True),
        ('[queue_manager]\nrelease = "windows-xp"\n', True, True),
        ('[queue_manager]\nrelease = "windows-xp"\nsend_ping = false\n', False, True),
        ('[queue_manager]\nrelease = "windows-11"\n', False, False),
        ('[queue_manager]\nrelease = "windows-11"\n[listen]\nping = true\n', False, True),
    ],
)
def test_setting_overrides_preset_of_a_release(tmp_path: Path, text: str, pings: bool, answers: bool) -> None:
    config = settings(tmp_path, text).config
    assert (config.send_ping, config.answer_pings) == (pings, answers)


@pytest.mark.parametrize(
    ("text", "validated"),
    [
        ("", False),
        ("[queue_manager]\nvalidate_host_names = true\n", True),
        ('[queue_manager]\nrelease = "windows-nt"\n', True),
        ('[queue_manager]\nrelease = "windows-11"\n', True),
        ('[queue_manager]\nrelease = "windows-11"\nvalidate_host_names = false\n', False),
    ],
)
def test_windows_validates_host_names_unless_that_is_switched_off(tmp_path: Path, text: str, validated: bool) -> None:
    assert settings(tmp_path, text).config.validate_host_names is validated


def test_release_flag_of_serve_accepts_known_releases_only(tmp_path: Path) -> None:
    found = settings(tmp_path, "", "windows-server-2003")
    assert found.release == "windows-server-2003"
    assert found.config.long_live_time_s == get_config_presets("windows-server-2003")["long_live_time_s"] == 90 * 86_400
    with pytest.raises(SettingsError, match=r"--release.*must be one of none, windows-nt, windows-2000"):
        settings(tmp_path, "", "windows-12")


def test_unknown_release_of_a_sut_file_is_refused_with_a_list_of_known_releases() -> None:
    tree = {"sut": {"name": "x"}, "driver": {"kind": "virtual"}, "reference": {"release": "windows-95"}}
    with pytest.raises(UsageError, match=r"unknown reference\.release 'windows-95'; known: none, windows-nt, "):
        parse_sut_file(tree)


def settings(tmp_path: Path, text: str, release: str | None = None) -> ServeSettings:
    file = tmp_path / "qm.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file, FLAGS | {"--release": release}, SeededEntropy("settings"))
