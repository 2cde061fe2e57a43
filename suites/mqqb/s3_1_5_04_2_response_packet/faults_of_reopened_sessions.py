"""Faults in sessions that are opened again, and in other later sessions. MS-MQQB 3.1.5.4.2 Response Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, UserMessagePacket
from reference_qm.core.sessions.session_address_resolving import format_next_hop
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


def _was_session_established_before(session: Session) -> bool:
    return any(one.Status is ConnectionStatus.ESTABLISHED for one in get_outgoing_queue(session).ConnectionHistory)


@fault("initiator-next-hops-of-reopened-session-empty", breaks="MQQB-3.1.5.4.2-04", blind=True)
class InitiatorNextHopsOfReopenedSessionEmpty(SessionOpening):
    """When a session is open again, the initiator clears NextHops, and adds no next hop."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        again = _was_session_established_before(session)
        super().receive_parameters_response(session, packet, now)
        if again:
            get_outgoing_queue(session).NextHops.clear()


@fault("initiator-next-hops-keeps-first-element-when-session-is-open", breaks="MQQB-3.1.5.4.2-04", blind=True)
class InitiatorNextHopsKeepsFirstElementWhenSessionIsOpen(SessionOpening):
    """When a session is open, the initiator keeps the first element of NextHopCollection in NextHops, although
    NextHopIndexer refers to a later one.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        get_outgoing_queue(session).NextHops[:] = [format_next_hop(session.NextHopCollection[0].Address)]


class _UnstoppedTimerFault(SessionOpening):
    """A base class of faults that do not stop the Session Initialization Timer of those sessions that a subclass
    selects.
    """

    def continue_timer(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        """Receive the response, and then let the timer run for the time that was left."""
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        super().receive_parameters_response(session, packet, now)
        if left_ms is not None:
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("initiator-session-initialization-timer-of-reopened-session-not-stopped", breaks="MQQB-3.1.5.4.2-06", blind=True)
class InitiatorSessionInitializationTimerOfReopenedSessionNotStopped(_UnstoppedTimerFault):
    """When a session is open again, the initiator does not stop the Session Initialization Timer."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if _was_session_established_before(session):
            self.continue_timer(session, packet, now)
        else:
            super().receive_parameters_response(session, packet, now)


@fault("initiator-initialization-timer-not-stopped-for-guid-destination", breaks="MQQB-3.1.5.4.2-06", blind=True)
class InitiatorInitializationTimerNotStoppedForGuidDestination(_UnstoppedTimerFault):
    """If the destination is not a direct format name, the initiator does not stop the Session Initialization Timer."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if session.is_destination_direct:
            super().receive_parameters_response(session, packet, now)
        else:
            self.continue_timer(session, packet, now)


@fault("initiator-parameters-response-with-other-window-size-refused", breaks="MQQB-3.1.5.4.2-D01", blind=True)
class InitiatorParametersResponseWithOtherWindowSizeRefused(SessionOpening):
    """The initiator closes the session if WindowSize of the response differs from its own WindowSize."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.WindowSize == session.WindowSize:
            super().receive_parameters_response(session, packet, now)
        else:
            self.qm.session_closing.close(session, "a fault", now)


@fault("initiator-transactional-message-on-own-session-refused", breaks="MQQB-3.1.5.4.2-D01", blind=True)
class InitiatorTransactionalMessageOnOwnSessionRefused(MessageReceiving):
    """The initiator closes a session on which the acceptor sends a transactional message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if session.initiator and packet.TransactionHeader is not None:
            self.qm.session_closing.close(session, "a fault", now)
        else:
            super().receive_user_message(session, packet, now)
