"""A system with a directory: public queues, and how it finds the directory again."""

from __future__ import annotations

from harness.peer.peer import Peer
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from reference_qm.directory.intervals import DIRECTORY_ONLINE_MS
from suites.mqdmpr.steps.shown import queue_manager
from suites.mqqb.steps.opening import pass_time
from suites.mqqb.steps.pinging import element
from suites.mqso.steps.applications import DONE, REFUSED

WAITS = 20
"""How often within the Directory Online Timer it is looked whether the directory was found again."""


def publish(sut: Sut, name: str) -> str:
    """Let an application make a public queue; say whether it could."""
    try:
        sut.create_queue(f"mqc-{sut.own}-{name}")
    except ControlRefused:
        return REFUSED
    return DONE


def flag(sut: Sut, name: str) -> str:
    """Return an attribute of the queue manager that is TRUE or FALSE, with its name."""
    return f"{name} {bool(element(queue_manager(sut), name))}"


def await_directory(peer: Peer, sut: Sut) -> None:
    """Wait until DirectoryOffline is FALSE, or the Directory Online Timer must have expired."""
    for _ in range(WAITS + 1):
        if flag(sut, "DirectoryOffline") == "DirectoryOffline False":
            return
        pass_time(peer, sut.duration_ms(DIRECTORY_ONLINE_MS) // WAITS + sut.slack_ms(0))
