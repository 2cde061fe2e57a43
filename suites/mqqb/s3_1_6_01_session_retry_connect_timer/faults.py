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
    "session-retry-does-nothing",
    "MQQB-3.1.6.1-01",
    "Nothing is done when the Session Retry Connect Timer expires.",
    skip(Establishing.on_session_retry_connect_timer),
)


@fault("session-retry-with-nothing-left", breaks="MQQB-3.1.6.1-01")
class RetryWithNothingLeft(Establishing):
    """A session whose messages were acknowledged while it was lost is established again, too."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT and not len(session.OutgoingMessageTable):
            self.qm.establishing.establish(session, now, again=True)
        else:
            super().on_session_retry_connect_timer(session, now)


@fault("session-retry-connects-in-silence", breaks="MQQB-3.1.6.1-03")
class RetryConnectsInSilence(Establishing):
    """A session is tried again by a connection on which no EstablishConnection is sent."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        if not session.retrying:
            super().send_establish_request(session, now)


def _retried(change: Callable[[Session], None]) -> Install:
    """Change a session that is about to be tried again; the timer runs also while it is set up (3.1.3.2)."""

    class Retried(Establishing):
        def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
            if session.SessionState is SessionState.WAITING_RECONNECT:
                change(session)
            super().on_session_retry_connect_timer(session, now)

    return replace_part(Retried)


def _stay(session: Session) -> None:
    session.NextHopIndexer = -1


def _resolve_again(session: Session) -> None:
    session.NextHopIndexer = len(session.NextHopCollection)


def _forget_one(session: Session) -> None:
    session.OutgoingMessageTable.remove(next(iter(session.OutgoingMessageTable)))


add(
    "next-hop-not-advanced",
    ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
    "Every attempt goes to the first address of a host.",
    _retried(_stay),
)
add(
    "next-hop-resolved-again",
    "MQQB-3.1.6.1-09",
    "The host name is resolved again for each attempt, which then begins with its first address.",
    _retried(_resolve_again),
)


def _forget_recoverable(session: Session) -> None:
    for position in session.OutgoingMessageTable:
        if position.recoverable and not position.TxSequenceNumber:
            session.OutgoingMessageTable.remove(position)


add(
    "recoverable-forgotten-by-session-retry",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "Recoverable messages that are not transactional are forgotten when the session is tried again.",
    _retried(_forget_recoverable),
)
add(
    "message-forgotten-by-session-retry",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "The first of the messages left is forgotten when the session is tried again.",
    _retried(_forget_one),
)


# -- the next hop that is taken ------------------------------------------------------------------------------------


@fault("next-hop-address-not-taken", breaks="MQQB-3.1.6.1-06")
class NextHopAddressNotTaken(Resolving):
    """RemoteQMAddress stays the address of the first next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMAddress = session.NextHopCollection[0].Address


@fault("next-hop-host-name-not-taken", breaks="MQQB-3.1.6.1-07")
class NextHopHostNameNotTaken(Resolving):
    """RemoteQMHostName is empty once a next hop was selected."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMHostName = ""


@fault("next-hop-guid-not-taken", breaks="MQQB-3.1.6.1-08")
class NextHopGuidNotTaken(Resolving):
    """RemoteQMGuid is the own one once a next hop was selected."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMGuid = self.qm.adm.Identifier


@fault("next-hop-none-after-the-last", breaks="MQQB-3.1.6.1-03")
class NoneAfterTheLast(Establishing):
    """When the last of several addresses of a host was tried, too, none is tried any more."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer + 1 < max(2, len(session.NextHopCollection)):
            super().on_session_retry_connect_timer(session, now)


@fault("express-messages-lost-with-their-session", breaks="MQQB-3.1.6.1-10", blind=True)
class ExpressMessagesLostWithTheirSession(Closing):
    """Express messages that were sent and not acknowledged are forgotten when their session ends."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            if position.AwaitingAck and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)
