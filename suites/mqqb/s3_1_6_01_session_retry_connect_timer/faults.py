"""Faults that break rules of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "initiator-session-retry-timer-ignored",
    "MQQB-3.1.6.1-01",
    "The initiator does nothing when the Session Retry Connect Timer expires.",
    omit_step(SessionEstablishing.on_session_retry_connect_timer),
)


@fault("initiator-reconnects-although-all-messages-acknowledged", breaks="MQQB-3.1.6.1-01")
class InitiatorReconnectsAlthoughAllMessagesAcknowledged(SessionEstablishing):
    """The initiator connects again although all its messages were acknowledged after the loss of the session."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT and not len(session.OutgoingMessageTable):
            self.qm.session_establishing.establish(session, now, again=True)
        else:
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-retry-ends-after-three-attempts", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorRetryEndsAfterThreeAttempts(SessionEstablishing):
    """The initiator does not try to connect again after three failed retries, although messages wait."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.attempts: dict[int, int] = {}

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        self.attempts[session.number] = self.attempts.get(session.number, 0) + 1
        if self.attempts[session.number] <= 3:
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-does-not-retry-for-express-messages-only", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorDoesNotRetryForExpressMessagesOnly(SessionEstablishing):
    """The initiator does not connect again if only express messages wait."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if any(position.recoverable for position in session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-retries-only-one-outgoing-queue-at-a-time", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorRetriesOnlyOneOutgoingQueueAtATime(SessionClosing):
    """The initiator stops the retries of other outgoing queues when it starts the retry of one queue."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        super().await_reconnect(session, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            for other in self.qm.sessions.values():
                if other is not session and other.SessionState is SessionState.WAITING_RECONNECT:
                    self.qm.session_timers.stop(other, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-reconnects-without-establish-connection-request", breaks="MQQB-3.1.6.1-03")
class InitiatorReconnectsWithoutEstablishConnectionRequest(SessionEstablishing):
    """The initiator connects again but sends no EstablishConnection request."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        if not session.is_retrying_connection:
            super().send_establish_request(session, now)


@fault("initiator-no-attempt-after-last-next-hop", breaks="MQQB-3.1.6.1-03")
class InitiatorNoAttemptAfterLastNextHop(SessionEstablishing):
    """The initiator stops trying to connect after the last of several addresses of a host name."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer + 1 < max(2, len(session.NextHopCollection)):
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-retry-begins-with-last-next-hop", breaks="MQQB-3.1.6.1-03", blind=True)
class InitiatorRetryBeginsWithLastNextHop(SessionAddressResolving):
    """After all next hops have failed, the initiator resolves the host name again, but tries the last next hop
    first.
    """

    def select_next_hop(self, session: Session) -> None:
        if session.is_retrying_connection and session.NextHopIndexer == 0:
            session.NextHopIndexer = len(session.NextHopCollection) - 1
        super().select_next_hop(session)


@fault("initiator-makes-no-attempt-at-second-expiry-of-retry-timer", breaks="MQQB-3.1.6.1-03", blind=True)
class InitiatorMakesNoAttemptAtSecondExpiryOfRetryTimer(SessionEstablishing):
    """The initiator opens a session again only once: when the Session Retry Connect Timer of the session expires for
    the second time, and no further next hop is known, the initiator makes no attempt.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.retried: set[int] = set()

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        waiting = session.SessionState is SessionState.WAITING_RECONNECT and len(session.OutgoingMessageTable) > 0
        if waiting and session.NextHopIndexer + 1 >= len(session.NextHopCollection):
            if session.number in self.retried:
                return
            self.retried.add(session.number)
        super().on_session_retry_connect_timer(session, now)


def _change_session_before_retry(change: Callable[[Session], None]) -> Install:
    """Change a session before the initiator tries to connect again. The session is not changed when the Session Retry
    Connect Timer expires while the session is being set up (MS-MQQB 3.1.3.2).
    """

    class SessionChangedBeforeRetry(SessionEstablishing):
        def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
            if session.SessionState is SessionState.WAITING_RECONNECT:
                change(session)
            super().on_session_retry_connect_timer(session, now)

    return replace_part(SessionChangedBeforeRetry)


def _reset_next_hop_indexer(session: Session) -> None:
    session.NextHopIndexer = -1


add(
    "initiator-next-hop-index-not-incremented",
    ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
    "The initiator always tries the first address of a host name.",
    _change_session_before_retry(_reset_next_hop_indexer),
)


