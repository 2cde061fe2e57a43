"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

add(
    "initiator-session-retry-timer-ignored",
    "MQQB-3.1.6.1-01",
    "The initiator does nothing when the Session Retry Connect Timer expires.",
    skip(Establishing.on_session_retry_connect_timer),
)


@fault("initiator-reconnection-after-late-acknowledgment", breaks="MQQB-3.1.6.1-01")
class InitiatorReconnectionAfterLateAcknowledgment(Establishing):
    """The initiator connects again although all its messages were acknowledged after the loss of the session."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT and not len(session.OutgoingMessageTable):
            self.qm.establishing.establish(session, now, again=True)
        else:
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-reconnection-establish-connection-not-sent", breaks="MQQB-3.1.6.1-03")
class InitiatorReconnectionEstablishConnectionNotSent(Establishing):
    """The initiator connects again but sends no EstablishConnection request."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        if not session.retrying:
            super().send_establish_request(session, now)


def _change_before_retry(change: Callable[[Session], None]) -> Install:
    """Change a session before the initiator tries to connect again. The timer also runs while a session is being set up
    (3.1.3.2).
    """

    class Retried(Establishing):
        def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
            if session.SessionState is SessionState.WAITING_RECONNECT:
                change(session)
            super().on_session_retry_connect_timer(session, now)

    return replace_part(Retried)


def _reset_next_hop_indexer(session: Session) -> None:
    session.NextHopIndexer = -1


def _end_next_hop_list(session: Session) -> None:
    session.NextHopIndexer = len(session.NextHopCollection)


def _remove_first_outgoing_message(session: Session) -> None:
    session.OutgoingMessageTable.remove(next(iter(session.OutgoingMessageTable)))


add(
    "initiator-next-hop-index-not-incremented",
    ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
    "The initiator always tries the first address of a host name.",
    _change_before_retry(_reset_next_hop_indexer),
)
add(
    "initiator-host-name-resolved-for-each-attempt",
    "MQQB-3.1.6.1-09",
    "The initiator resolves the host name again for each attempt and begins with the first address.",
    _change_before_retry(_end_next_hop_list),
)


def _remove_recoverable_messages(session: Session) -> None:
    for position in session.OutgoingMessageTable:
        if position.recoverable and not position.TxSequenceNumber:
            session.OutgoingMessageTable.remove(position)


add(
    "initiator-loses-recoverable-messages-at-reconnection",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "The initiator drops recoverable nontransactional messages when it connects again.",
    _change_before_retry(_remove_recoverable_messages),
)
add(
    "initiator-loses-first-message-at-reconnection",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "The initiator drops the first unacknowledged message when it connects again.",
    _change_before_retry(_remove_first_outgoing_message),
)


# -- selection of the next hop --------------------------------------------------------------------------------------


@fault("initiator-next-hop-address-not-selected", breaks="MQQB-3.1.6.1-06")
class InitiatorNextHopAddressNotSelected(Resolving):
    """The initiator leaves RemoteQMAddress at the address of the first next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMAddress = session.NextHopCollection[0].Address


@fault("initiator-next-hop-host-name-empty", breaks="MQQB-3.1.6.1-07")
class InitiatorNextHopHostNameEmpty(Resolving):
    """The initiator sets RemoteQMHostName to an empty string when it selects a next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMHostName = ""


@fault("initiator-next-hop-guid-set-to-own-guid", breaks="MQQB-3.1.6.1-08")
class InitiatorNextHopGuidSetToOwnGuid(Resolving):
    """The initiator sets RemoteQMGuid to its own GUID when it selects a next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMGuid = self.qm.adm.Identifier


@fault("initiator-no-attempt-after-last-next-hop", breaks="MQQB-3.1.6.1-03")
class InitiatorNoAttemptAfterLastNextHop(Establishing):
    """The initiator stops trying to connect after the last of several addresses of a host name."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer + 1 < max(2, len(session.NextHopCollection)):
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-express-messages-lost-with-session", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorExpressMessagesLostWithSession(Closing):
    """The initiator drops unacknowledged express messages when their session ends."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            if position.AwaitingAck and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)
