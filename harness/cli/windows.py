"""The command ``mqconform windows``: write the files that a Windows machine needs, and its SUT file
(docs/windows.md).
"""

from __future__ import annotations

import json
import shutil
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_path_not_to_exist
from harness.errors import UsageError
from harness.rules.releases import RELEASES

WINDOWS_FILES_FOLDER = Path(__file__).resolve().parent.parent / "windows"
WINDOWS_FILE_NAMES = ("agent.ps1", "MsmqAgent.cs", "provision.ps1")
AGENT_FOLDER_ON_WINDOWS = "C:\\mqconform"
"""The agent's folder on the Windows machine; the SUT file names this folder."""
SSH_COMMAND = ("ssh", "-o", "BatchMode=yes")
AGENT_COMMAND = (
    "powershell",
    "-NoProfile",
    "-ExecutionPolicy",
    "Bypass",
    "-File",
    f"{AGENT_FOLDER_ON_WINDOWS}\\agent.ps1",
)
SUT_FILE_NAME = "sut.toml"
CONTROL_TABLE_WITHOUT_AGENT = """\
[control]
kind = "none"                  # no agent: requests of applications cannot be observed
"""
SUT_FILE_TEXT = """\
# A Windows machine that provision.ps1 prepared; see docs/windows.md of mqconform.
[sut]
name = {name}
vendor = "Microsoft"
version = "unknown"            # the Version that provision.ps1 printed
profile = {profile}
[driver]
kind = "external"
address = {address}
allow_remote = {remote}
peer_address = {peer}
[queues]                       # the queues that provision.ps1 creates
plain = 'private$\\mqc-plain'
transactional = 'private$\\mqc-tx'
admin = 'private$\\mqc-admin'
{control}[capabilities]
ping = true                    # provision.ps1 sets the value EnablePingService
qm2qm = false                  # set to true if preflight then reports rpc as ok (docs/windows.md)
subqueues = true
several_queues = true
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""

    @app.command()
    def windows(
        out: Annotated[Path, typer.Option(help="The folder for the files. The folder must be missing or empty.")],
        address: Annotated[str, typer.Option(help="The address of the Windows machine.")] = "192.0.2.20",
        peer_address: Annotated[
            str, typer.Option(help="The address of this machine in the network of the Windows machine.")
        ] = "192.0.2.10",
        profile: Annotated[
            str, typer.Option(help="The release of Windows on the Windows machine.")
        ] = "windows-server-2022",
        ssh: Annotated[
            str | None,
            typer.Option(
                help="USER@HOST of the Windows machine for ssh. If it is missing, the SUT file declares no agent."
            ),
        ] = None,
    ) -> None:
        """Write the files for testing a Windows machine: its agent and set-up scripts, and the SUT file for this
        machine.
        """
        text = build_windows_sut_file(address, peer_address, profile, ssh)
        write_windows_files(out, text)
        names = ", ".join(WINDOWS_FILE_NAMES)
        typer.echo(
            f"copy {names} from {out} to {AGENT_FOLDER_ON_WINDOWS} on the Windows machine; "
            f"{SUT_FILE_NAME} is for this machine"
        )


def build_windows_sut_file(address: str, peer_address: str, profile: str, ssh: str | None) -> str:
    """Return the SUT file of a Windows machine. Raise UsageError for invalid values. ``ssh`` is HOST or USER@HOST,
    or None to test the machine without an agent.
    """
    for option, value in (("--address", address), ("--peer-address", peer_address)):
        try:
            ip_address(value)
        except ValueError:
            raise UsageError(f"{option} {value}: the value must be an IP address") from None
    if profile not in RELEASES:
        raise UsageError(f"--profile {profile}: unknown profile; known: {', '.join(RELEASES)}")
    if ssh is not None and (not ssh or ssh.startswith("-") or not ssh.isprintable()):
        raise UsageError(f"--ssh {ssh!r}: the value must be HOST or USER@HOST")
    return SUT_FILE_TEXT.format(
        name=_quote_toml(profile),
        profile=_quote_toml(profile),
        address=_quote_toml(address),
        remote="false" if ip_address(address).is_loopback else "true",
        peer=_quote_toml(peer_address),
        control=CONTROL_TABLE_WITHOUT_AGENT if ssh is None else _format_agent_table(ssh),
    )


def write_windows_files(out: Path, text: str) -> None:
    """Write the files and the SUT file. Raise UsageError if one of the files exists or cannot be written."""
    require_path_not_to_exist(out, may_be_empty=True)
    with convert_write_errors_to_usage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in WINDOWS_FILE_NAMES:
            shutil.copyfile(WINDOWS_FILES_FOLDER / name, out / name)
        (out / SUT_FILE_NAME).write_text(text, encoding="utf-8")


def _format_agent_table(ssh: str) -> str:
    command = ", ".join(_quote_toml(word) for word in (*SSH_COMMAND, ssh, *AGENT_COMMAND))
    return f'[control]\nkind = "stdio"\ncommand = [{command}]\n'


def _quote_toml(text: str) -> str:
    """Quote a string of printable characters for TOML, whose basic strings have the escapes of JSON."""
    return json.dumps(text)
