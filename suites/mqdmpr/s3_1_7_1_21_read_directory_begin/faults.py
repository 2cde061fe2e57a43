"""Faults that break rules of MS-MQDMPR 3.1.7.1.21 Read Directory Begin."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.part import QM
from reference_qm.routing import Topology


@fault("directory-query-returns-first-object-only", breaks=("MQDMPR-3.1.7.1.21-03", "MQDMPR-3.1.7.1.22-02"))
class DirectoryQueryReturnsFirstObjectOnly(NextHops):
    """The queue manager reads only the first of several objects of a type."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        return Topology.of(list(read.queue_managers.values())[:1], list(read.sites.values())[:1], read.links[:1])


@fault("queue-manager-unfiltered-read-last-queue-manager-left-out", breaks="MQDMPR-3.1.7.1.21-03")
class QueueManagerUnfilteredReadLastQueueManagerLeftOut(NextHops):
    """A directory read of all queue managers without a filter omits the last of several queue managers."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        machines = list(read.queue_managers.values())
        return Topology.of(machines[:-1] or machines, read.sites.values(), read.links)


ROUTING_RULES = ("MQSO-3.3.4.5-01", "MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02")


@fault("directory-topology-not-read", breaks=("MQDMPR-3.1.7.1.21-05", "MQDMPR-3.1.7.1.22-02", *ROUTING_RULES))
class DirectoryTopologyNotRead(NextHops):
    """The queue manager does not read sites, links and queue managers from the directory, so it has no route to other
    sites.
    """

    def read_topology(self) -> Topology:
        return Topology.of((), (), ())


@fault("queue-manager-gates-of-all-sites-used", breaks="MQDMPR-3.1.7.1.21-02", blind=True)
class QueueManagerGatesOfAllSitesUsed(NextHops):
    """The queue manager regards every routing server of the enterprise as a gate of its own sites."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        gates = tuple(one for one in read.queue_managers.values() if one.RoutingServer)
        sites = {identifier: replace(site, SiteGateCollection=gates) for identifier, site in read.sites.items()}
        return Topology(read.queue_managers, sites, read.links)


@fault("queue-manager-offline-topology-not-read", breaks="MQDMPR-3.1.7.1.21-05", blind=True)
class QueueManagerOfflineTopologyNotRead(NextHops):
    """The queue manager reads no sites, links and queue managers while DirectoryOffline is True."""

    def read_topology(self) -> Topology:
        return Topology.of((), (), ()) if self.qm.enterprise.state.DirectoryOffline else super().read_topology()


@fault("queue-manager-topology-read-once", breaks="MQDMPR-3.1.7.1.21-05", blind=True)
class QueueManagerTopologyReadOnce(NextHops):
    """The queue manager reads sites, links and queue managers only once."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Topology | None = None

    def read_topology(self) -> Topology:
        read = super().read_topology()
        self.first = self.first or (read if len(read.queue_managers) > 1 else None)
        return self.first or read


@fault("queue-manager-links-of-other-sites-used", breaks="MQDMPR-3.1.7.1.21-02", blind=True)
class QueueManagerLinksOfOtherSitesUsed(NextHops):
    """The queue manager regards each link between two sites as a link of its own site."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        own = read.queue_managers.get(self.qm.adm.Identifier)
        if own is None or not own.SiteIdentifierList:
            return read
        site = own.SiteIdentifierList[0]
        links = [
            one if site in (one.Site1Identifier, one.Site2Identifier) else replace(one, Site1Identifier=site)
            for one in read.links
        ]
        return Topology.of(read.queue_managers.values(), read.sites.values(), links)
