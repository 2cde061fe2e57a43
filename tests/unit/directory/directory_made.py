"""A small enterprise in a directory, for tests of the directory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from reference_qm.directory import (
    Change,
    DirectoryChangeResult,
    DirectoryState,
    MemoryDirectory,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    events,
)
from reference_qm.directory.objects import Enterprise, User
from reference_qm.surface.entropy import SeededEntropy, generate_guid

SITE_A, SITE_B = UUID(int=0xA), UUID(int=0xB)
ALPHA, BETA, GATE = UUID(int=0x11), UUID(int=0x12), UUID(int=0x1A)
QUEUE = UUID(int=0x21)
ENTERPRISE = UUID(int=0x31)
SID = bytes.fromhex("010500000000000515000000")


class Clock:
    """The clock of the directory, which tests set."""

    def __init__(self, utc_s: int = 1_000) -> None:
        self.utc_s = utc_s

    def __call__(self) -> int:
        return self.utc_s


def new_identifiers(seed: str) -> Callable[[], UUID]:
    """Return a function that returns a new identifier at each call."""
    return partial(generate_guid, SeededEntropy(seed))


def fill(directory: MemoryDirectory) -> MemoryDirectory:
    """Create two sites with a link, three queue managers, a queue, a user and the enterprise in a directory; return the
    directory.
    """
    for element in (
        Site(Identifier=SITE_A, Name="A", Security=b"\1"),
        Site(Identifier=SITE_B, Name="B", Security=b"\2"),
        QueueManager(Identifier=ALPHA, ComputerName="alpha", SiteIdentifierList=(SITE_A,), QueueManagerQuota=7),
        QueueManager(Identifier=BETA, ComputerName="beta", SiteIdentifierList=(SITE_B,), QueueManagerQuota=3),
        QueueManager(Identifier=GATE, ComputerName="gate", SiteIdentifierList=(SITE_A, SITE_B), RoutingServer=True),
        RoutingLink(Site1Identifier=SITE_A, Site2Identifier=SITE_B, ActualCost=5, SiteGateIdentifierList=(GATE,)),
        Queue(Identifier=QUEUE, Pathname="alpha\\Orders", Label="orders", MulticastAddress=None),
        Enterprise(Identifier=ENTERPRISE, Name="enterprise"),
        User(SecurityIdentifier=SID, CertificateDigestList=(bytes(16), bytes(15) + b"\1")),
    ):
        directory.provision(element)
    return directory


def made(clock: Clock | None = None) -> MemoryDirectory:
    """Return a directory in memory with the small enterprise."""
    return fill(MemoryDirectory(new_identifiers("directory"), clock or Clock()))


def state_of(directory_integrated: bool = True) -> DirectoryState:
    """Return the state of the queue manager alpha before it has read the directory."""
    return DirectoryState(
        LocalQueueManager=QueueManager(Identifier=ALPHA, ComputerName="alpha"), DirectoryIntegrated=directory_integrated
    )


def carried_out(directory: MemoryDirectory, state: DirectoryState, change: Change) -> DirectoryChangeResult:
    """Let a directory make a change, and note the answer in the state of a queue manager."""
    created = directory.carry_out(change)
    events.process_directory_change_result(state, change, created.rStatus)
    return created
