"""``mqconform windows`` writes the files for a Windows machine, and a SUT file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.windows import (
    SUT_FILE_NAME,
    WINDOWS_FILE_NAMES,
    WINDOWS_FILES_FOLDER,
    build_windows_sut_file,
    write_windows_files,
)
from harness.errors import UsageError
from harness.rules.releases import RELEASES
from harness.sut.sut_file import load_sut_file

ADDRESSES = ("192.0.2.20", "192.0.2.10")


@pytest.mark.parametrize("profile", RELEASES)
def test_windows_command_writes_a_sut_file_with_an_agent_over_ssh(profile: str, tmp_path: Path) -> None:
    write_windows_files(tmp_path / "windows", build_windows_sut_file(*ADDRESSES, profile, "admin@192.0.2.20"))
    file = load_sut_file(tmp_path / "windows" / SUT_FILE_NAME)
    assert (file.driver.address, file.driver.peer_address) == ADDRESSES
    assert (file.sut.profile, file.driver.allow_remote, file.control.kind) == (profile, True, "stdio")
    assert file.control.command[3] == "admin@192.0.2.20"
    assert file.control.command[-1] == "C:\\mqconform\\agent.ps1"
    assert {name for name, there in file.capabilities.items() if there} == {
        "ping",
        "subqueues",
        "several_queues",
    }


def test_windows_sut_file_without_ssh_has_no_control_channel(tmp_path: Path) -> None:
    path = tmp_path / SUT_FILE_NAME
    path.write_text(build_windows_sut_file("127.0.0.1", "127.0.0.2", "windows-10", None), encoding="utf-8")
    file = load_sut_file(path)
    assert (file.control.kind, file.control.command, file.driver.allow_remote) == ("none", (), False)
    assert file.queues.transactional == "private$\\mqc-tx"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("contoso", "192.0.2.10", "none", None), "--address contoso: the value must be an IP address"),
        (("192.0.2.20", '1" or', "none", None), '--peer-address 1" or: the value must be an IP address'),
        ((*ADDRESSES, "windows-95", None), "--profile windows-95: unknown profile; known: none, windows-nt"),
        ((*ADDRESSES, "none", "-oProxyCommand=x"), "--ssh '-oProxyCommand=x': the value must be HOST or USER@HOST"),
        ((*ADDRESSES, "none", "a\nb"), "--ssh 'a\\nb': the value must be HOST or USER@HOST"),
    ],
)
def test_invalid_option_of_windows_files_is_refused_in_one_line(
    arguments: tuple[str, str, str, str | None], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        build_windows_sut_file(*arguments)
    assert str(refused.value).startswith(said)


def test_windows_command_copies_package_files_without_overwriting(tmp_path: Path) -> None:
    write_windows_files(tmp_path, "text")
    for name in WINDOWS_FILE_NAMES:
        assert (tmp_path / name).read_bytes() == (WINDOWS_FILES_FOLDER / name).read_bytes()
    with pytest.raises(UsageError, match="already exists"):
        write_windows_files(tmp_path, "other")
    assert (tmp_path / SUT_FILE_NAME).read_text(encoding="utf-8") == "text"


def test_a_folder_that_cannot_be_made_gives_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written: "):
        write_windows_files(tmp_path / "file" / "below", "text")
