"""Faults of MS-MQDMPR 3.1.7.1.21 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.routing import Topology


@fault("queue-manager-unfiltered-read-last-link-left-out", breaks="MQDMPR-3.1.7.1.21-03", blind=True)
class LastLinkLeftOut(NextHops):
    """A directory read of all routing links without a filter leaves out the last of several links."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        links = read.links if len(read.links) < 2 else read.links[:-1]
        return Topology.of(read.queue_managers.values(), read.sites.values(), links)
