"""Implements Binary Reliable Message Routing over the sites and links of a directory. Spec: MS-MQBR 3.1."""

from reference_qm.routing.next_hops import NextHops, get_next_hops
from reference_qm.routing.table import (
    QUEUE_MANAGER_QUERY_INTERVAL_MS,
    RoutingTable,
    RoutingTableEntry,
    initialize_routing_table,
)
from reference_qm.routing.topology import RoutingError, Topology, read_directory_objects

__all__ = [
    "QUEUE_MANAGER_QUERY_INTERVAL_MS",
    "NextHops",
    "RoutingError",
    "RoutingTable",
    "RoutingTableEntry",
    "Topology",
    "get_next_hops",
    "initialize_routing_table",
    "read_directory_objects",
]
