"""Faults in the resolution of later destinations and in later resolutions. MS-MQQB 3.1.5.2.1 Resolve Host Address."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.opening_sessions import has_open_session, sends_transactional_message
from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving, format_next_hop
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


def _is_destination_unknown(part: SessionAddressResolving, session: Session) -> bool:
    return part.qm.next_hops.get_destination_info(get_outgoing_queue(session).DestinationFormatName) is None


def _count_failed_resolutions(session: Session) -> int:
    failed = ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
    return sum(entry.Status is failed for entry in get_outgoing_queue(session).ConnectionHistory)


class _MissingRetryTimerFault(SessionAddressResolving):
    """A base class of faults that do not start the Session Retry Connect Timer after those failures that a subclass
    selects.
    """

    def stop_retry_timer(self, session: Session) -> None:
        """Stop the timer that the failed resolution has started."""
        self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-retry-timer-not-started-when-destination-unknown-again", breaks="MQQB-3.1.5.2.1-10", blind=True)
class InitiatorRetryTimerNotStartedWhenDestinationUnknownAgain(_MissingRetryTimerFault):
    """The initiator starts the Session Retry Connect Timer only the first time that a destination is unknown."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        super().resolve_host_address(session, now)
        if _is_destination_unknown(self, session) and _count_failed_resolutions(session) > 1:
            self.stop_retry_timer(session)


@fault("initiator-retry-timer-not-started-for-transactional-message", breaks="MQQB-3.1.5.2.1-10", blind=True)
class InitiatorRetryTimerNotStartedForTransactionalMessage(_MissingRetryTimerFault):
    """The initiator does not start the Session Retry Connect Timer for an unknown destination for which a transactional
    message waits.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        super().resolve_host_address(session, now)
        if _is_destination_unknown(self, session) and sends_transactional_message(self.qm, session):
            self.stop_retry_timer(session)


@fault("initiator-retry-timer-not-started-when-next-hop-missing-again", breaks="MQQB-3.1.5.2.1-20", blind=True)
class InitiatorRetryTimerNotStartedWhenNextHopMissingAgain(_MissingRetryTimerFault):
    """The initiator starts the Session Retry Connect Timer only the first time that a destination has no next hop."""

    def resolve_host_address(self, session: Session, now: Now) -> None:
        super().resolve_host_address(session, now)
        if not _is_destination_unknown(self, session) and _count_failed_resolutions(session) > 1:
            self.stop_retry_timer(session)


@fault("initiator-retry-timer-not-started-for-second-queue-without-route", breaks="MQQB-3.1.5.2.1-20", blind=True)
class InitiatorRetryTimerNotStartedForSecondQueueWithoutRoute(_MissingRetryTimerFault):
    """The initiator does not start the Session Retry Connect Timer for a destination without a next hop while another
    destination waits for its own timer.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        waiting = SessionState.WAITING_RECONNECT
        other = any(one is not session and one.SessionState is waiting for one in self.qm.sessions.values())
        super().resolve_host_address(session, now)
        if other and not _is_destination_unknown(self, session) and _count_failed_resolutions(session):
            self.stop_retry_timer(session)


@fault("initiator-direct-host-name-cut-at-dot", breaks="MQQB-3.1.5.2.1-13", blind=True)
class InitiatorDirectHostNameCutAtDot(NextHops):
    """The initiator uses only the first label of the host name in a direct format name with the protocol OS."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or not format_name.lower().startswith("direct=os:"):
            return found
        return replace(found, HostName=found.HostName.partition(".")[0])


@fault("initiator-connects-second-direct-name-to-host-of-open-session", breaks="MQQB-3.1.5.2.1-13", blind=True)
class InitiatorConnectsSecondDirectNameToHostOfOpenSession(SessionAddressResolving):
    """While a session to a direct format name is open, the initiator connects to the host of this session for another
    direct format name.
    """

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        others = [one for one in list_open_sessions(self.qm, session) if one.initiator and one.is_destination_direct]
        if session.is_destination_direct and others:
            session.RemoteQMAddress = others[-1].RemoteQMAddress


@fault("initiator-next-hops-after-established-session-not-cleared", breaks="MQQB-3.1.5.2.1-23", blind=True)
class InitiatorNextHopsAfterEstablishedSessionNotCleared(SessionAddressResolving):
    """When the initiator resolves a destination again after a session with this destination was established, it does
    not clear NextHops.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        queue = get_outgoing_queue(session)
        established = [one.AddressList for one in queue.ConnectionHistory if one.Status is ConnectionStatus.ESTABLISHED]
        queue.NextHops += [format_next_hop(address) for address in established[-1:]]
        super().connect_to_resolved_addresses(session, now)


