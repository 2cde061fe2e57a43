"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address in the NextHops after the first, of a retry, and of a
second session.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import find_other_session_with_next_hops
from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving, format_next_hop
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

# -- MQQB-3.1.5.2.1-30, -31 and -36: the NextHops and the session


@fault("initiator-qm-guid-of-next-hop-zero-in-retry", breaks="MQQB-3.1.5.2.1-30", blind=True)
class InitiatorQmGuidOfNextHopZeroInRetry(SessionAddressResolving):
    """The initiator sets QMGuid of the NextHops to zero when it resolves a destination again."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if session.is_retrying_connection:
            hops = session.NextHopCollection
            hops[:] = [replace(hop, QMGuid=NULL_GUID) for hop in hops]


@fault("initiator-address-of-first-next-hop-in-all-next-hops", breaks="MQQB-3.1.5.2.1-31", blind=True)
class InitiatorAddressOfFirstNextHopInAllNextHops(SessionAddressResolving):
    """The initiator sets Address of every NextHop to the first resolved address."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        hops = session.NextHopCollection
        hops[1:] = [replace(hop, Address=hops[0].Address) for hop in hops[1:]]


@fault("initiator-address-of-next-hop-wrong-in-retry", breaks="MQQB-3.1.5.2.1-31", blind=True)
class InitiatorAddressOfNextHopWrongInRetry(SessionAddressResolving):
    """When the initiator resolves a destination again, it sets Address of the NextHops to an address that belongs to no
    host.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if session.is_retrying_connection:
            hops = session.NextHopCollection
            hops[:] = [replace(hop, Address="192.0.2.1") for hop in hops]


@fault("initiator-address-of-next-hop-has-prefix", breaks="MQQB-3.1.5.2.1-31", blind=True)
class InitiatorAddressOfNextHopHasPrefix(SessionAddressResolving):
    """The initiator stores the text of NextHops, with its prefix, as Address of each NextHop of a direct session."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.is_destination_direct:
            hops = session.NextHopCollection
            hops[:] = [replace(hop, Address=hop.Address.removeprefix("IP=")) for hop in hops]
            session.RemoteQMAddress = hops[session.NextHopIndexer].Address
            hops[:] = [replace(hop, Address=format_next_hop(hop.Address)) for hop in hops]


@fault("initiator-remote-host-name-empty-for-direct-session", breaks="MQQB-3.1.5.2.1-36", blind=True)
class InitiatorRemoteHostNameEmptyForDirectSession(SessionAddressResolving):
    """The initiator sets RemoteQMHostName of a direct session to an empty string."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.is_destination_direct:
            session.RemoteQMHostName = ""


@fault("initiator-remote-host-name-copied-from-other-session", breaks="MQQB-3.1.5.2.1-36", blind=True)
class InitiatorRemoteHostNameCopiedFromOtherSession(SessionAddressResolving):
    """The initiator sets RemoteQMHostName of a session to the host name of the first session of another queue."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        other = find_other_session_with_next_hops(self.qm, session, direct=session.is_destination_direct)
        if other is not None:
            session.RemoteQMHostName = other.NextHopCollection[0].HostName
