"""Establishing a session as initiator. Spec: MS-MQQB 3.1.5.2, 3.1.7.4, 3.1.7.5."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.adm import ConnectionHistoryEntry, NextHop
from reference_qm.codec import (
    NULL_GUID,
    PT_ESTABLISH_CONNECTION,
    BaseHeader,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    parse_format_name,
)
from reference_qm.effects import Connect, ResolveHost, SendPacket
from reference_qm.inputs import Endpoint
from reference_qm.states import ConnectionStatus, Opening, OutgoingQueueState, SessionState
from reference_qm.timers import TimerName

if TYPE_CHECKING:
    from reference_qm.adm import OutgoingQueue, Session
    from reference_qm.clock import Now
    from reference_qm.core import QueueManager

ADDRESS_LIMIT = 16
"""Next hops taken of what a host name resolves to."""
OPERATING_SYSTEM_RE = 0x10

HRESULTS = {
    ConnectionStatus.IN_PROCESS: 0,
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED: 0,
    ConnectionStatus.ESTABLISHED: 0,
    ConnectionStatus.UNKNOWN_FAILURE: 0x80004005,  # E_FAIL
    ConnectionStatus.PING_FAILURE: 0x8007274C,  # WSAETIMEDOUT
    ConnectionStatus.SOCKET_CONNECT_FAILURE: 0x8007274D,  # WSAECONNREFUSED
    ConnectionStatus.DNS_FAILURE: 0x80072AF9,  # WSAHOST_NOT_FOUND
    ConnectionStatus.CONNECTION_REFUSED: 0x80070005,  # E_ACCESSDENIED
    ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE: 0xC00E0013,  # MQ_ERROR_NO_DS
    ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE: 0x80090016,  # NTE_BAD_KEYSET
}
"""ConnectionHistory.Error of each Status: an HRESULT, zero where nothing failed."""


@dataclass(frozen=True, slots=True)
class Destination:
    """What Get Destination Info returns: rHostName and rQueueManagerGuid, the latter zero for a direct name."""

    HostName: str
    QueueManagerGuid: UUID


def establish_session(qm: QueueManager, session: Session, now: Now) -> None:
    """Begin to establish a session: resolve, ping, connect, send a request. Spec: MS-MQQB 3.1.5.2."""
    qm.sessions[session.number] = session
    if session in qm.closed_sessions:
        qm.closed_sessions.remove(session)
    qm.procedures.initialize_session(qm, session, now)
    qm.procedures.resolve_host_address(qm, session, now)


def resolve_host_address(qm: QueueManager, session: Session, now: Now) -> None:
    """Find the addresses of the destination or of the next hop to it. Spec: MS-MQQB 3.1.5.2.1."""
    queue = outgoing_queue(session)
    destination = qm.procedures.get_destination_info(qm, queue.DestinationFormatName)
    if destination is None:
        _fail_to_route(qm, session, f"no directory knows {queue.DestinationFormatName!a}", now)
        return
    host = destination.HostName
    session.direct = destination.QueueManagerGuid == NULL_GUID
    if not session.direct:
        next_hop = qm.procedures.get_next_hop(qm, destination.QueueManagerGuid)
        if next_hop is None:
            _fail_to_route(qm, session, f"no route to queue manager {destination.QueueManagerGuid}", now)
            return
        host = next_hop
    queue.NextHops.clear()
    session.NextHopCollection.clear()
    session.RemoteQMHostName = host
    session.RemoteQMGuid = destination.QueueManagerGuid
    if is_address(host):
        qm.procedures.use_addresses(qm, session, (host,), now)
    else:
        session.opening = Opening.ADDRESSES
        qm.emit(ResolveHost(host))


def _fail_to_route(qm: QueueManager, session: Session, why: str, now: Now) -> None:
    status = ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
    qm.procedures.fail_to_establish(qm, session, status, f"{why} (MS-MQQB 3.1.5.2.1)", now)
    qm.procedures.need_validation(qm, session)


def get_destination_info(qm: QueueManager, format_name: str) -> Destination | None:
    """Take a format name apart; None when it takes a directory, which is not there. Spec: MS-MQQB 3.1.7.4."""
    name = parse_format_name(format_name)
    if isinstance(name, PublicName):
        return None
    if isinstance(name, PrivateName):
        return Destination("", name.ComputerGuid)
    assert isinstance(name, PrivateQueuePath)
    return Destination(name.ProtocolAddressSpecification, NULL_GUID)


def get_next_hop(qm: QueueManager, guid: UUID) -> str | None:
    """Return the address of the next hop to a queue manager; None when unknown. Spec: MS-MQQB 3.1.7.5.

    Until there is a directory the configured routes stand for it, and the destination itself is the next hop.
    """
    return qm.config.routes.get(guid)


def use_addresses(qm: QueueManager, session: Session, addresses: tuple[str, ...], now: Now) -> None:
    """Make next hops of the addresses found and try the first. Spec: MS-MQQB 3.1.5.2.1."""
    session.opening = Opening.NOTHING
    usable = [address for address in addresses[:ADDRESS_LIMIT] if is_address(address)]
    if not usable:
        reason = f"host name {session.RemoteQMHostName!a} has no address (MS-MQQB 3.1.5.2.1)"
        qm.procedures.fail_to_establish(qm, session, ConnectionStatus.DNS_FAILURE, reason, now)
        qm.procedures.need_validation(qm, session)
        return
    for address in usable:
        outgoing_queue(session).NextHops.append(format_next_hop(address))
        session.NextHopCollection.append(NextHop(session.RemoteQMGuid, session.RemoteQMHostName, address))
    session.NextHopIndexer = 0
    qm.procedures.select_next_hop(qm, session)
    qm.procedures.ping_before_session(qm, session, now)


def select_next_hop(qm: QueueManager, session: Session) -> None:
    """Take the remote queue manager from the next hop in turn. Spec: MS-MQQB 3.1.5.2.1, 3.1.6.1."""
    hop = session.NextHopCollection[session.NextHopIndexer]
    session.RemoteQMAddress = hop.Address
    session.RemoteQMHostName = hop.HostName
    session.RemoteQMGuid = hop.QMGuid


def connect_transport(qm: QueueManager, session: Session) -> None:
    """Connect to the acceptor's TCP port. Spec: MS-MQQB 2.1.1, 3.1.5.2.3."""
    session.transport = qm.next_transport()
    session.opening = Opening.TRANSPORT
    qm.transports[session.transport] = session
    qm.emit(Connect(session.transport, Endpoint(session.RemoteQMAddress, qm.config.remote_tcp_port)))


