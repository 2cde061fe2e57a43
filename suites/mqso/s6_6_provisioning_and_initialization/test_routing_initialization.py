"""MS-MQSO 6.6.2 Queue Manager Initialization, step 3: the routing table of a routing server (MS-MQBR 3.1.3.1)."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.pinging import read_data_model_element


def _list_site_identifiers(sut: Sut) -> set[str]:
    return {str(site).lower() for site in read_data_model_element(sut.inspect_queue_manager(), "SiteIdentifierList")}


@needs("topology", "inspect", "restart")
@covers("MQSO-6.6.2-D05")
def test_restarted_routing_server_has_route_to_each_site(topology, judge):
    """After a restart, the router's routing table has a next hop to the sender's site and to the receiver's site."""
    topology.router.restart()
    table = read_data_model_element(topology.router.inspect_queue_manager(), "RoutingTable")
    destinations = {str(row["DestinationSiteID"]).lower() for row in table if row["NextHopSiteID"]}
    for system in (topology.sender, topology.receiver):
        sites = _list_site_identifiers(system)
        judge("MQSO-6.6.2-D05", expected=sites, observed=sites & destinations, case="sites with a route")
