"""Faults that break rules of MS-MQSO 5.1.2 for some messages or later states of the topology only."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.directory.objects import QueueManager


@fault("queue-manager-second-route-to-destination-is-direct", breaks="MQSO-5.1.2-01")
class QueueManagerSecondRouteToDestinationIsDirect(NextHops):
    """The queue manager sends a later message for a routed destination directly to the destination."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        asked: set[UUID] = self.__dict__.setdefault("asked", set())
        again = guid in asked
        asked.add(guid)
        machine = self.qm.enterprise.find_queue_manager("Identifier", guid) if again else None
        return super().get_next_hops(guid) if machine is None else (machine,)
