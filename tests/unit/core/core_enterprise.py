"""Hosts in an enterprise: two sites with a gate each, and a link between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from core_network import PLAIN, TRANSACTIONAL, Host, Network, guid

from reference_qm.config import QueueSettings, TimerSettings
from reference_qm.directory import MemoryDirectory, Queue, QueueManager, RoutingLink, Site
from reference_qm.directory.objects import DirectoryObject
from reference_qm.surface.entropy import SeededEntropy, new_guid

NORTH, SOUTH = UUID(int=0x11), UUID(int=0x12)
SENDER, NORTH_GATE, SOUTH_GATE, RECEIVER = 1, 2, 3, 4
PUBLIC = UUID(int=0x21)
PUBLIC_NAME = f"PUBLIC={PUBLIC}"


def machine(number: int, *sites: UUID, **attributes: Any) -> QueueManager:
    """Return a queue manager as the directory has it."""
    return QueueManager(
        Identifier=guid(number),
        ComputerName=f"host{number}",
        QualifiedComputerName=f"host{number}",
        SiteIdentifierList=sites,
        **attributes,
    )


def two_sites() -> list[DirectoryObject]:
    """Return sender and gate in the north, gate and receiver in the south."""
    return [
        Site(Identifier=NORTH, Name="north"),
        Site(Identifier=SOUTH, Name="south"),
        machine(SENDER, NORTH),
        machine(NORTH_GATE, NORTH, RoutingServer=True),
        machine(SOUTH_GATE, SOUTH, RoutingServer=True),
        machine(RECEIVER, SOUTH),
        RoutingLink(
            Site1Identifier=NORTH,
            Site2Identifier=SOUTH,
            ActualCost=1,
            SiteGateIdentifierList=(guid(NORTH_GATE), guid(SOUTH_GATE)),
        ),
        Queue(Identifier=PUBLIC, Pathname=f"host{RECEIVER}\\orders", BasePriority=5),
    ]


@dataclass
class Enterprise:
    """The directory that all hosts share, and the hosts by number."""

    elements: list[DirectoryObject] = field(default_factory=two_sites)
    numbers: tuple[int, ...] = (SENDER, NORTH_GATE, SOUTH_GATE, RECEIVER)
    timers: TimerSettings = field(default_factory=TimerSettings)
    network: Network = field(default_factory=Network)
    hosts: dict[int, Host] = field(default_factory=dict)
    directory: MemoryDirectory = field(
        default_factory=lambda: MemoryDirectory(partial(new_guid, SeededEntropy("enterprise")), lambda: 0)
    )

    def __post_init__(self) -> None:
        for element in self.elements:
            self.directory.provision(element)
        for number in self.numbers:
            self.join(number)

    def join(self, number: int, **config: Any) -> Host:
        """Add a host that uses the directory."""
        queues = (QueueSettings(PLAIN), QueueSettings(TRANSACTIONAL, transactional=True))
        settings: dict[str, Any] = {"directory": self.directory, "queues": queues, "timers": self.timers}
        if number == RECEIVER:
            settings["queues"] = (*queues, QueueSettings("orders"))
        self.hosts[number] = self.network.host(number, **(settings | config))
        return self.hosts[number]

    def __getitem__(self, number: int) -> Host:
        return self.hosts[number]

    def hops(self, number: int, to: int) -> list[int]:
        """Return the next hops from a host to another, by number."""
        core = self[number].core
        return [one.Identifier.int >> 64 for one in core.next_hops.get_next_hops(guid(to)) if one.Identifier]

    def update(self, element: DirectoryObject) -> None:
        """Change an element in the directory."""
        self.directory.write(element)

    def settle(self, seconds: int = 60) -> None:
        self.network.advance(seconds * 1000)
