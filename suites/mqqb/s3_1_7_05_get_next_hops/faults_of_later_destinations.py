"""Faults that break rules of MS-MQQB 3.1.7.5 Get Next Hops for a later destination, hop or attempt."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-destination-used-instead-of-routing-servers", breaks="MQQB-3.1.7.5-D01", blind=True)
class InitiatorDestinationUsedInsteadOfRoutingServers(NextHops):
    """The initiator connects to the destination when routing returns routing servers as next hops."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        found = super().get_next_hop_identifiers(guid)
        return (guid,) if found else ()


@fault("initiator-connects-to-next-hops-of-other-session-without-route", breaks="MQQB-3.1.7.5-D03", blind=True)
class InitiatorConnectsToNextHopsOfOtherSessionWithoutRoute(SessionAddressResolving):
    """If routing returns no next hop, the initiator connects to the next hops of another session."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        super().resolve_host_address(session, now)
        if session.unresolved_next_hops:
            self.__dict__["other_hops"] = list(session.unresolved_next_hops)
            return
        hops = self.__dict__.get("other_hops", [])
        if hops and session.transport is None:
            self.qm.sessions[session.number] = session
            self.qm.session_initialization.initialize_session(session, now)
            session.unresolved_next_hops, session.addresses = hops, {}
            for hop in hops:
                self.store_addresses(session, hop.HostName, (hop.HostName,), now)
