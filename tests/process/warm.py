"""Runs commands of mqconform in forks of one process, which has imported what they import: most of a short command.

A fork is a process of its own, with its own session, environment, folder and output, as ``python -m mqconform`` is.
``python warm.py DESCRIPTOR`` serves a listening socket until its standard input ends.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import IO

MESSAGE = 1 << 18
"""int bytes that a command and its environment have at most."""
ONE_CHECK = "MQQB-2.2.2-02"
"""A rule: a run of its check imports what runs import."""


def carry_out(
    words: Iterable[object],
    cwd: Path,
    environment: Mapping[str, str],
    folder: Path | None,
    limits: Mapping[int, int],
) -> subprocess.CompletedProcess[str]:
    """Run a command of mqconform to its end and return what it printed.

    ``folder``: as `run_watched` has it; ``limits``: how much of a resource the process may have.
    """
    from patience import LOOK_S, PATIENCE_S, Watch, kill  # not in the server: commands would have it, too

    command = [str(each) for each in words]
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked,
    ):
        asked.connect(_server())
        message = json.dumps([command, str(cwd), dict(environment), list(limits.items())]).encode()
        socket.send_fds(asked, [message], [out.fileno(), err.fileno()])
        asked.settimeout(PATIENCE_S)
        pid = int(asked.recv(MESSAGE))
        watch = Watch(pid, folder)
        asked.settimeout(LOOK_S)
        try:
            while not (ended := _received(asked)):
                watch.look(sum(os.fstat(each.fileno()).st_size for each in (out, err)))
        except BaseException as why:
            kill(watch.tree())
            why.add_note("\n".join([str(command), *map(_read, (out, err))]))
            raise
        return subprocess.CompletedProcess(command, int(ended), _read(out), _read(err))


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _received(asked: socket.socket) -> bytes:
    try:
        return asked.recv(MESSAGE)
    except TimeoutError:
        return b""


@cache
def _server() -> bytes:
    """Return the address of the server of this process, which it starts when it is first asked for."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("")  # Linux picks a name that no file has
    listener.listen()
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, __file__, str(listener.fileno())],
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


def import_everything() -> None:
    """Run a check, with all that it says going nowhere."""
    from harness.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sut.toml")
        path.write_text('[sut]\nname = "x"\n[driver]\nkind = "virtual"\n', encoding="utf-8")
        sys.argv = ["mqconform", "run", "--sut", str(path), "--out", f"{folder}/run", "--rule", ONE_CHECK]
        try:
            main()
        except SystemExit:
            sys.stdout.flush()


def commands(listener: socket.socket) -> list[str]:
    """Fork for each command that is asked for; return its words in the fork. In the server it never returns."""
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
                asked.send(str(pid).encode())
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, asked))
            elif key.data is None:
                os._exit(0)
            else:
                pid, asked = key.data
                waiting.unregister(key.fd)
                os.close(key.fd)
                asked.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
                asked.close()


def become(streams: list[int], cwd: str, environment: dict[str, str], limits: list[tuple[int, int]]) -> None:
    """Make this process look as if it had been started by itself."""
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


def serve(descriptor: int) -> None:
    """Serve a listening socket; in each fork, carry out its command."""
    sys.path[0] = ""  # as with `python -m`
    import_everything()
    gc.freeze()
    sys.argv = commands(socket.socket(fileno=descriptor))

    from harness.cli.main import main

    main()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
