"""Provides the reference in the two forms in which a run meets real systems: a program that another program has
started, or a program that each worker starts.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from benchmarks.agents import AGENTS
from benchmarks.sshd import run_sshd
from harness.sut.free_ports import find_free_rpc_port, free_port
from harness.sut.provisioning import write_provisions
from harness.sut.sut_file import (
    BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_IDENTIFIER,
    PEER_PUBLIC_QUEUE,
    UNUSED_ADDRESS,
    load_sut_file,
)
from harness.sut.virtual_directory import FAR_COMPUTER_NAME, PEER_MACHINE_NAME
from harness.sut.worker_configurations import MAX_WORKERS, build_worker_configurations

LIMITED = "queue_control,send,receive,transactions,pause,restart"
CAPABILITIES = (
    *("ping", "ping_initiator", "private_names", "public_names", "security", "qm2qm"),
    *("subqueues", "several_queues"),
)
IN_A_DIRECTORY = (*(name for name in CAPABILITIES if name != "security"), "directory")
OWN_IDENTIFIER = UUID("6d71636f-6e66-4f72-8d00-0000000000e0")
"""The identifier of the system in scenarios whose directory must know the identifier before the system starts."""
ADDRESS, PEER_ADDRESS = "127.0.22.1", "127.0.0.2"
STARTED_ADDRESS, STARTED_PEER_ADDRESS = "127.0.23.1", "127.0.23.2"
QUEUES = {
    "plain": "private$\\mqc-plain-{worker}",
    "transactional": "private$\\mqc-tx-{worker}",
    "admin": "private$\\mqc-admin-{worker}",
}
STUTTER = Path(__file__).parents[1] / "tests" / "process" / "stutter.py"
STOPPED_S, EVERY_S = 3.6, 4.0
AGENT_MS = 60_000
"""The longest answer time in ms of an agent that shares two cores with many others."""
START_TIMEOUT_S = 600
"""The longest time in s that a system needs to start while many other systems start."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A way to reach the system. ``facilities``: the facilities of the system's control channel, or None without a
    channel. ``agent``: one of ``AGENTS``, which is reached by ssh.
    """

    name: str
    facilities: str | None
    workers: int
    runs: int = 1
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class StartedScenario:
    """A scenario in which each worker has its own system with all facilities. ``stutters``: whether the system is
    paused most of the time. ``directory``: whether the system is integrated with a directory and knows no keys.
    """

    name: str
    workers: int
    stutters: bool = False
    directory: bool = False
    runs: int = 1


def serve_scenario(scenario: Scenario | StartedScenario, folder: Path) -> contextlib.AbstractContextManager[Path]:
    """Serve the reference for a scenario, and yield the SUT file."""
    folder.mkdir(parents=True, exist_ok=True)
    return _serve_system(scenario, folder) if isinstance(scenario, Scenario) else _start_by_run(scenario, folder)


@contextlib.contextmanager
def _serve_system(scenario: Scenario, folder: Path) -> Iterator[Path]:
    """Start one process of the system independently of the run."""
    ports = _free_ports(PEER_ADDRESS)
    queues = "".join(
        f"[[queues]]\nname = '{name.format(worker=number)}'\ntransactional = {str(kind == 'transactional').lower()}\n"
        for number in range(MAX_WORKERS)
        for kind, name in QUEUES.items()
    )
    config = _configure(folder, "qm", ADDRESS, PEER_ADDRESS, ports, "" if scenario.facilities else queues)
    options = ["--config", str(config), "--address", ADDRESS, "--tcp-port", "0", "--ping-port", "0"]
    options += ["--rpc-port", "0", "--control", "127.0.0.1:0"]
    options += ["--facilities", scenario.facilities] if scenario.facilities else []
    command = [sys.executable, "-m", "reference_qm", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, contextlib.ExitStack() as stack:
        stack.callback(process.terminate)
        assert process.stdout is not None
        bound = dict(part.split("=", 1) for part in process.stdout.readline().split()[1:])
        driver = "".join(f"{name}_port = {bound[name].rpartition(':')[2]}\n" for name in ports)
        control = f'[control]\nkind = "jsonl"\naddress = "{bound["control"]}"\n' if scenario.facilities else ""
        if scenario.agent:
            over = stack.enter_context(run_sshd(folder / "sshd"))
            agent = over.command(*AGENTS[scenario.agent](folder, bound["control"]))
            patience = f"[timeouts]\ncontrol_ms = {AGENT_MS}\n"
            control = f'[control]\nkind = "stdio"\ncommand = {json.dumps(agent)}\n{patience}'
        named = "[queues]\n" + "".join(f"{kind} = '{name}'\n" for kind, name in QUEUES.items())
        driver = f'kind = "external"\naddress = "{ADDRESS}"\nstart_timeout_s = {AGENT_MS // 1_000}\n{driver}'
        yield _sut_file(folder, scenario.name, driver, ports, control or named)


@contextlib.contextmanager
def _start_by_run(scenario: StartedScenario, folder: Path) -> Iterator[Path]:
    """Write a SUT file that makes the run start its systems, one for each worker."""
    ports = _free_ports(STARTED_PEER_ADDRESS)
    command = [sys.executable, str(STUTTER), str(STOPPED_S), str(EVERY_S)] if scenario.stutters else []
    command += [sys.executable, "-m", "reference_qm", "--config", f"{folder.resolve()}/{{worker}}.toml"]
    command += ["--address", "{address}", "--control", "127.0.0.1:{control_port}"]
    command += [part for name in ports for part in (f"--{name}-port", f"{{{name}_port}}")]
    driver = (
        f'kind = "process"\naddress = "{STARTED_ADDRESS}"\npeer_address = "{STARTED_PEER_ADDRESS}"\n'
        + "".join(f"{name}_port = 0\n" for name in ports)
        + f"command = {json.dumps(command)}\nstart_timeout_s = {START_TIMEOUT_S}\n"
    )
    has = IN_A_DIRECTORY if scenario.directory else CAPABILITIES
    sut = _sut_file(folder, scenario.name, driver, ports, '[control]\nkind = "jsonl"\n', has)
    configure = _configure_in_a_directory if scenario.directory else _configure
    for number, configuration in enumerate(build_worker_configurations(load_sut_file(sut), scenario.workers)):
        configure(folder, str(number), configuration.driver.address, configuration.driver.peer_address, ports)
    yield sut


def _free_ports(peer_address: str) -> dict[str, int]:
    """Return free ports for a peer. Peers at different addresses use the same ports."""
    return {
        "tcp": free_port(peer_address, socket.SOCK_STREAM),
        "ping": free_port(peer_address, socket.SOCK_DGRAM),
        "rpc": find_free_rpc_port(peer_address),
    }


def _configure(
    folder: Path, name: str, address: str, peer_address: str, ports: dict[str, int], queues: str = ""
) -> Path:
    """Write the configuration of a queue manager that knows its peer."""
    provisions = write_provisions(folder / f"{name}-keys", PEER_IDENTIFIER, "private$\\mqc-restricted", peer_address)
    remote = "".join(f"{name}_port = {port}\n" for name, port in ports.items())
    config = folder / f"{name}.toml"
    config.write_text(
        f'[queue_manager]\nhost_name = "{address}"\nsend_ping = true\n[remote]\n{remote}{queues}{provisions}'
    )
    return config


def _configure_in_a_directory(folder: Path, name: str, address: str, peer_address: str, ports: dict[str, int]) -> None:
    """Write the configuration of a queue manager whose site also contains its peer. The peer is the gate to a
    second site.
    """
    remote = "".join(f"{each}_port = {port}\n" for each, port in ports.items())
    machines = {
        OWN_IDENTIFIER: ("sut", "sut.example", "here"),
        PEER_IDENTIFIER: (PEER_MACHINE_NAME, peer_address, "here"),
        GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE: (FAR_COMPUTER_NAME, UNUSED_ADDRESS, "there"),
    }
    known = "".join(
        f'[[directory.queue_managers]]\nidentifier = "{identifier}"\ncomputer_name = "{computer}"\n'
        f'qualified_computer_name = "{where}"\nsites = ["{site}"]\nrouting_server = {str(computer != "sut").lower()}\n'
        f'computer_sid = "S-1-5-21-1-2-3-{number}"\n'
        for number, (identifier, (computer, where, site)) in enumerate(machines.items(), 1_700)
    )
    published = "".join(
        f"[[directory.queues]]\nidentifier = '{identifier}'\npathname = '{computer}\\mqc-public'\n"
        f"base_priority = {priority}\n"
        for identifier, computer, priority in (
            (PEER_PUBLIC_QUEUE, PEER_MACHINE_NAME, 0),
            (GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, FAR_COMPUTER_NAME, BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE),
        )
    )
    own = f'identifier = "{OWN_IDENTIFIER}"\nhost_name = "sut.example"\nsend_ping = true\n'
    (folder / f"{name}.toml").write_text(
        f"[queue_manager]\n{own}[remote]\n{remote}"
        '[[directory.sites]]\nname = "here"\n[[directory.sites]]\nname = "there"\n'
        f'[[directory.links]]\nsites = ["here", "there"]\ngates = ["{PEER_MACHINE_NAME}", "{FAR_COMPUTER_NAME}"]\n'
        f"{known}{published}"
    )


def _sut_file(
    folder: Path, name: str, driver: str, peer_ports: dict[str, int], tables: str, has: tuple[str, ...] = CAPABILITIES
) -> Path:
    sut = folder / "sut.toml"
    sut.write_text(
        f'[sut]\nname = "{name}"\n[driver]\n{driver}'
        + "".join(f"peer_{name}_port = {port}\n" for name, port in peer_ports.items())
        + tables
        + "[capabilities]\n"
        + "".join(f"{capability} = true\n" for capability in has)
    )
    return sut
