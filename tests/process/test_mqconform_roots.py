"""Runs with a missing prerequisite: no rule fails because of it, and the result names the root cause once, before the
verdicts.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mqconform_process import MQCONFORM, ROOT, command, mqconform, run_json, sut, verdicts
from qm_process import COMMAND, free_port, serve

HEAD = "fix this first: "
FAKED = {"PYTEST_PLUGINS": "missing_root", "PYTHONPATH": os.pathsep.join(map(str, [Path(__file__).parent, ROOT]))}
SUT, PEER = "127.0.77.1", "127.0.77.2"
FORWARDED = [sys.executable, str(Path(__file__).parent / "forwarded_queue_manager.py")]
CHOSEN = (
    "acknowledgment_bit_enables and arrived-express or named_alone "
    "or repeated_message_is_discarded and express or closing_session_closes_connection"
)
"""Selects checks that wait for acknowledgments and copies, and checks that need no message of the system."""
QUEUES = ("plain", "tx", "admin")


@contextlib.contextmanager
def system(
    folder: Path,
    *,
    control: bool,
    connects_to: int | None = None,
    command: Sequence[str] = COMMAND,
    plain: str = "plain",
    qm2qm: bool = True,
) -> Iterator[Path]:
    """Run a queue manager; yield a SUT file for it.

    ``connects_to``: the port at which the queue manager looks for the peer, by default the right port; ``plain``: the
    queue that the SUT file names as ``plain``; ``qm2qm``: whether a remote reader can read queues.
    """
    port = free_port(SUT, PEER)
    flags = ("--address", SUT, "--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0", "--control", f"{SUT}:0")
    queues = "".join(
        f"[[queues]]\nname = 'private$\\mqc-{name}'\ntransactional = {str(name == 'tx').lower()}\n" for name in QUEUES
    )
    toml = f"[remote]\ntcp_port = {connects_to or port}\n{queues}"
    with serve(folder, *flags, toml=toml, command=command) as served:
        ports = "".join(f"{name}_port = {served.endpoint(name)[1]}\n" for name in ("tcp", "ping", "rpc"))
        channel = f'[control]\nkind = "jsonl"\naddress = "{served.bound["control"]}"\n' if control else ""
        yield sut(
            folder,
            f'[sut]\nname = "contoso"\n[driver]\nkind = "external"\naddress = "{SUT}"\npeer_address = "{PEER}"\n{ports}'
            f"peer_tcp_port = {port}\npeer_ping_port = {free_port(PEER)}\npeer_rpc_port = {free_port(PEER)}\n{channel}"
            f"[queues]\nplain = 'private$\\mqc-{plain}'\ntransactional = 'private$\\mqc-tx'\n"
            f"admin = 'private$\\mqc-admin'\n[capabilities]\nqm2qm = {str(qm2qm).lower()}\nseveral_queues = true\n",
        )


def judged_by(path: Path, *chosen: object) -> str:
    """Run checks; return the first line of the result. No rule may fail, and the verdicts that depend on the root cause
    must name it.
    """
    folder = path.parent / "run"
    done = mqconform("run", "--sut", path, "--out", folder, *chosen)
    lines = verdicts(folder)
    assert [line for line in lines if line["verdict"] in ("fail", "warn", "harness_error")] == []
    assert done.returncode == 1, done.stdout + done.stderr
    roots = run_json(folder)["roots"]
    resting = [line for line in lines if line["verdict"] == "inconclusive"]
    assert resting
    assert all(any(root["said"] in line["reason"] for root in roots) for line in resting)
    assert {line["verdict"] for line in lines} >= {"pass", "inconclusive"}, "what rests on nothing missing is judged"
    assert len(roots) == 1, roots
    again = f"correct sut.toml or the system, and then run: mqconform run -k {shlex.quote(str(chosen[1]))} --sut {path}"
    assert again in done.stdout
    assert f"--out {folder}-2\n" in done.stdout, "what was judged already would not be judged again there"
    assert "--resume" not in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("contoso unknown: "), "the last line counts rules by verdict, not checks that broke off"
    assert "inconclusive" in last
    assert " failed" not in done.stdout
    return head_of(done.stdout)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_system_that_does_not_find_the_peer_is_not_convicted(tmp_path: Path, workers: int) -> None:
    with system(tmp_path, control=True, connects_to=free_port(PEER)) as path:
        head = judged_by(path, "-k", CHOSEN, "--workers", workers)
    assert head.startswith(f"{HEAD}sut.toml gives the tester's peer the address 127.")
    assert "(driver.peer_address, driver.peer_tcp_port), but the system does not connect to it; " in head
    assert ": let the system in through the firewall of this machine, correct driver.peer_address" in head


@pytest.mark.parametrize("control", [True, False])
def test_system_reached_through_a_forwarded_port_is_not_convicted(tmp_path: Path, control: bool) -> None:
    with system(tmp_path, control=control, command=FORWARDED) as path:
        head = judged_by(path, "-k", CHOSEN)
    assert head.startswith(f"{HEAD}sut.toml gives the system the address DIRECT=TCP:{SUT} (driver.address), but ")
    assert f"DIRECT=TCP:{SUT}\\private$\\mqc-" in head
    assert ": correct driver.address to an address that the system itself has" in head
    assert "IgnoreOSNameValidation" in head


@pytest.mark.parametrize(
    ("qm2qm", "why"),
    [
        (True, "the server answered that the queue does not exist (MQ_ERROR_QUEUE_NOT_FOUND)"),
        (False, "no message arrives there, although messages arrive in private$\\mqc-tx"),
    ],
)
def test_a_system_whose_queue_is_misspelt_is_not_convicted(tmp_path: Path, qm2qm: bool, why: str) -> None:
    with system(tmp_path, control=False, plain="plian", qm2qm=qm2qm) as path:
        head = judged_by(path, "-k", CHOSEN)
    asked = [line for line in verdicts(tmp_path / "run") if line["rule"] == "MQDMPR-3.1.1.12-40"]
    assert "pass" not in {line["verdict"] for line in asked}, "that nothing came says nothing where nothing arrives"
    said = f"sut.toml names private$\\mqc-plian as queues.plain, but {why}"
    assert head.startswith(f"{HEAD}{said}: check the spelling, or create a nontransactional queue of this name (")


def test_system_with_transactional_queue_named_as_plain_is_not_convicted(tmp_path: Path) -> None:
    with system(tmp_path, control=False, plain="tx") as path:
        head = judged_by(path, "-k", "bit_enables and arrived-express or closing_session_closes_connection")
    said = "sut.toml names private$\\mqc-tx as queues.plain, but the server answered that the queue is transactional"
    assert head.startswith(
        f"{HEAD}{said}: name a nontransactional queue, or create a nontransactional queue of this name ("
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_missing_root_is_reported_once_before_findings(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "run"
    chosen = ("--rule", "MQQB-3.1.5.8.1-01", "--workers", workers)
    done = command(*MQCONFORM, "run", "--sut", sut(tmp_path), "--out", folder, *chosen, cwd=ROOT, **FAKED)
    assert done.returncode == 1, done.stdout + done.stderr
    (root,) = run_json(folder)["roots"]
    assert root["root"] == "RootMissing"
    assert root["said"].startswith("made: the plain queue is missing, number ")
    tests = {line["test"] for line in verdicts(folder) if line["verdict"] == "inconclusive"}
    assert set(root["checks"]) == tests
    assert len(tests) > 2
    assert "fail" not in {line["verdict"] for line in verdicts(folder)}
    head = f"{HEAD}{root['said']} ({len(tests)} checks depend on it)"
    assert head_of(done.stdout) == head
    properties = ElementTree.parse(folder / "junit.xml").findall("testsuite/properties/property[@name='root']")
    assert {each.get("value") for each in properties} == {head}
    assert head in mqconform("summary", folder).stdout.replace("\\", "").splitlines()[2]


def head_of(said: str) -> str:
    """Return the first line of the result. During a run, no other line may precede the root cause."""
    lines = [line for line in said.splitlines() if line.strip()]
    roots = [number for number, line in enumerate(lines) if line.startswith(HEAD)]
    symptoms = [number for number, line in enumerate(lines) if line.startswith(("inconclusive ", "fail ", "warn "))]
    assert len(roots) == 2, f"once as it is found, once before the result: {said}"
    assert not symptoms or roots[0] < symptoms[0], said
    assert lines[roots[1] + 1].startswith("inconclusive because of root causes: "), said
    assert "on it)" not in lines[roots[0]], "how many checks depend on it is not known yet"
    return lines[roots[1]]