def send_establish_request(qm: QueueManager, session: Session, now: Now) -> None:
    """Send the request of a session on its new connection. Spec: MS-MQQB 3.1.5.2.3."""
    session.opening = Opening.NOTHING
    qm.procedures.stop_timer(qm, session, TimerName.SESSION_INITIALIZATION)
    request = qm.procedures.build_establish_request(qm, session, now)
    qm.procedures.send(qm, session, request.build())
    session.SessionState = SessionState.WAITING_ECR_MSG
    qm.procedures.add_connection_history(qm, session, ConnectionStatus.IN_PROCESS, now)
    qm.procedures.start_timer(qm, session, TimerName.SESSION_INITIALIZATION, qm.settings.session_initialization_ms, now)
    queue = outgoing_queue(session)
    if queue.State is not OutgoingQueueState.ON_HOLD:
        queue.State = OutgoingQueueState.WAITING


def build_establish_request(qm: QueueManager, session: Session, now: Now) -> EstablishConnectionPacket:
    """Build an EstablishConnection request. Spec: MS-MQQB 3.1.5.2.3, 2.2.3.1."""
    return EstablishConnectionPacket(
        internal_base_header(),
        InternalHeader(Flags=InternalHeader.flags(PT=PT_ESTABLISH_CONNECTION, CS=0)),
        EstablishConnectionHeader(
            ClientGuid=qm.adm.Identifier,
            ServerGuid=NULL_GUID if session.direct else session.RemoteQMGuid,
            TimeStamp=now.monotonic_ms & 0xFFFFFFFF,
            OperatingSystem=EstablishConnectionHeader.flags(
                RE=OPERATING_SYSTEM_RE,
                SE=int(not session.pinged),
                OS=int(qm.config.operating_system.is_server),
                QS=0,
            ),
        ),
    )


def add_connection_history(qm: QueueManager, session: Session, status: ConnectionStatus, now: Now) -> None:
    """Append an entry to ConnectionHistory. Spec: MS-MQQB 3.1.5.2, 3.1.5.2.3, 3.1.5.3.2, 3.1.5.4.2."""
    outgoing_queue(session).ConnectionHistory.append(
        ConnectionHistoryEntry(status, now.utc_s, HRESULTS[status], session.RemoteQMAddress)
    )


def fail_to_establish(qm: QueueManager, session: Session, status: ConnectionStatus, reason: str, now: Now) -> None:
    """Record why a session cannot be established, and end the attempt. Spec: MS-MQQB 3.1.5.2, 3.1.5.2.2."""
    qm.procedures.add_connection_history(qm, session, status, now)
    qm.procedures.close_session(qm, session, reason, now)


def need_validation(qm: QueueManager, session: Session) -> None:
    """Mark the queue of a destination that could not be resolved. Spec: MS-MQQB 3.1.5.2.1."""
    queue = outgoing_queue(session)
    if len(session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
        queue.State = OutgoingQueueState.NEED_VALIDATION


def send(qm: QueueManager, session: Session, packet: bytes) -> None:
    """Send one packet on a session's connection."""
    assert session.transport is not None
    qm.emit(SendPacket(session.transport, packet))


def internal_base_header() -> BaseHeader:
    """Make the BaseHeader of an internal packet: priority 3 as Windows has it (MS-MQQB section 4), infinite time.

    Spec: MS-MQMQ 2.2.19.1.
    """
    return BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3))


def outgoing_queue(session: Session) -> OutgoingQueue:
    """Return the outgoing queue of an initiator's session."""
    assert session.OutgoingQueueReference is not None
    return session.OutgoingQueueReference


def is_address(host: str) -> bool:
    """Is it a textual IPv4 or IPv6 address?"""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def format_next_hop(address: str) -> str:
    """Format an address as in PROPID_MGMT_QUEUE_NEXTHOPS. Spec: MS-MQMQ 2.3.12.12."""
    kind = "IPv6" if ipaddress.ip_address(address).version == 6 else "IP"
    return f"{kind}={address}"
