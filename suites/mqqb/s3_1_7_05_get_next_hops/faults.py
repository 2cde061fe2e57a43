"""Faults that break rules of MS-MQQB 3.1.7.5 Get Next Hops."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.directory import QueueManager

_UNKNOWN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")


@fault("initiator-next-hop-has-guid-of-other-queue-manager", breaks="MQQB-3.1.7.5-D02")
class InitiatorNextHopHasGuidOfOtherQueueManager(NextHops):
    """The initiator uses a next hop with the address of one queue manager and the GUID of a different queue manager."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        return tuple(replace(one, Identifier=_UNKNOWN_QUEUE_MANAGER_GUID) for one in super().get_next_hops(guid))


@fault("initiator-requests-next-hops-to-itself-instead-of-destination", breaks="MQQB-3.1.7.5-D01")
class InitiatorRequestsNextHopsToItselfInsteadOfDestination(NextHops):
    """The initiator requests from routing the next hops to itself instead of the next hops to the destination."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        return super().get_next_hops(self.qm.adm.Identifier)
