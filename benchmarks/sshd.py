"""Runs a real sshd on loopback, with its keys in a folder, and without the configuration of the machine."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.sut.free_ports import free_port

SSHD = "/usr/sbin/sshd"
START_TIMEOUT_S = 20
MAX_STARTUPS = 100
"""The maximum number of unauthenticated connections. It is high, because all workers of a run connect at the same
time.
"""


@dataclass(frozen=True)
class Sshd:
    """A running sshd."""

    folder: Path
    port: int

    def command(self, *words: str) -> list[str]:
        """Return the ssh command that runs a command through this sshd, without prompts."""
        options = {
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(self.folder / "known_hosts"),
            "Port": str(self.port),
        }
        told = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        return ["ssh", "-F", "none", "-i", str(self.folder / "user"), *told, "127.0.0.1", *words]


@contextlib.contextmanager
def run_sshd(folder: Path) -> Iterator[Sshd]:
    """Run an sshd as the user of this process. The sshd accepts the key in the folder."""
    folder.mkdir()
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # root's sshd requires it, and a service manager usually creates it
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    port = free_port("127.0.0.1", socket.SOCK_STREAM)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    config = {
        "ListenAddress": "127.0.0.1",
        "Port": port,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "AllowUsers": getpass.getuser(),
        "MaxStartups": MAX_STARTUPS,
    }
    (folder / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    with (
        (folder / "sshd.log").open("wb") as log,
        subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=log) as process,
    ):
        try:
            assert _listens(port, process), (folder / "sshd.log").read_text()
            yield Sshd(folder, port)
        finally:
            process.terminate()


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    for _ in range(START_TIMEOUT_S * 20):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            return False
    return False
