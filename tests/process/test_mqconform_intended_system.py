"""A run tests the intended system from start to end: the program that it started, or the system that the SUT file
names.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from mqconform_process import complaint, mqconform, run_json, started_program, sut, verdicts
from qm_process import Served, free_port, serve

SUT, PEER = "127.0.41.1", "127.0.41.2"
SOME = ("--select", "MQQB-2.2.2", "--select", "MQQB-2.2.1")
"""Checks of packets."""


def program(folder: Path, **changes: Any) -> Path:
    return started_program(folder, addresses=(SUT, PEER), **changes)


# -- ports ------------------------------------------------------------------------------------------------------------


TAKEN = [
    ("tcp", SUT, socket.SOCK_STREAM, f"{SUT}:{{port}} (driver.tcp_port)"),
    ("ping", SUT, socket.SOCK_DGRAM, f"udp {SUT}:{{port}} (driver.ping_port)"),
    ("rpc", SUT, socket.SOCK_STREAM, f"{SUT}:{{port}} (driver.rpc_port)"),
    ("control", "127.0.0.1", socket.SOCK_STREAM, "127.0.0.1:{port} (control.address)"),
    ("tcp", "0.0.0.0", socket.SOCK_STREAM, f"{SUT}:{{port}} (driver.tcp_port)"),
]


def test_port_in_use_is_refused_before_system_starts(tmp_path: Path) -> None:
    runs, said_of = [], []
    with contextlib.ExitStack() as stack:
        for number, (name, host, kind, said) in enumerate(TAKEN):
            taken = stack.enter_context(socket.socket(socket.AF_INET, kind))
            taken.bind((host, 0))
            if kind is socket.SOCK_STREAM:
                taken.listen()
            port = taken.getsockname()[1]
            folder = tmp_path / str(number)
            folder.mkdir()
            runs.append(("run", "--sut", program(folder, **{name: port}), "--out", folder / "run"))
            said_of.append(said.format(port=port))
        refused = [mqconform(*run) for run in runs]
    for (*_, run), said, done in zip(runs, said_of, refused, strict=True):
        line = complaint(done)
        assert said in line
        assert f" is in use by process {os.getpid()}, " in line
        assert "end that program, or give another port (0 selects a free port)" in line
        assert not (run / "sut.log").exists()
        assert (run_json(run)["exit"], run_json(run)["aborted"] in line) == (2, True)


ABSENT = """
import os, socket, sys, time
port, folder = int(sys.argv[1]), sys.argv[2]
if os.fork() == 0:  # as a service manager starts a service: no child of this process, in another session
    os.setsid()
    if os.fork() == 0:
        open(folder + "/pid", "w").write(str(os.getpid()))
        with socket.create_server(("127.0.41.3", port)) as listener:
            while True:
                listener.accept()[0].close()
    os._exit(0)
