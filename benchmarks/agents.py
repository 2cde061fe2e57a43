"""Provides agents that control the reference. A run starts these agents through ssh, as on a remote machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from harness.paths import SUITES

ROOT = SUITES.parent
WINDOWS_AGENT = ROOT / "harness" / "windows" / "MsmqAgent.cs"
ON_MONO = ROOT / "tests" / "windows" / "ServeOnMono.cs"
REFERENCES = ("System.Messaging", "Mono.Messaging", "System.Transactions", "System.ServiceProcess")
COMPILE = ["mcs", "-langversion:5", "-warn:4", "-warnaserror", *(f"-r:{name}" for name in REFERENCES)]
COMPILE_S = 120
EXAMPLE_ON_SERVE = Path(__file__).parent / "example_on_serve.py"


def compile_on_mono(folder: Path) -> Path:
    """Compile the Windows agent with a replacement of System.Messaging that uses `mqconform serve`. Return the path
    of the program.
    """
    made = folder / "AgentOnMono.exe"
    build = [*COMPILE, f"-out:{made}", "-main:Mqconform.OnMono.Entry", str(WINDOWS_AGENT), str(ON_MONO)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=COMPILE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr
    return made


def build_windows_agent_command(folder: Path, control: str) -> list[str]:
    """Return the command that runs the Windows agent on Mono. The agent uses the queues of the serve process whose
    control channel has the given address.
    """
    assert shutil.which("mcs"), "mono-mcs is not installed (scripts/setup.sh)"
    return ["env", f"MQCONFORM_SERVE={control}", "mono", str(compile_on_mono(folder.resolve()))]


def build_example_agent_command(folder: Path, control: str) -> list[str]:
    """Return the command that runs the example agent in the form that forwards requests to serve instead of using
    its toy queues.
    """
    return [sys.executable, "-S", "-E", str(EXAMPLE_ON_SERVE), control]


AGENTS: dict[str, Callable[[Path, str], list[str]]] = {
    "example": build_example_agent_command,
    "windows": build_windows_agent_command,
}
"""For each agent name, a function that returns the command of the agent, given a folder for its files and the
address of serve's control channel.
"""