@fault("initiator-next-hop-indexer-kept-after-resolution", breaks="MQQB-3.1.5.2.1-33", blind=True)
class InitiatorNextHopIndexerKeptAfterResolution(SessionAddressResolving):
    """After a further resolution, the initiator leaves NextHopIndexer at the next hop that was used last."""

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        before = session.NextHopIndexer
        super().connect_to_resolved_addresses(session, now)
        if session.NextHopCollection and 0 < before < len(session.NextHopCollection):
            session.NextHopIndexer = before
            self.select_next_hop(session)


@fault("initiator-next-hop-indexer-starts-at-last-while-session-is-open", breaks="MQQB-3.1.5.2.1-33", blind=True)
class InitiatorNextHopIndexerStartsAtLastWhileSessionIsOpen(SessionAddressResolving):
    """While another session is open, the initiator begins with the last next hop of a destination."""

    def select_next_hop(self, session: Session) -> None:
        if has_open_session(self.qm, session) and not session.is_retrying_connection:
            session.NextHopIndexer = len(session.NextHopCollection) - 1
        super().select_next_hop(session)


@fault("initiator-connects-to-last-next-hop-instead-of-indexed-one", breaks="MQQB-3.1.5.2.1-34", blind=True)
class InitiatorConnectsToLastNextHopInsteadOfIndexedOne(SessionConnecting):
    """The initiator connects to the last next hop in the list, although NextHopIndexer and the ping refer to another
    one.
    """

    def connect_transport(self, session: Session) -> None:
        address = session.RemoteQMAddress
        session.RemoteQMAddress = session.NextHopCollection[-1].Address
        super().connect_transport(session)
        session.RemoteQMAddress = address


@fault("initiator-connects-to-address-of-open-session-for-other-host", breaks="MQQB-3.1.5.2.1-34", blind=True)
class InitiatorConnectsToAddressOfOpenSessionForOtherHost(SessionConnecting):
    """While another session is open, the initiator connects to the address of that session."""

    def connect_transport(self, session: Session) -> None:
        address = session.RemoteQMAddress
        others = [one for one in list_open_sessions(self.qm, session) if one.initiator]
        if others:
            session.RemoteQMAddress = others[0].RemoteQMAddress
        super().connect_transport(session)
        session.RemoteQMAddress = address


@fault("initiator-remote-host-name-cut-at-dot", breaks="MQQB-3.1.5.2.1-36", blind=True)
class InitiatorRemoteHostNameCutAtDot(SessionAddressResolving):
    """The initiator sets RemoteQMHostName to the first label of the host name of a next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        if not session.RemoteQMHostName.replace(".", "").isdigit():
            session.RemoteQMHostName = session.RemoteQMHostName.partition(".")[0]


@fault("initiator-remote-host-name-of-second-session-same-as-first", breaks="MQQB-3.1.5.2.1-36", blind=True)
class InitiatorRemoteHostNameOfSecondSessionSameAsFirst(SessionAddressResolving):
    """While another session is open, the initiator sets RemoteQMHostName to the host name of that session."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        others = [one for one in list_open_sessions(self.qm, session) if one.initiator]
        if others:
            session.RemoteQMHostName = others[0].RemoteQMHostName
