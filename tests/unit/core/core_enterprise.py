"""Hosts in an enterprise with two sites, which have a gate each and a link between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from core_network import PLAIN, TRANSACTIONAL, Host, Network, guid

from reference_qm.config import QueueSettings, TimerSettings
from reference_qm.directory import MemoryDirectory, Queue, QueueManager, RoutingLink, Site
from reference_qm.directory.objects import DirectoryObject
from reference_qm.surface.entropy import SeededEntropy, generate_guid

NORTH, SOUTH = UUID(int=0x11), UUID(int=0x12)
SENDER, NORTH_GATE, SOUTH_GATE, RECEIVER = 1, 2, 3, 4
PUBLIC = UUID(int=0x21)
PUBLIC_NAME = f"PUBLIC={PUBLIC}"


def machine(number: int, *sites: UUID, **attributes: Any) -> QueueManager:
    """Return the directory object of a queue manager."""
    return QueueManager(
        Identifier=guid(number),
        ComputerName=f"host{number}",
        QualifiedComputerName=f"host{number}",
        SiteIdentifierList=sites,
        **attributes,
    )


def two_sites() -> list[DirectoryObject]:
    """Return four directory objects: sender and gate of the northern site, gate and receiver of the southern site."""
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
        default_factory=lambda: MemoryDirectory(partial(generate_guid, SeededEntropy("enterprise")), lambda: 0)
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
        """Return the numbers of the next hops from one host to another."""
        core = self[number].core
        return [one.Identifier.int >> 64 for one in core.next_hops.get_next_hops(guid(to)) if one.Identifier]

    def update(self, element: DirectoryObject) -> None:
        """Change an element in the directory."""
        self.directory.write(element)

    def settle(self, seconds: int = 60) -> None:
        self.network.advance(seconds * 1000)
