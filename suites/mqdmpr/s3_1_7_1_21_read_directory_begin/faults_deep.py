"""Faults of MS-MQDMPR 3.1.7.1.21 Read Directory Begin: objects that a read omits."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.routing import Topology


@fault("queue-manager-unfiltered-read-last-queue-manager-left-out", breaks="MQDMPR-3.1.7.1.21-03")
class QueueManagerUnfilteredReadLastQueueManagerLeftOut(NextHops):
    """A directory read of all queue managers without a filter omits the last of several queue managers."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        machines = list(read.queue_managers.values())
        return Topology.of(machines[:-1] or machines, read.sites.values(), read.links)
