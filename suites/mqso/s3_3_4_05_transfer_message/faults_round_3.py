"""Faults that break rules of MS-MQSO 3.3.4.5 Transfer Message."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class _NotingTransit(Resolving):
    def resolve_host_address(self, session: Session, now: Now) -> None:
        waiting = [one.UserMessage for one in session.OutgoingMessageTable]
        in_transit = bool(waiting) and not any(self.qm.sending.is_own(packet) for packet in waiting)
        vars(self.qm.next_hops)["in_transit"] = in_transit
        super().resolve_host_address(session, now)


class _SendingTransitDirectly(NextHops):
    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.__dict__.get("in_transit") else super().get_next_hop_identifiers(guid)


add(
    "queue-manager-message-in-transit-sent-directly",
    "MQSO-3.3.4.5-01",
    "A queue manager on the route sends a message of another queue manager directly to its destination, not to the "
    "next hop.",
    both(replace_part(_NotingTransit), replace_part(_SendingTransitDirectly)),
    blind=True,
)
