"""Runs ``mqconform`` and ``pytest suites`` as processes, and reads the run folders that they write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patience import PATIENCE_S, run_watched
from warm import carry_out

from harness.capture.packets import CapturedPackets, PacketForReaders, PacketNamedByVerdict
from harness.judging.verdicts import read_verdicts
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

ROOT = Path(__file__).parents[2]
MQCONFORM = [sys.executable, "-m", "mqconform"]
PYTEST = [sys.executable, "-m", "pytest"]
STARTED = 'kind = "process"\n'
FEW = "MQQB-2.2.1-03"
"""A rule that three checks judge."""
NO_CELLS = ("-k", "not follows_its_states")
"""Options that omit the checks of states.toml, of which there is one for each cell."""
ENDED = "-- ended with "
"""The beginning of the line that follows the output of each command of `several`."""
SEVERAL = f"""
import json, sys
from mqconform.command import main

for words in json.loads(sys.argv[1]):
    sys.argv = ["mqconform", *words]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    for stream in (sys.stdout, sys.stderr):
        print(f"{ENDED}{{code}}", file=stream, flush=True)
"""

Lines = list[dict[str, Any]]
"""The type of the verdicts of a run: lines of verdicts.jsonl."""


@dataclass(frozen=True)
class Ran:
    """A finished run: its folder, its exit code and its output."""

    folder: Path
    code: int
    said: str


def sut(folder: Path, text: str = VIRTUAL_SUT_FILE_TEXT, name: str = "sut.toml") -> Path:
    """Write a SUT file. Unless the file sets a limit, a started program may take any time to start."""
    path = folder / name
    if "start_timeout_s" not in text:
        text = text.replace(STARTED, f"{STARTED}start_timeout_s = {PATIENCE_S}\n")
    path.write_text(text, encoding="utf-8")
    return path


def started_program(
    folder: Path,
    *before: str,
    addresses: tuple[str, str],
    script: str = "peer_told_queue_manager.py",
    driver: str = "",
    tables: str = "",
    **ports: int,
) -> Path:
    """Return a SUT file with a program whose command contains every port; ports that are not given are free ports.

    ``before``: words before those of the program; ``addresses``: the addresses of the program and of the peer;
    ``driver``: further keys of the table ``[driver]``; ``tables``: further tables.
    """
    given = dict.fromkeys(("tcp", "ping", "rpc", "peer_tcp", "peer_ping", "peer_rpc"), 0) | ports
    control = given.pop("control", 0)
    lines = "".join(f"{name}_port = {port}\n" for name, port in given.items())
    told = ["{peer_tcp_port}", "{peer_ping_port}", "{peer_rpc_port}"] if script.startswith("peer_told") else []
    words = [
        *(*before, "{python}", str(Path(__file__).parent / script), *told, "--address", "{address}"),
        *("--tcp-port", "{tcp_port}", "--ping-port", "{ping_port}", "--rpc-port", "{rpc_port}"),
        *("--control", "127.0.0.1:{control_port}"),
    ]
    own, peer = addresses
    return sut(
        folder,
        f'[sut]\nname = "contoso"\n[driver]\nkind = "process"\naddress = "{own}"\npeer_address = "{peer}"\n{lines}'
        f'command = {json.dumps(words)}\n{driver}[control]\nkind = "jsonl"\naddress = "127.0.0.1:{control}"\n'
        f"{tables}[capabilities]\nping = true\n",
    )


def command(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a process to its end. Of the environment of this process, it gets only PATH and HOME."""
    return run_watched(arguments, folder=_run_folder(arguments, cwd), cwd=cwd, env=own_environment() | environment)


def own_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def _run_folder(arguments: Sequence[object], cwd: Path) -> Path | None:
    """Return the folder to which a command writes its run."""
    return cwd / str(arguments[arguments.index("--out") + 1]) if "--out" in arguments else None


def mqconform(
    *arguments: object, cwd: Path = ROOT, limits: Mapping[int, int] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of mqconform to its end like `command`, but in a fork that saves the time of the imports.

    ``limits``: the maximum of each resource that the process may use.
    """
    return carry_out("mqconform", arguments, cwd, own_environment(), _run_folder(arguments, cwd), limits)


def held_up(checks: int, go: Path) -> dict[str, str]:
    """Return environment variables with which each process of a run waits in its check number ``checks`` until the file
    ``go`` exists.
    """
    paths = (Path(__file__).parent, Path(__file__).parents[1])
    plugin = {"PYTEST_PLUGINS": "held_up", "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return os.environ | plugin | {"MQ_HOLD": f"{checks}:{go}"}


def several(
    *commands: Sequence[object], cwd: Path = ROOT, python: Path = Path(sys.executable), **environment: str
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands of mqconform one after the other in one process, with another Python or another environment."""
    words = [[str(each) for each in one] for one in commands]
    done = command(python, "-c", SEVERAL, json.dumps(words), cwd=cwd, **environment)
    said = [_apart(stream) for stream in (done.stdout, done.stderr)]
    assert done.returncode == 0, done.stderr
    assert len(said[0]) == len(said[1]) == len(words), done.stdout + done.stderr
    return [
        subprocess.CompletedProcess(one, code, out, err)
        for one, (out, code), (err, _) in zip(words, *said, strict=True)
    ]


def _apart(text: str) -> list[tuple[str, int]]:
    """Split the output of several commands on one stream into the output and the exit code of each command."""
    found, said = [], ""
    for line in text.splitlines(keepends=True):
        if line.startswith(ENDED):
            found.append((said, int(line.removeprefix(ENDED))))
            said = ""
        else:
            said += line
    return found


def complaint(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """Return the one-line message of a process that refused its input."""
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said
    lines = [line for line in said.splitlines() if line.startswith(("ERROR: ", "mqconform: "))]
    assert len(lines) == 1, said
    return lines[0]


def copy_packages(folder: Path, *packages: str) -> None:
    """Copy packages of the project with their bytecode; skip files that another process is writing."""
    for package in packages:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("*.pyc.*"))


def verdicts(folder: Path) -> Lines:
    return list(read_verdicts(folder / "verdicts.jsonl"))


def run_json(folder: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return tree


def judged(folder: Path) -> Counter[tuple[str, str, str]]:
    """Return the verdicts of a run without the time and the number of each line."""
    return Counter((line["test"], line["rule"], line["verdict"]) for line in verdicts(folder))


def unfounded(folder: Path, lines: Lines | None = None) -> list[str]:
    """Return the verdicts whose evidence (a frame, or bytes of a frame) is missing in their capture."""
    captures: dict[str, CapturedPackets] = {}
    wrong = []
    for line in verdicts(folder) if lines is None else lines:
        name = line["capture"]
        for each in line["evidence"]:
            captures[name] = captures.get(name) or CapturedPackets(folder / name)
            sizes = {packet.frame: len(packet.data) for packet in captures[name].packets}
            first, last = (0, 0) if each["first"] is None else (each["first"], each["last"])
            if not 0 <= first <= last < sizes.get(each["frame"], 0):
                wrong.append(f"{line['seq']}: {name} {each}")
    return wrong


def evidence(folder: Path, line: dict[str, Any]) -> list[PacketForReaders]:
    """Return the packets that a verdict names as evidence."""
    wanted = [PacketNamedByVerdict(one["frame"], one["first"], one["last"]) for one in line["evidence"]]
    return CapturedPackets(folder / line["capture"]).show(wanted) if wanted else []
