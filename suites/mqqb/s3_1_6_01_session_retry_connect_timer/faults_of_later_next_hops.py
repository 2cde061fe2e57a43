"""Faults that break rules of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event: the second and later next hops."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-remote-guid-of-earlier-acceptor-kept-at-next-hop", breaks="MQQB-3.1.6.1-08", blind=True)
class InitiatorRemoteGuidOfEarlierAcceptorKeptAtNextHop(SessionAddressResolving):
    """When the initiator selects a later next hop after a session that was open, RemoteQMGuid remains the GUID from the
    response of that session.
    """

    def select_next_hop(self, session: Session) -> None:
        before = session.RemoteQMGuid
        super().select_next_hop(session)
        if session.NextHopIndexer and before != NULL_GUID:
            session.RemoteQMGuid = before


@fault("initiator-connects-to-same-next-hop-again-after-lost-session", breaks="MQQB-3.1.6.1-06", blind=True)
class InitiatorConnectsToSameNextHopAgainAfterLostSession(SessionAddressResolving):
    """When the session to a next hop was open before it was lost, the initiator connects to the address of this next
    hop again, although it selects the following one.
    """

    def select_next_hop(self, session: Session) -> None:
        before = session.RemoteQMAddress
        opened = session.is_destination_direct and session.RemoteQMGuid != NULL_GUID  # the GUID comes from a response
        super().select_next_hop(session)
        if session.NextHopIndexer and opened:
            session.RemoteQMAddress = before


@fault("initiator-connects-to-address-of-other-session-as-later-next-hop", breaks="MQQB-3.1.6.1-06", blind=True)
class InitiatorConnectsToAddressOfOtherSessionAsLaterNextHop(SessionAddressResolving):
    """When the initiator selects a later next hop, it connects to the address of another open session, if there is such
    a session.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        for other in self.qm.sessions.values():
            if session.NextHopIndexer and other is not session and other.SessionState is SessionState.OPEN:
                session.RemoteQMAddress = other.RemoteQMAddress


@fault("initiator-host-name-is-address-at-later-next-hop", breaks="MQQB-3.1.6.1-07", blind=True)
class InitiatorHostNameIsAddressAtLaterNextHop(SessionAddressResolving):
    """When the initiator selects a later next hop, RemoteQMHostName becomes the address of the next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.NextHopIndexer:
            session.RemoteQMHostName = session.RemoteQMAddress


@fault("initiator-host-name-empty-at-third-next-hop", breaks="MQQB-3.1.6.1-07", blind=True)
class InitiatorHostNameEmptyAtThirdNextHop(SessionAddressResolving):
    """When the initiator selects the third next hop, RemoteQMHostName becomes empty."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if session.NextHopIndexer > 1:
            session.RemoteQMHostName = ""


@fault("initiator-host-name-of-other-session-at-later-next-hop", breaks="MQQB-3.1.6.1-07", blind=True)
class InitiatorHostNameOfOtherSessionAtLaterNextHop(SessionAddressResolving):
    """When the initiator selects a later next hop, RemoteQMHostName becomes the host name of another session."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        for other in self.qm.sessions.values():
            if session.NextHopIndexer and other is not session and other.initiator:
                session.RemoteQMHostName = other.RemoteQMHostName


@fault("initiator-resolves-again-after-lost-session", breaks="MQQB-3.1.6.1-09", blind=True)
class InitiatorResolvesAgainAfterLostSession(SessionClosing):
    """When a session that was open is lost, the initiator resolves the destination again instead of trying the further
    next hops that it knows.
    """

    def close(self, session: Session, reason: str, now: Now) -> None:
        opened = session.SessionState is SessionState.OPEN
        super().close(session, reason, now)
        if opened and session.NextHopCollection:
            session.NextHopIndexer = len(session.NextHopCollection) - 1


@fault("initiator-resolves-again-after-refused-session", breaks="MQQB-3.1.6.1-09")
class InitiatorResolvesAgainAfterRefusedSession(SessionClosing):
    """When the acceptor at a next hop refuses a session, the initiator resolves the destination again instead of trying
    the further next hops that it knows.
    """

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        if status is ConnectionStatus.CONNECTION_REFUSED:
            session.NextHopIndexer = len(session.NextHopCollection) - 1


@fault("initiator-connects-to-same-next-hop-again-after-refused-session", breaks="MQQB-3.1.6.1-06")
class InitiatorConnectsToSameNextHopAgainAfterRefusedSession(SessionClosing):
    """When the acceptor at a next hop refuses a session, the initiator connects to the same address again, although it
    selects the following next hop.
    """

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        following = session.NextHopIndexer + 1
        if status is ConnectionStatus.CONNECTION_REFUSED and following < len(session.NextHopCollection):
            hop = session.NextHopCollection[following]
            session.NextHopCollection[following] = replace(hop, Address=session.RemoteQMAddress)
