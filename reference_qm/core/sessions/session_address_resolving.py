from __future__ import annotations

import ipaddress
from dataclasses import replace
from functools import lru_cache

from reference_qm.codec import NULL_GUID
from reference_qm.core.names.next_hops import build_next_hop
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.store.messages import PUBLIC_QUEUE_TYPE
from reference_qm.model.adm import NextHop, OutgoingMessagePosition, Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus, OutgoingQueueState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import ResolveHost

NEXT_HOPS_LIMIT = 16
"""The maximum number of next hops for a session."""


class SessionAddressResolving(QueueManagerPart):
    """Resolves the destination of a session that this queue manager initiates: determines the next hops for a
    format name, and then the addresses of the next hops.

    Spec: MS-MQQB 3.1.5.2.1, 3.1.7.4, 3.1.7.5.
    """

    __slots__ = ()

    def resolve_host_address(self, session: Session, now: Now) -> None:
        """Find the next hops to the destination, and resolve their host names. Spec: MS-MQQB 3.1.5.2.1.

        For each queue manager on the route, the document resolves destinationHostName, which is empty for a private
        format name. This method resolves the name of the queue manager instead.
        """
        queue = get_outgoing_queue(session)
        destination = self.qm.next_hops.get_destination_info(queue.DestinationFormatName)
        if destination is None:
            self._fail_to_route(session, f"no directory knows {queue.DestinationFormatName!a}", now)
            return
        session.destination = destination.QueueManagerGuid
        session.is_destination_direct = destination.QueueManagerGuid == NULL_GUID
        hops = [NextHop(NULL_GUID, destination.HostName, "")]
        if not session.is_destination_direct:
            hops = [build_next_hop(one) for one in self.qm.next_hops.get_next_hops(destination.QueueManagerGuid)]
            if not hops:
                self._fail_to_route(session, f"there is no route to queue manager {destination.QueueManagerGuid}", now)
                return
        queue.NextHops.clear()
        session.NextHopCollection.clear()
        session.RemoteQMHostName, session.RemoteQMGuid = hops[0].HostName, hops[0].QMGuid
        session.unresolved_next_hops, session.addresses = hops, {}
        session.awaited_opening_event = AwaitedOpeningEvent.ADDRESSES
        for host in dict.fromkeys(hop.HostName for hop in hops):
            if is_ip_address_text(host):
                self.store_addresses(session, host, (host,), now)
            else:
                self.qm.emit_effect(ResolveHost(host))

    def _fail_to_route(self, session: Session, why: str, now: Now) -> None:
        status = ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
        self.qm.session_closing.close_session_after_failed_establishment(
            session, status, f"{why} (MS-MQQB 3.1.5.2.1)", now
        )
        self.set_need_validation_state(session)

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        """Store the addresses of a host name. Continue when all host names are resolved. Spec: MS-MQQB 3.1.5.2.1."""
        session.addresses[host] = addresses
        if all(hop.HostName in session.addresses for hop in session.unresolved_next_hops):
            self.connect_to_resolved_addresses(session, now)

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        """Build next hops from the resolved addresses, and connect to the first next hop. Spec: MS-MQQB 3.1.5.2.1."""
        session.awaited_opening_event = AwaitedOpeningEvent.NOTHING
        for hop in session.unresolved_next_hops:
            for address in session.addresses[hop.HostName]:
                if is_ip_address_text(address) and len(session.NextHopCollection) < NEXT_HOPS_LIMIT:
                    get_outgoing_queue(session).NextHops.append(format_next_hop(address))
                    session.NextHopCollection.append(replace(hop, Address=address))
        if not session.NextHopCollection:
            hosts = ", ".join(ascii(hop.HostName) for hop in session.unresolved_next_hops)
            reason = f"host name {hosts} has no address (MS-MQQB 3.1.5.2.1)"
            self.qm.session_closing.close_session_after_failed_establishment(
                session, ConnectionStatus.DNS_FAILURE, reason, now
            )
            self.set_need_validation_state(session)
            return
        session.NextHopIndexer = 0
        self.select_next_hop(session)
        self.qm.ping_handling.ping_before_session(session, now)

    def select_next_hop(self, session: Session) -> None:
        """Set the remote queue manager of the session to the next hop that NextHopIndexer selects. Spec: MS-MQQB
        3.1.5.2.1, 3.1.6.1.
        """
        hop = session.NextHopCollection[session.NextHopIndexer]
        session.RemoteQMAddress = hop.Address
        session.RemoteQMHostName = hop.HostName
        session.RemoteQMGuid = hop.QMGuid

    def set_need_validation_state(self, session: Session) -> None:
        """Set the State of a queue whose destination could not be resolved. Spec: MS-MQQB 3.1.5.2.1."""
        queue = get_outgoing_queue(session)
        if len(session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.NEED_VALIDATION

    def set_queue_manager_address(self, session: Session, position: OutgoingMessagePosition) -> None:
        """Set QueueManagerAddress in the packet of a waiting message to the queue manager that hosts the public
        destination queue. Spec: MS-MQMQ 2.2.19.2.

        The directory may have been unavailable when the application sent the message (MS-MQSO 5.1.1.1).
        """
        packet = position.UserMessage
        if packet.UserHeader.QueueManagerAddress == NULL_GUID and packet.UserHeader.DQ == PUBLIC_QUEUE_TYPE:
            header = replace(packet.UserHeader, QueueManagerAddress=session.destination)
            position.UserMessage = replace(packet, UserHeader=header)
            place = position.MessagePosition
            place.MessageReference = replace(
                place.MessageReference, DestinationQueueManagerIdentifier=session.destination
            )


@lru_cache(maxsize=1024)  # the few addresses repeat in many attempts
def is_ip_address_text(host: str) -> bool:
    """Return whether a host is given as an IPv4 or IPv6 address in text form."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def format_next_hop(address: str) -> str:
    """Return an address as text in the form of PROPID_MGMT_QUEUE_NEXTHOPS. Spec: MS-MQMQ 2.3.12.12."""
    kind = "IPv6" if ipaddress.ip_address(address).version == 6 else "IP"
    return f"{kind}={address}"
