"""Runs pairs of processes that send messages over loopback TCP. Each module implements one kind of pair.

A module has the coroutines ``receive(options, report)`` and ``send(options, port, report)``; each coroutine is the
program of one process. ``receive`` reports its ``port`` when it is ready, and after the last message the
``instant`` and its ``memory`` at the marks. ``send`` reports the ``instant`` of its start after it has connected.
After the last acknowledgment it reports that ``instant`` and its ``memory``. Instants are float seconds of the
monotonic clock, which all processes share.
"""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BODY = bytes(range(256)) + bytes(44)

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a pair. ``kind`` selects a variant of the module. ``folder`` is for files of both processes.

    ``marks``: the numbers of messages after which each process records its memory. ``receiver_counts``: whether the
    measured time ends with the receiver's last message (true), or with the sender's last acknowledgment (false).
    """

    module: str
    messages: int
    kind: str = ""
    window: int = 64
    folder: str = ""
    marks: tuple[int, ...] = ()
    receiver_counts: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The time that the messages took in float seconds, and for each mark the resident memory in bytes of the
    sender and of the receiver.
    """

    messages: int
    seconds: float
    memory: tuple[tuple[int, int], ...] = ()

    @property
    def rate(self) -> float:
        """Return the number of messages per second."""
        return self.messages / self.seconds


def run(options: Options) -> Outcome:
    """Run a pair until the receiver has every message."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**asdict(options), "folder": folder}
        with _start("receive", settings) as receiver:
            try:
                port = _line(receiver)["port"]
                with _start("send", settings, str(port)) as sender:
                    try:
                        began = _line(sender)["instant"]
                        sent = _line(sender)
                        received = _line(receiver) if options.receiver_counts else sent
                    finally:
                        _end(sender)
            finally:
                _end(receiver)
    memory = tuple(zip(sent["memory"], received["memory"], strict=True))
    return Outcome(options.messages, received["instant"] - began, memory)


def get_instant() -> float:
    """Return the present instant on the clock that both processes share."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


class Memory:
    """The memory of this process at each mark."""

    def __init__(self, marks: tuple[int, ...]) -> None:
        self.noted: list[int] = []
        self._left = list(marks)

    def at(self, messages: int) -> None:
        """Record the memory of this process if the number of messages is a mark."""
        while self._left and messages >= self._left[0]:
            del self._left[0]
            self.noted.append(measure_resident_bytes())


def find_free_port() -> int:
    """Return a free port of the loopback address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def measure_resident_bytes() -> int:
    """Return the resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def main(role: str, arguments: list[str]) -> None:
    """Run one of the two processes of a pair."""
    settings = json.loads(arguments[0])
    options = Options(**{**settings, "marks": tuple(settings["marks"])})
    module = __import__(f"benchmarks.pairs.{options.module}", fromlist=["send"])
    if role == "receive":
        asyncio.run(module.receive(options, _report))
    else:
        asyncio.run(module.send(options, int(arguments[1]), _report))


async def wait_until_input_closes() -> None:
    """Wait until the parent process closes the standard input of this process."""
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _report(values: dict[str, Any]) -> None:
    print(json.dumps(values), flush=True)


def _start(role: str, settings: dict[str, Any], *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.pairs", role, json.dumps(settings), *more]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with {process.wait()} before it was done")
    values: dict[str, Any] = json.loads(line)
    return values


def _end(process: subprocess.Popen[str]) -> None:
    """End a process by closing its input. Kill the process if it does not react."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
