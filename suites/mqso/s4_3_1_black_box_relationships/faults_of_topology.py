"""Faults in the use of the sites, links and routing servers of the directory."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.routing import Topology


@fault("sender-second-site-of-queue-manager-ignored", breaks="MQSO-4.3.1.3-03", blind=True)
class SenderSecondSiteOfQueueManagerIgnored(NextHops):
    """The sender uses only the first site of each queue manager for its routes."""

    def read_topology(self) -> Topology:
        topology = super().read_topology()
        machines = {
            identifier: replace(one, SiteIdentifierList=one.SiteIdentifierList[:1])
            for identifier, one in topology.queue_managers.items()
        }
        return replace(topology, queue_managers=machines)


@fault("sender-message-within-site-to-routing-server", breaks="MQSO-4.3.1.3-03", blind=True)
class SenderMessageWithinSiteToRoutingServer(NextHops):
    """The sender sends a message for a queue manager of its own site to a routing server of the site."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        hops = super().get_next_hop_identifiers(guid)
        topology = self.read_topology()
        own, destination = (topology.queue_managers.get(one) for one in (self.qm.adm.Identifier, guid))
        if hops != (guid,) or own is None or destination is None or own.RoutingServer:
            return hops
        servers = (
            identifier
            for identifier, one in topology.queue_managers.items()
            if one.RoutingServer and set(one.SiteIdentifierList) & set(own.SiteIdentifierList)
        )
        server = next(servers, None)
        return hops if server is None else (server,)


@fault("routing-server-message-for-other-site-to-destination", breaks="MQSO-4.3.1.3-D02", blind=True)
class RoutingServerMessageForOtherSiteToDestination(NextHops):
    """A routing server sends a message for another site directly to the destination."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        hops = super().get_next_hop_identifiers(guid)
        own = self.read_topology().queue_managers.get(self.qm.adm.Identifier)
        return (guid,) if hops and own is not None and own.RoutingServer else hops


@fault("sender-costs-of-links-of-other-sites-ignored", breaks="MQSO-4.3.1.3-D02", blind=True)
class SenderCostsOfLinksOfOtherSitesIgnored(NextHops):
    """The sender chooses a route by the cost of the first link alone."""

    def read_topology(self) -> Topology:
        topology = super().read_topology()
        own = topology.queue_managers.get(self.qm.adm.Identifier)
        sites = set() if own is None else set(own.SiteIdentifierList)
        links = tuple(
            one if sites & {one.Site1Identifier, one.Site2Identifier} else replace(one, ActualCost=1)
            for one in topology.links
        )
        return replace(topology, links=links)
