"""Measures the CPU seconds of commands, and of a fixed computation (the yardstick) that makes costs comparable between
machines and loads.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from harness.errors import MqconformError

# The yardstick imports, makes objects and counts, like the commands. After a change of it, run `make bench-keep`.
YARDSTICK = """
import argparse, asyncio, dataclasses, email.message, json, logging, tempfile, typing, unittest, xml.dom.minidom
tree = {str(number): [number, {"text": "x" * (number % 50)}] for number in range(20_000)}
for _ in range(2):
    tree = json.loads(json.dumps(tree))
count = {}
for number in range(500_000):
    count[number % 1000] = count.get(number % 1000, 0) + len(str(number))
"""


class CommandFailed(MqconformError):
    """A command did not end with exit code 0, so its measured cost has no meaning."""


def measure_yardstick_s() -> float:
    """Return the CPU seconds that a fixed computation in pure Python uses in a new process."""
    return measure_cpu_s([sys.executable, "-I", "-c", YARDSTICK])


def measure_cpu_s(command: list[str]) -> float:
    """Run a command, with cached bytecode, and return the CPU seconds that the command and its child processes used."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before_s = _children_s()
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CommandFailed(f"`{' '.join(command)}` ended with {done.returncode}: {''.join(said) or 'no output'}")
    return _children_s() - before_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
