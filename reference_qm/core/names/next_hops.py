from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from reference_qm import routing
from reference_qm.codec import NULL_GUID, PrivateName, PrivateQueuePath, PublicName, PublicQueuePath, parse_format_name
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory import Queue, QueueManager
from reference_qm.model.adm import NextHop
from reference_qm.routing import RoutingError, Topology


@dataclass(frozen=True, slots=True)
class Destination:
    """The return values of Get Destination Info: rHostName and rQueueManagerGuid. The GUID is zero for a direct format
    name.
    """

    HostName: str
    QueueManagerGuid: UUID


def build_next_hop(machine: QueueManager) -> NextHop:
    """Build the next hop for a queue manager. The address of the next hop is resolved later."""
    assert machine.Identifier is not None
    return NextHop(machine.Identifier, machine.QualifiedComputerName or machine.ComputerName or "", "")


class NextHops(QueueManagerPart):
    """Finds the queue manager that hosts a queue, and the next hops on the route to that queue manager.

    Spec: MS-MQQB 3.1.7.4, 3.1.7.5, MS-MQBR 3.1.5.1.
    """

    __slots__ = ()

    def get_destination_info(self, format_name: str) -> Destination | None:
        """Return the host of the queue that a format name identifies, or None if the directory does not know the
        queue.

        Spec: MS-MQQB 3.1.7.4. The document takes the host name and the Identifier from the Queue object. However, a
        Queue has no QualifiedComputerName, and its Identifier does not identify a queue manager. This method therefore
        uses the QueueManager of the Queue (MS-MQDMPR 3.1.1.2). In workgroup mode, the configuration lists the public
        queues.
        """
        name = parse_format_name(format_name)
        if isinstance(name, PublicName):
            if not self.qm.enterprise.state.DirectoryIntegrated:
                known = self.qm.config.public_queues.get(name.QueueGuid)
                return None if known is None else Destination("", known)
            machine = self._find_host(self.qm.enterprise.find_queue(name.QueueGuid))
            return (
                None
                if machine is None
                else Destination(build_next_hop(machine).HostName, build_next_hop(machine).QMGuid)
            )
        if isinstance(name, PrivateName):
            return Destination("", name.ComputerGuid)
        assert isinstance(name, PrivateQueuePath | PublicQueuePath)
        return Destination(name.ProtocolAddressSpecification, NULL_GUID)

    def _find_host(self, queue: Queue | None) -> QueueManager | None:
        """Find the queue manager of a public queue. The Pathname of the queue contains the computer name of the
        queue manager.
        """
        computer = "" if queue is None else (queue.Pathname or "").partition("\\")[0]
        return self.qm.enterprise.find_queue_manager("ComputerName", computer) if computer else None

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        """Return the possible next hops to a queue manager. The tuple is empty if there is no route. Spec: MS-MQQB
        3.1.7.5.

        In workgroup mode, the destination itself is the next hop, and the configured routes contain its address.
        """
        if not self.qm.enterprise.state.DirectoryIntegrated:
            address = self.qm.config.routes.get(guid)
            return () if address is None else (QueueManager(Identifier=guid, QualifiedComputerName=address),)
        found = (
            self.qm.enterprise.find_queue_manager("Identifier", one) for one in self.get_next_hop_identifiers(guid)
        )
        return tuple(one for one in found if one is not None)

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        """Return the Identifiers of the possible next hops. The tuple is empty if there is no route. Spec: MS-MQBR
        3.1.5.1.
        """
        try:
            return routing.get_next_hops(self.read_topology(), self.qm.enterprise.table, self.qm.adm.Identifier, guid)
        except RoutingError:
            return ()

    def read_topology(self) -> Topology:
        """Read the topology of the enterprise from the directory.

        The topology is empty if the directory cannot be read or is too large.
        """
        try:
            return Topology.read(self.qm.enterprise.directory)
        except RoutingError:
            return Topology.of((), (), ())
