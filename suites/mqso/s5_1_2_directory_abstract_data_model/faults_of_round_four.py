"""Faults that break rules of MS-MQSO 5.1.2 for one direction of links."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm import routing
from reference_qm.core.enterprise.directory_client import DirectoryClient


@fault("site-gate-link-with-own-site-as-second-site-ignored", breaks="MQSO-5.1.2-01", blind=True)
class SiteGateLinkWithOwnSiteAsSecondSiteIgnored(DirectoryClient):
    """The site gate does not forward messages over a link of the directory that names its own site as Site2Identifier,
    but only over links that name it as Site1Identifier.
    """

    def initialize_routing_table(self) -> None:
        local = self.qm.enterprise.state.LocalQueueManager
        topology = self.qm.next_hops.read_topology()
        links = tuple(one for one in topology.links if one.Site2Identifier not in local.SiteIdentifierList)
        self.qm.enterprise.table = routing.initialize_routing_table(replace(topology, links=links), local)