@fault("initiator-retry-third-next-hop-skipped", breaks=("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"), blind=True)
class InitiatorRetryThirdNextHopSkipped(SessionEstablishing):
    """If a host has three next hops, the initiator skips the third next hop and begins a new attempt
    with the first next hop.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer == 1:
            session.NextHopIndexer = len(session.NextHopCollection)
        super().on_session_retry_connect_timer(session, now)


@fault("initiator-next-hop-address-not-selected", breaks="MQQB-3.1.6.1-06")
class InitiatorNextHopAddressNotSelected(SessionAddressResolving):
    """The initiator leaves RemoteQMAddress at the address of the first next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMAddress = session.NextHopCollection[0].Address


@fault("initiator-next-hop-host-name-empty", breaks="MQQB-3.1.6.1-07")
class InitiatorNextHopHostNameEmpty(SessionAddressResolving):
    """The initiator sets RemoteQMHostName to an empty string when it selects a next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMHostName = ""


@fault("initiator-next-hop-guid-set-to-own-guid", breaks="MQQB-3.1.6.1-08")
class InitiatorNextHopGuidSetToOwnGuid(SessionAddressResolving):
    """The initiator sets RemoteQMGuid to its own GUID when it selects a next hop."""

    def select_next_hop(self, session: Session) -> None:
        super().select_next_hop(session)
        session.RemoteQMGuid = self.qm.adm.Identifier


def _set_next_hop_indexer_past_last_hop(session: Session) -> None:
    session.NextHopIndexer = len(session.NextHopCollection)


add(
    "initiator-host-name-resolved-for-each-attempt",
    "MQQB-3.1.6.1-09",
    "The initiator resolves the host name again for each attempt and begins with the first address.",
    _change_session_before_retry(_set_next_hop_indexer_past_last_hop),
)


def _remove_recoverable_messages(session: Session) -> None:
    for position in session.OutgoingMessageTable:
        if position.recoverable and not position.TxSequenceNumber:
            session.OutgoingMessageTable.remove(position)


add(
    "initiator-loses-recoverable-messages-at-reconnection",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "The initiator drops recoverable nontransactional messages when it connects again.",
    _change_session_before_retry(_remove_recoverable_messages),
)


def _remove_first_outgoing_message(session: Session) -> None:
    session.OutgoingMessageTable.remove(next(iter(session.OutgoingMessageTable)))


add(
    "initiator-loses-first-message-at-reconnection",
    ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    "The initiator drops the first unacknowledged message when it connects again.",
    _change_session_before_retry(_remove_first_outgoing_message),
)


@fault("initiator-express-messages-lost-with-session", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorExpressMessagesLostWithSession(SessionClosing):
    """The initiator drops unacknowledged express messages when their session ends."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            if position.AwaitingAck and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


@fault("initiator-resends-only-first-two-messages-on-new-session", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorResendsOnlyFirstTwoMessagesOnNewSession(SessionInitialization):
    """On the new session, the initiator resends only the first two messages of the lost session."""

    def initialize_messages(self, session: Session) -> None:
        sent = [position for position in session.OutgoingMessageTable if position.AwaitingAck]
        super().initialize_messages(session)
        for position in sent[2:]:
            session.OutgoingMessageTable.remove(position)


@fault(
    "initiator-message-sent-on-two-sessions-not-resent",
    breaks=("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    blind=True,
)
class InitiatorMessageSentOnTwoSessionsNotResent(SessionInitialization):
    """The initiator does not resend a message that it has already sent on two sessions."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.times: dict[int, int] = {}

    def initialize_messages(self, session: Session) -> None:
        sent = [position for position in session.OutgoingMessageTable if position.AwaitingAck]
        super().initialize_messages(session)
        for position in sent:
            self.times[position.order] = self.times.get(position.order, 0) + 1
            if self.times[position.order] > 1:
                session.OutgoingMessageTable.remove(position)


@fault("initiator-message-with-session-ack-but-no-order-ack-not-resent", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorMessageWithSessionAckButNoOrderAckNotResent(SessionInitialization):
    """The initiator does not resend a transactional message for which a session acknowledgment arrived, but no
    OrderAck.
    """

    def initialize_messages(self, session: Session) -> None:
        marked = [position for position in session.OutgoingMessageTable if position.ReceivedSessionAck]
        super().initialize_messages(session)
        for position in marked:
            if position.TxSequenceNumber:
                session.OutgoingMessageTable.keep_message_until_order_ack(position)
                position.ReceivedSessionAck = True


@fault("initiator-large-messages-not-resent-on-new-session", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorLargeMessagesNotResentOnNewSession(SessionInitialization):
    """On a new session, the initiator does not send the unacknowledged messages with more than 4,000 bytes of body."""

    def initialize_messages(self, session: Session) -> None:
        lost = [one for one in session.OutgoingMessageTable if one.AwaitingAck]
        super().initialize_messages(session)
        for position in lost:
            if len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4000:
                session.OutgoingMessageTable.remove(position)
