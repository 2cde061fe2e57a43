"""A program that runs cores under an audit hook and a profiler; they catch each call with which a core does I/O, reads
a clock or generates a random number.

The program needs its own process, because audit hooks cannot be removed. The profiler catches C code that causes no
audit event.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import gc
import io
import random
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import core_bridge  # noqa: F401
from core_enterprise import PUBLIC_NAME, RECEIVER, SENDER, Enterprise
from core_network import Network
from core_secure import PLAIN_2, arrived, secure_pair
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from test_core_delivery import Delivery
from test_remote_pair import RemotePair
from test_remote_readers import RemoteReaders
from test_two_queue_managers import TwoQueueManagers

from harness.explore.areas import AREA_BY_NAME
from harness.explore.explored import AreaExplorer, ExplorationLimits
from harness.faults.parts import override_method
from harness.sut.sut_file import CAPABILITIES, load_sut_file
from harness.sut.virtual_driver import VirtualDriver
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.directory import build_equality_filter
from reference_qm.shell.directory_store import SqliteDirectory
from reference_qm.surface.commands import CreateQueue, DeleteQueue, SetQueue
from reference_qm.surface.inputs import HostResolved

METHODS = ("__init__", "handle", "handle_timer", "next_due", "restore")
"""The public methods of the core, and the methods with which it starts."""
EVENTS = ("open", "socket.", "sqlite3.", "subprocess.", "os.", "shutil.", "tempfile.", "glob.", "fcntl.", "mmap.")
"""The beginnings of the names of audit events that are I/O."""
MODULES = ("time", "posix", "_socket", "socket", "sqlite3", "_posixsubprocess", "select", "_random", "_uuid")
"""The C modules of which a core may call no function, and of whose objects it may call no method."""
FILES = (io.FileIO, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper)
FUNCTIONS = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "Random.random", "Random.getrandbits")
BLINDING = "Cryptodome.Random"
"""The module whose random numbers RSA uses only to hide its computing time; the result does not depend on these
numbers.
"""
EXAMPLES = settings(
    max_examples=10,
    stateful_step_count=25,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


WALKED_STEPS = 300


class CaughtError(BaseException):
    """A core did I/O. The class is a BaseException, so that no core catches it as one of its own errors."""


class Watch:
    """Wraps the methods of every core, and counts the calls in ``calls``."""

    def __init__(self) -> None:
        self.inside = False
        self.calls = 0
        sys.addaudithook(self._on_event)
        for name in METHODS:
            setattr(QueueManager, name, self._watched(getattr(QueueManager, name)))

    def _watched(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def watched(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            self.inside = True
            gc.disable()  # Hypothesis takes the time of it
            sys.setprofile(self._on_call)
            try:
                return method(*arguments, **named)
            finally:
                sys.setprofile(None)
                gc.enable()
                self.inside = False

        return watched

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.inside and event.startswith(EVENTS):
            raise CaughtError(f"{event} {arguments!r:.200}")

    def _on_call(self, frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call" or frame.f_globals["__name__"] == BLINDING:
            return
        name, owner = getattr(called, "__qualname__", ""), getattr(called, "__self__", None)
        modules = {getattr(called, "__module__", None), type(owner).__module__}
        if name in FUNCTIONS or isinstance(owner, FILES) or not modules.isdisjoint(MODULES):
            raise CaughtError(f"{called!r} {name}")


# -- what must be caught --------------------------------------------------------------------------------------------

MISDEEDS: dict[str, Callable[[], object]] = {
    "open": lambda: Path(__file__).read_bytes(),
    "socket": socket.socket,
    "sqlite3": lambda: sqlite3.connect(":memory:"),
    "subprocess": lambda: subprocess.run(["true"], check=False),
    "os.listdir": lambda: list(Path().iterdir()),
    "time.time": time.time,
    "time.monotonic": time.monotonic,
    "datetime.now": lambda: datetime.datetime.now(datetime.UTC),
    "random": random.random,
    "secrets": lambda: secrets.token_bytes(4),
    "os.urandom": lambda: uuid.uuid4(),
}


def check_that_misdeeds_are_caught() -> None:
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as database,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        Path(__file__).open("rb") as file,
    ):
        with_what_is_open: dict[str, Callable[[], object]] = {
            "a statement": lambda: database.execute("SELECT 1"),
            "a datagram": lambda: sock.sendto(b"", ("127.0.0.1", 9)),
            "a line of a file": file.readline,
        }
        for name, misdeed in (MISDEEDS | with_what_is_open).items():
            host = Network().host(1)
            replace_part_by_subclass(
                host.core,
                override_method(
                    InputDispatching.on_host_resolved, lambda original, misdeed=misdeed: lambda *_: misdeed()
                ),
            )
            try:
                host.handle(HostResolved("nowhere", ()))
            except CaughtError:
                continue
            raise SystemExit(f"{name} within the core is not noticed")


# -- what a core does -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def stored_directory() -> Iterator[SqliteDirectory]:
    with tempfile.TemporaryDirectory() as folder:
        made = iter(range(1 << 20, 1 << 30))
        directory = SqliteDirectory(Path(folder) / "directory", lambda: uuid.UUID(int=next(made)), lambda: 0)
        yield directory
        directory.close()


def live_with_a_stored_directory() -> None:
    """Run an enterprise with a stored directory: create, change and delete a public queue, send through the gates, let
    a day pass, and restart.
    """
    with stored_directory() as directory:
        made = Enterprise(network=Network(), directory=directory)
        receiver = made[RECEIVER]
        name = receiver.ask(CreateQueue("invoices"))["format_names"]["public"]
        made[SENDER].send(name, b"for the queue", recoverable=True)
        made[SENDER].send(PUBLIC_NAME, b"for the other")
        made.settle(24 * 3600)
        assert receiver.bodies("invoices") == ["for the queue"]
        receiver.ask(SetQueue("invoices", label="paid"))
        receiver.restart()
        receiver.ask(DeleteQueue("invoices"))
        assert directory.read("Queue", build_equality_filter("Label", "paid")).rDirectoryObject is None


def send_signed_and_encrypted() -> None:
    sender, receiver = secure_pair()
    for level in ("base", "enhanced", "advanced"):
        sender.send(PLAIN_2, b"secret", sender="alice", privacy_level=level)
        sender.send(PLAIN_2, b"signed", sender="alice", authentication_level="sig20")
    sender.network.advance(60_000)
    assert len(arrived(receiver)) == 6


def explore_queues() -> None:
    """Run a random walk of the explorer in which applications use the queues of a system."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "virtual.toml"
        declared = "".join(f"{name} = true\n" for name in CAPABILITIES)
        path.write_text(f'[sut]\nname = "reference"\n[driver]\nkind = "virtual"\n[capabilities]\n{declared}')
        driver = VirtualDriver(load_sut_file(path))
    found = AreaExplorer(driver, AREA_BY_NAME["queues"]).explore(
        ExplorationLimits(WALKED_STEPS, seed="no I/O"), lambda done, of: None
    )
    assert found.diverging_walk is None


def main() -> None:
    send_signed_and_encrypted()  # codecs and the second library of security are loaded when they are used first
    watch = Watch()
    check_that_misdeeds_are_caught()
    live_with_a_stored_directory()
    send_signed_and_encrypted()
    explore_queues()
    for machine in (TwoQueueManagers, RemotePair, RemoteReaders, Delivery):
        run_state_machine_as_test(machine, settings=EXAMPLES)
    sys.stdout.write(f"{watch.calls}\n")


if __name__ == "__main__":
    main()