os.wait()
time.sleep(3600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("own", [True, False])
def test_listener_must_belong_to_started_program_unless_declared_otherwise(tmp_path: Path, own: bool) -> None:
    command = json.dumps(["{python}", "-c", ABSENT, "{tcp_port}", str(tmp_path)])
    file = sut(
        tmp_path,
        f'[sut]\nname = "contoso"\n[driver]\nkind = "process"\naddress = "127.0.41.3"\ntcp_port = 0\nrpc_port = 0\n'
        f"peer_address = '{PEER}'\nping_port = 0\nown_ports = {str(own).lower()}\ncommand = {command}\n",
    )
    try:
        done = mqconform("run", "--sut", file, "--out", tmp_path / "run", "--rule", "MQQB-2.2.2-02")
        stranger = int((tmp_path / "pid").read_text())
    finally:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    if own:
        assert f"(driver.tcp_port) is in use by process {stranger}, " in complaint(done)
    else:
        assert done.returncode == 1
        found = {line["verdict"] for line in verdicts(tmp_path / "run")}
        assert "inconclusive" in found
        assert found <= {"inconclusive", "not_applicable"}  # one check needs a capability


@pytest.mark.parametrize("workers", [1, 2])
def test_ports_of_0_are_chosen_and_passed_to_program(tmp_path: Path, workers: int) -> None:
    run = tmp_path / "run"
    arguments = ("--out", run, "--rule", "MQQB-3.1.5.2.3-02", "--rule", "MQQB-2.2.2-02", "--workers", workers)
    done = mqconform("run", "--sut", program(tmp_path), *arguments)
    assert done.returncode == 0, done.stdout
    assert {"MQQB-3.1.5.2.3-02", "MQQB-2.2.2-02"} <= {
        line["rule"] for line in verdicts(run) if line["verdict"] == "pass"
    }  # a session that the SUT opened: it knows where the peer is
    told = [log.read_text().splitlines()[0].split() for log in sorted(run.glob("sut*.log"))]
    assert [each[0] for each in told] == ["told"] * workers
    assert all(int(port) for each in told for port in each[1:])
    assert len(run_json(run)["queue_managers"]) == workers


def test_fixed_control_port_is_refused_for_several_workers(tmp_path: Path) -> None:
    port = free_port("127.0.0.1")
    done = mqconform("run", "--sut", program(tmp_path, control=port), "--out", tmp_path / "run", "--workers", 2)
    assert f"control.address is 127.0.0.1:{port}: each worker starts its own program; give port 0" in complaint(done)


# -- the process ------------------------------------------------------------------------------------------------------

FEW = ("--rule", "MQQB-2.2.1-03", "--rule", "MQQB-2.2.1-D01", "-k", "not (follows_its_states or initiator)")
FATAL = "test_unknown_packet_type_closes_session[15]"
ENDED = "the SUT's process ended: exit status 3"


@pytest.mark.parametrize("workers", [1, 2])
def test_end_of_system_process_is_recorded_and_process_is_restarted(tmp_path: Path, workers: int) -> None:
    run, file = tmp_path / "run", program(tmp_path, script="crashing_queue_manager.py")
    done = mqconform("run", "--sut", file, "--out", run, *FEW, "--workers", workers)
    assert done.returncode == 1, done.stdout
    deaths = run_json(run)["deaths"]
    assert {(death["how"], death["said"]) for death in deaths} == {("exit status 3", "unhandled packet")}
    fatal = {death["check"] for death in deaths}
    assert {name.rpartition("::")[2] for name in fatal} == {FATAL, FATAL.replace("15", "0"), FATAL.replace("15", "4")}
    assert len(deaths) == len(fatal)
    told = [line for line in verdicts(run) if line["rule"] == "MQQB-2.2.1-03"]
    assert {line["test"] for line in told if ENDED in (line["reason"] or "")} == fatal
    assert {line["test"] for line in told if line["verdict"] == "fail"} == fatal
    others = {line["verdict"] for line in verdicts(run) if line["test"] not in fatal}
    assert others <= {"pass", "not_exercised"}
    assert done.stdout.count(ENDED + " in suites/") == 3
    assert run_json(run)["aborted"] is None


def test_process_that_ends_too_often_ends_run_and_run_can_resume(tmp_path: Path) -> None:
    run, file = tmp_path / "run", program(tmp_path, script="crashing_queue_manager.py", driver="max_restarts = 1\n")
    line = complaint(mqconform("run", "--sut", file, "--out", run, *FEW))
    assert "contoso: the program ended 2 times (driver.max_restarts is 1); see " in line
    assert run_json(run)["exit"] == 2
    recorded = verdicts(run)
    assert len(run_json(run)["deaths"]) == 2
    program(tmp_path)
    done = mqconform("run", "--sut", file, "--out", run, "--resume", *FEW)
    assert done.returncode == 1, done.stdout  # what ended, ended
    assert verdicts(run)[: len(recorded)] == recorded
    assert len(verdicts(run)) > len(recorded)
    assert len(run_json(run)["deaths"]) == 2


# -- identity and control ---------------------------------------------------------------------------------------------


def external(folder: Path, served: Served, control: str) -> Path:
    host, port = served.endpoint("tcp")
    return sut(
        folder,
        f'[sut]\nname = "contoso"\n[driver]\nkind = "external"\naddress = "{host}"\ntcp_port = {port}\n'
        f'ping_port = {served.endpoint("ping")[1]}\npeer_address = "{PEER}"\n'
        f'[control]\nkind = "jsonl"\naddress = "{control}"\n[capabilities]\nping = true\n',
    )


@contextlib.contextmanager
def queue_manager(folder: Path) -> Iterator[Served]:
    ports = ("--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0", "--control", "127.0.0.1:0")
    folder.mkdir(exist_ok=True)
    with serve(folder, "--address", SUT, *ports) as served:
        yield served


def test_sessions_of_one_system_and_control_of_another_are_refused(tmp_path: Path) -> None:
    with queue_manager(tmp_path / "one") as one, queue_manager(tmp_path / "two") as two:
        file = external(tmp_path, one, two.bound["control"])
        line = complaint(mqconform("run", "--sut", file, "--out", tmp_path / "run", *SOME))
        with one.control() as control:
            identifier = control.call("identity")["guid"]
    assert f"is queue manager {identifier}, but control {two.bound['control']} belongs to " in line
    assert "set address, tcp_port and control.address to those of one system" in line
    assert not verdicts(tmp_path / "run")


class Turning:
    """A control channel that forwards the first connections; later it is silent, refuses connections, or answers for a
    different system.
    """

    def __init__(self, target: tuple[str, int], good: int, then: str) -> None:
        self.target, self.left, self.then = target, good, then
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        kept = []
        while True:
            with contextlib.suppress(OSError):
                near, _ = self.listener.accept()
                kept.append(near)
                self.left -= 1
                if self.left >= 0 or self.then == "other":
                    threading.Thread(target=self._pass_on, args=(near, self.left < 0), daemon=True).start()
                elif self.then == "gone":
                    self.listener.close()
                    near.close()
                continue
            return

    def _pass_on(self, near: socket.socket, other: bool) -> None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(self.target) as far,
            far.makefile("rb") as answers,
            near.makefile("rb") as asked,
        ):
            for line in asked:
                far.sendall(line)
                answer = answers.readline()
                if other and b'"guid"' in answer:
                    answer = json.dumps(json.loads(answer) | {"guid": str(UUID(int=7))}).encode() + b"\n"
                near.sendall(answer)
        near.close()


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("silent", "identity: no answer arrived in time"),
        ("gone", "control 127.0.0.1:"),
        ("other", f"the control channel now belongs to {UUID(int=7)}, which is a different system"),
    ],
)
def test_lost_control_channel_ends_run_and_run_can_resume(tmp_path: Path, then: str, said: str) -> None:
    run = tmp_path / "run"
    with queue_manager(tmp_path / "one") as one:
        turning = Turning(one.endpoint("control"), good=5, then=then)
        file = external(tmp_path, one, turning.address)
        line = complaint(mqconform("run", "--sut", file, "--out", run, *SOME))
        assert said in line
        assert run_json(run)["exit"] == 2
        assert run_json(run)["aborted"] in line
        recorded = verdicts(run)
        assert recorded
        if then != "gone":
            return  # each of the three leaves a run folder that has ended; one is gone on with
        file = external(tmp_path, one, one.bound["control"])
        done = mqconform("run", "--sut", file, "--out", run, "--resume", *SOME)
    assert done.returncode == 0, done.stdout
    assert verdicts(run)[: len(recorded)] == recorded


@pytest.mark.parametrize("then", ["silent", "gone"])
def test_dead_or_silent_control_channel_gives_one_line_error(tmp_path: Path, then: str) -> None:
    with queue_manager(tmp_path / "one") as one:
        turning = Turning(one.endpoint("control"), good=0, then=then)
        file = external(tmp_path, one, turning.address)
        line = complaint(mqconform("run", "--sut", file, "--out", tmp_path / "run", *SOME))
    assert "contoso: control 127.0.0.1:" in line
    assert not verdicts(tmp_path / "run")
