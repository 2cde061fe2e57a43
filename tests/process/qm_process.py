"""Starts ``serve`` as a real process and sends it requests; every wait has a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from patience import LOOK_S, PATIENCE_S, Watch, end_of
from warm import Forked, carry_out

from harness.sut.control_schema import find_error_in_answer
from harness.sut.free_ports import free_port as given_port

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "reference_qm"]

Address = tuple[str, int]
Process = subprocess.Popen[bytes] | Forked


@dataclass
class Served:
    """A running process of ``serve``, and the addresses on which it listens."""

    process: Process
    ready: str
    bound: dict[str, str]

    def endpoint(self, name: str) -> Address:
        host, _, port = self.bound[name].rpartition(":")
        return host, int(port)

    @contextlib.contextmanager
    def control(self) -> Iterator[Control]:
        with (
            socket.create_connection(self.endpoint("control"), PATIENCE_S) as sock,
            sock.makefile("rb") as answers,
        ):
            yield Control(sock, answers)

    def ends(self) -> int:
        return end_of(self.process)


class Control:
    """A client of the control protocol. It checks that every answer keeps the contract."""

    def __init__(self, sock: socket.socket, answers: IO[bytes]) -> None:
        self.sock = sock
        self.answers = answers
        self.number = 0
        self.asked: dict[int, str] = {}

    def ask(self, verb: str, **arguments: Any) -> int:
        self.number += 1
        self.asked[self.number] = verb
        self.sock.sendall(json.dumps({"id": self.number, "verb": verb, **arguments}).encode() + b"\n")
        return self.number

    def read_reply(self) -> dict[str, Any]:
        line = self.answers.readline()
        assert line, "the process hung up"
        reply = json.loads(line)
        if reply["id"] in self.asked:
            verb = self.asked.pop(reply["id"])
            assert find_error_in_answer(verb, reply) is None, verb
        return reply

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        number = self.ask(verb, **arguments)
        reply = self.read_reply()
        assert reply["id"] == number
        assert reply["ok"] is True, reply
        return reply


@contextlib.contextmanager
def serve(
    folder: Path, *flags: str, toml: str | None = None, anew: bool = False, command: Sequence[str] = COMMAND
) -> Iterator[Served]:
    """Yield the process when it is ready; kill it at the end if it still runs.

    ``anew``: start a new Python, as for a user, instead of a fork; another ``command`` also starts a new Python.
    """
    arguments = [*flags]
    if toml is not None:
        (folder / "qm.toml").write_text(toml, encoding="utf-8")
        arguments += ["--config", str(folder / "qm.toml")]
    with (
        (folder / "stderr").open("wb") as errors,
        _started(command if anew or command is not COMMAND else None, arguments, errors) as (process, said),
    ):
        try:
            ready = _first_line(process.pid, said)
            bound = dict(part.split("=", 1) for part in ready.split()[1:])
            yield Served(process, ready, bound)
        finally:
            process.kill()


@contextlib.contextmanager
def _started(
    command: Sequence[str] | None, arguments: list[str], errors: IO[bytes]
) -> Iterator[tuple[Process, IO[bytes]]]:
    """Start a command, or fork ``serve`` if the command is None; yield the process and its output."""
    if command is not None:
        with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=errors, cwd=ROOT) as process:
            assert process.stdout is not None
            yield process, process.stdout
        return
    ours, its = os.pipe()
    with os.fdopen(ours, "rb") as said:
        with os.fdopen(its, "wb") as out:
            forked = Forked("reference_qm", arguments, (out, errors), ROOT, os.environ)
        with forked:
            yield forked, said


def refused(*flags: str) -> str:
    """Return the one-line message of a process that refuses to start; its exit code must be 2."""
    done = carry_out("reference_qm", flags, ROOT, os.environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr.rstrip("\n")


def free_port(*hosts: str) -> int:
    """Return a port that is free on all given hosts. It is below the ports that the system gives to outgoing
    connections, so no connection takes it before the caller binds it.
    """
    while True:
        port = given_port(hosts[0], socket.SOCK_STREAM)
        if all(_is_port_free(host, kind, port) for host in hosts for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            return port


def _is_port_free(host: str, kind: socket.SocketKind, port: int) -> bool:
    with socket.socket(type=kind) as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def _first_line(pid: int, said: IO[bytes]) -> str:
    watch = Watch(pid)
    with selectors.DefaultSelector() as selector:
        selector.register(said, selectors.EVENT_READ)
        while not selector.select(LOOK_S):
            watch.look()
    return said.readline().decode().rstrip("\n")
