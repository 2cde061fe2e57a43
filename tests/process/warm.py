"""Starts Python programs as forks of a process that has already imported their modules, because imports are most of the
cost of a short program.

A fork has its own session, environment, folder and output, like ``python -m PROGRAM``. ``python warm.py DESCRIPTOR
PROGRAM`` serves a listening socket until its standard input ends, and then kills its forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Self

MESSAGE = 1 << 18
"""The maximum size in bytes of a command with its environment."""
ONE_CHECK = "MQQB-2.2.2-02"
"""A rule with one check. A run of this check imports all modules that runs import."""


class Forked:
    """A forked process that is not a child of this process. It has the attributes of `subprocess.Popen`
    that tests use.
    """

    def __init__(
        self,
        program: str,
        words: Iterable[object],
        streams: tuple[IO[bytes], IO[bytes]],
        cwd: Path,
        environment: Mapping[str, str],
        limits: Mapping[int, int] | None = None,
    ) -> None:
        """``streams``: the files for standard output and standard error of the fork; ``limits``: its
        resource limits.
        """
        from patience import PATIENCE_S  # not in the server: commands would have it, too

        self.args = [str(each) for each in words]
        self.returncode: int | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(_server(program))
        message = json.dumps([self.args, str(cwd), dict(environment), list((limits or {}).items())]).encode()
        socket.send_fds(self._socket, [message], [each.fileno() for each in streams])
        self._socket.settimeout(PATIENCE_S)
        self.pid = int(self._socket.recv(MESSAGE))

    def poll(self, within_s: float = 0) -> int | None:
        """Return the exit code, or None when the fork has not ended within the given time."""
        if self.returncode is None:
            self._socket.settimeout(within_s)
            with contextlib.suppress(TimeoutError, BlockingIOError):
                self.returncode = int(self._socket.recv(MESSAGE))
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for the end of the fork, and return the exit code. Raises `subprocess.TimeoutExpired`."""
        if (code := self.poll(timeout)) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the fork, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has, and its exit code is on its way
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the end of the fork, as `subprocess.Popen` does."""
        from patience import end_of

        end_of(self)
        self._socket.close()


def carry_out(
    program: str,
    words: Iterable[object],
    cwd: Path,
    environment: Mapping[str, str],
    folder: Path | None = None,
    limits: Mapping[int, int] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return its output. ``folder``: see `run_watched`."""
    from patience import LOOK_S, Watch, kill

    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        Forked(program, words, (out, err), cwd, environment, limits) as process,
    ):
        watch = Watch(process.pid, folder)
        try:
            while (code := process.poll(LOOK_S)) is None:
                watch.look(sum(os.fstat(each.fileno()).st_size for each in (out, err)))
        except BaseException as why:
            kill(watch.tree())
            why.add_note("\n".join([str(process.args), *map(_read, (out, err))]))
            raise
        return subprocess.CompletedProcess(process.args, code, _read(out), _read(err))


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


@cache
def _server(program: str) -> bytes:
    """Return the address of the server that forks a program; start the server at the first call."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("")  # Linux picks a name that no file has
    listener.listen()
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, __file__, str(listener.fileno()), program],
        stdin=subprocess.PIPE,  # at its end the server ends
        stdout=subprocess.DEVNULL,
        pass_fds=[listener.fileno()],
        start_new_session=True,
        env=own,
    )
    atexit.register(server.communicate)
    name: bytes = listener.getsockname()
    listener.close()
    return name


# -- the server -------------------------------------------------------------------------------------------------------


Main = Callable[[], object]


def import_mqconform() -> Main:
    """Import the modules of mqconform by running a check, and discard the output."""
    from harness.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sut.toml")
        path.write_text('[sut]\nname = "x"\n[driver]\nkind = "virtual"\n', encoding="utf-8")
        sys.argv = ["mqconform", "run", "--sut", str(path), "--out", f"{folder}/run", "--rule", ONE_CHECK]
        try:
            main()
        except SystemExit:
            sys.stdout.flush()
    return main


def import_serve() -> Main:
    from reference_qm.shell import serving  # noqa: F401 - `serve` imports it when it is called
    from reference_qm.shell.cli import main

    return main


PROGRAMS: dict[str, Callable[[], Main]] = {"mqconform": import_mqconform, "reference_qm": import_serve}
"""For each program, by its name after `python -m`: a function that imports the modules of the program and returns its
main function.
"""


def commands(listener: socket.socket) -> list[str]:
    """Fork for each requested command. In the fork, return the words of the command; in the server, never return."""
    alive: set[int] = set()
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    waiting.register(sys.stdin.fileno(), selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listener:
                asked, _ = listener.accept()
                message, streams, _, _ = socket.recv_fds(asked, MESSAGE, 2)
                words, *told = json.loads(message)
                pid = os.fork()
                if pid == 0:
                    waiting.close()
                    listener.close()
                    asked.close()
                    become(streams, *told)
                    return ["mqconform", *words]
                for each in streams:
                    os.close(each)
                alive.add(pid)
                asked.send(str(pid).encode())
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, asked))
            elif key.data is None:
                for pid in alive:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            else:
                pid, asked = key.data
                waiting.unregister(key.fd)
                os.close(key.fd)
                alive.remove(pid)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with contextlib.suppress(ConnectionError):  # nobody waits for it
                    asked.send(str(code).encode())
                asked.close()


def become(streams: list[int], cwd: str, environment: dict[str, str], limits: list[tuple[int, int]]) -> None:
    """Make this fork look like a newly started program."""
    os.setsid()
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for each, size in limits:
        resource.setrlimit(each, (size, size))


def serve(descriptor: int, program: str) -> None:
    """Serve a listening socket; in each fork, carry out the requested command."""
    sys.path[0] = ""  # as with `python -m`
    main = PROGRAMS[program]()
    gc.freeze()
    sys.argv = commands(socket.socket(fileno=descriptor))
    main()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
