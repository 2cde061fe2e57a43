"""Faults that break rules of MS-MQQB 3.1.5.2.1 Resolve Host Address: addresses of several sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving, format_next_hop
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState
from reference_qm.surface.clock import Now


@fault("initiator-connection-history-entry-added-to-all-queues", breaks="MQQB-3.1.5.2.1-03", blind=True)
class InitiatorConnectionHistoryEntryAddedToAllQueues(SessionConnecting):
    """The entries of ConnectionHistory for a session are added to every outgoing queue."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entry = get_outgoing_queue(session).ConnectionHistory[-1]
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue is not session.OutgoingQueueReference:
                queue.ConnectionHistory.append(entry)


@fault("initiator-closed-session-disconnects-other-queues", breaks="MQQB-3.1.5.2.1-03", blind=True)
class InitiatorClosedSessionDisconnectsOtherQueues(SessionClosing):
    """When a session closes, State becomes Disconnected in all connected outgoing queues."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if session.initiator and queue.State is OutgoingQueueState.CONNECTED:
                queue.State = OutgoingQueueState.DISCONNECTED


@fault("initiator-connects-for-guid-to-address-of-accepted-session", breaks="MQQB-3.1.5.2.1-15", blind=True)
class InitiatorConnectsForGuidToAddressOfAcceptedSession(SessionAddressResolving):
    """If the queue manager has accepted an open session, it connects to the initiator of this session instead of a
    destination whose GUID it knows.
    """

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        accepted = [one.RemoteQMAddress for one in self.qm.sessions.values() if not one.initiator]
        if accepted and not session.is_destination_direct:
            addresses = (accepted[-1],)
        super().store_addresses(session, host, addresses, now)


@fault("initiator-connects-for-guid-to-last-used-address-in-retry", breaks="MQQB-3.1.5.2.1-15", blind=True)
class InitiatorConnectsForGuidToLastUsedAddressInRetry(SessionAddressResolving):
    """From the second attempt to reach a destination with a GUID, the initiator connects to the address that it
    resolved last, which can be the address of another destination.
    """

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        known: set[int] = self.__dict__.setdefault("known", set())
        if session.number in known and not session.is_destination_direct:
            addresses = self.__dict__["last"]
        known.add(session.number)
        self.__dict__["last"] = addresses
        super().store_addresses(session, host, addresses, now)


@fault("initiator-host-name-not-resolved-during-other-handshake", breaks="MQQB-3.1.5.2.1-25", blind=True)
class InitiatorHostNameNotResolvedDuringOtherHandshake(SessionAddressResolving):
    """While another session is being established, the initiator finds no address for a host name."""

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        busy = any(
            one is not session and get_outgoing_queue(one).State is OutgoingQueueState.WAITING
            for one in self.qm.sessions.values()
            if one.initiator
        )
        super().store_addresses(session, host, () if busy and host not in addresses else addresses, now)


@fault("initiator-next-hop-collection-contains-next-hops-of-other-sessions", breaks="MQQB-3.1.5.2.1-32", blind=True)
class InitiatorNextHopCollectionContainsNextHopsOfOtherSessions(SessionAddressResolving):
    """NextHopCollection of a session also contains the NextHops of the other sessions, after its own."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        for other in self.qm.sessions.values():
            if other is not session and other.initiator:
                session.NextHopCollection += other.NextHopCollection


@fault("initiator-next-hop-collection-emptied-when-session-closes", breaks="MQQB-3.1.5.2.1-32", blind=True)
class InitiatorNextHopCollectionEmptiedWhenSessionCloses(SessionClosing):
    """When a session with one NextHop closes, the initiator removes the NextHop from NextHopCollection."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        super().close(session, reason, now)
        if len(session.NextHopCollection) == 1:
            session.NextHopCollection.clear()


@fault("initiator-next-hop-collection-without-last-next-hop", breaks="MQQB-3.1.5.2.1-32", blind=True)
class InitiatorNextHopCollectionWithoutLastNextHop(SessionAddressResolving):
    """If several addresses are resolved, NextHopCollection does not contain the NextHop of the last address."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if len(session.NextHopCollection) > 1:
            session.NextHopCollection.pop()


@fault("initiator-remote-address-in-history-has-prefix-of-next-hops", breaks="MQQB-3.1.5.2.1-35", blind=True)
class InitiatorRemoteAddressInHistoryHasPrefixOfNextHops(SessionConnecting):
    """RemoteQMAddress has the notation of NextHops, with the prefix of its kind, in ConnectionHistory."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if session.RemoteQMAddress:
            history[-1] = replace(history[-1], AddressList=format_next_hop(session.RemoteQMAddress))


@fault("initiator-remote-qm-address-of-lost-session-kept-in-retry", breaks="MQQB-3.1.5.2.1-35", blind=True)
class InitiatorRemoteQmAddressOfLostSessionKeptInRetry(SessionAddressResolving):
    """When the initiator resolves a destination again, RemoteQMAddress remains the address of the preceding session."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        self.__dict__["kept"] = session.RemoteQMAddress
        super().connect_to_resolved_addresses(session, now)

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMAddress = self.__dict__.pop("kept", "") or session.RemoteQMAddress


@fault("initiator-remote-address-of-second-session-is-address-of-first", breaks="MQQB-3.1.5.2.1-35", blind=True)
class InitiatorRemoteAddressOfSecondSessionIsAddressOfFirst(SessionAddressResolving):
    """RemoteQMAddress of a session is the Address of the NextHop of the oldest session to another queue manager."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        others = [one for one in self.qm.sessions.values() if one.initiator and one.NextHopCollection]
        if others:
            session.RemoteQMAddress = others[0].NextHopCollection[0].Address
