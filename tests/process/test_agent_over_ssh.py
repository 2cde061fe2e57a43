"""Runs with an agent that a real ssh starts: a complete run, a connection that breaks during a run, and the example
agent.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqconform_process import ROOT, mqconform, run_json, sut, verdicts
from qm_process import Served, free_port, serve

from benchmarks.agents import EXAMPLE_ON_SERVE
from benchmarks.sshd import Sshd, run_sshd
from harness.attach.attach import (
    JudgeableRuleCounts,
    call_every_agent_verb,
    list_report_lines,
    make_command_control_route,
)
from harness.errors import SutUnavailable

HERE = Path(__file__).parent
PEER_PORT = free_port("0.0.0.0")
REQUESTS = 30
"""The number of requests after which the connection breaks: more than the start of a run needs, and fewer than its
checks need.
"""


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with run_sshd(tmp_path_factory.mktemp("ssh") / "sshd") as made:
        yield made


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    flags = ("--address", "127.0.43.1", "--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0")
    told = f"[remote]\ntcp_port = {PEER_PORT}\n"
    with serve(tmp_path_factory.mktemp("serve"), *flags, "--control", "127.0.43.1:0", toml=told) as served:
        yield served


def described(folder: Path, system: Served, over: Sshd, agent: Path, *more: str) -> Path:
    """Write a SUT file for a system whose agent, started through ssh, forwards all requests to the system's control
    channel.
    """
    command = over.command(sys.executable, "-S", "-E", str(agent), system.bound["control"], *more)
    address, tcp_port = system.endpoint("tcp")
    return sut(
        folder,
        f'[sut]\nname = "far"\n[driver]\nkind = "external"\naddress = "{address}"\ntcp_port = {tcp_port}\n'
        f'ping_port = {system.endpoint("ping")[1]}\npeer_address = "127.0.43.2"\n'
        f"peer_tcp_port = {PEER_PORT}\n"
        f'[control]\nkind = "stdio"\ncommand = {json.dumps(command)}\n[capabilities]\nping = true\n',
    )


def test_run_continues_over_new_connection_after_connection_loss(tmp_path: Path, system: Served, over: Sshd) -> None:
    """The run ends when its ssh connection breaks, and a second run with ``--resume`` and the example agent judges the
    remaining checks.
    """
    out = tmp_path / "run"
    run = ("run", "--select", "MQQB-3.1.5.8.1", "-k", "repeated", "--out", out)
    broken = mqconform(*run, "--sut", described(tmp_path, system, over, HERE / "relaying_agent.py", str(REQUESTS)))
    assert broken.returncode == 2
    why = run_json(out)["aborted"]
    assert "ended with exit status 255" in why
    assert "control.log" in why
    assert "\n" not in why
    assert why in broken.stdout + broken.stderr
    before = verdicts(out)
    assert {line["verdict"] for line in before} >= {"pass"}

    mended = mqconform(*run, "--sut", described(tmp_path, system, over, EXAMPLE_ON_SERVE), "--resume")
    after = verdicts(out)
    assert after[: len(before)] == before, "nothing that was recorded is lost"
    assert len(after) > len(before)
    bad = [line for line in after if line["verdict"] in ("fail", "harness_error", "inconclusive")]
    assert not [line for line in bad if line["verdict"] != "inconclusive"], mended.stdout
    in_progress = [line["test"] for line in before if line["test"]][-1]
    assert {line["test"] for line in bad} <= {in_progress}
    assert run_json(out)["aborted"] is None
    assert "closed by remote host" in (out / "control.log").read_text()


def test_example_agent_works_over_ssh(over: Sshd) -> None:
    agent = over.command(sys.executable, "-S", "-E", str(ROOT / "examples" / "agent" / "agent.py"))
    found = call_every_agent_verb(make_command_control_route(shlex.join(agent)), "ssh", None)
    assert found.matches_announced_facilities, list(list_report_lines(found, JudgeableRuleCounts(0, 0, {}, {}, "")))


def test_refused_ssh_key_gives_one_line_error(tmp_path: Path, over: Sshd) -> None:
    agent = Sshd(over.folder, over.port).command("true")
    agent[agent.index("-i") + 1] = str(over.folder / "host")
    with pytest.raises(SutUnavailable, match=r"ended with exit status 255: .*Permission denied \(publickey"):
        call_every_agent_verb(make_command_control_route(shlex.join(agent)), "ssh", None)
