"""Faults that break rules of MS-MQDMPR 3.1.7.1.21 Read Directory Begin."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.next_hops import NextHops
from reference_qm.routing import Topology
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered


@fault("directory-query-returns-first-object-only", breaks=("MQDMPR-3.1.7.1.21-03", "MQDMPR-3.1.7.1.22-02"))
class DirectoryQueryReturnsFirstObjectOnly(NextHops):
    """The queue manager reads only the first of several objects of a type."""

    def read_topology(self) -> Topology:
        read = super().read_topology()
        return Topology.of(list(read.queue_managers.values())[:1], list(read.sites.values())[:1], read.links[:1])


@fault("queue-manager-read-of-all-queue-managers-omits-last", breaks="MQDMPR-3.1.7.1.21-03")
class QueueManagerReadOfAllQueueManagersOmitsLast(NextHops):
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


class DirectoryRecoveryRecorder(DirectoryClient):
    """Record in ``recovered`` that an outage of the directory has ended."""

    has_directory_recovered = False

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        self.has_directory_recovered = self.has_directory_recovered or not self.qm.enterprise.state.DirectoryOffline


class DirectoryTopologyReadOmitterAfterRecovery(NextHops):
    """After an outage of the directory, read no sites, no links and no queue managers from it."""

    def read_topology(self) -> Topology:
        recovered = self.qm.directory_client.has_directory_recovered  # type: ignore[attr-defined]
        return Topology.of((), (), ()) if recovered else super().read_topology()


add(
    "queue-manager-topology-not-read-after-outage",
    "MQDMPR-3.1.7.1.21-05",
    "After an outage of the directory, the queue manager no longer reads sites, links and queue managers, so it has no"
    " route to other sites.",
    combine_installers(
        replace_part(DirectoryRecoveryRecorder), replace_part(DirectoryTopologyReadOmitterAfterRecovery)
    ),
)
