"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-retry-ends-after-three-attempts", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorRetryEndsAfterThreeAttempts(Establishing):
    """The initiator does not try to connect again after three failed retries, although messages wait."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.attempts: dict[int, int] = {}

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        self.attempts[session.number] = self.attempts.get(session.number, 0) + 1
        if self.attempts[session.number] <= 3:
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-retry-for-express-messages-only-omitted", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorRetryForExpressMessagesOnlyOmitted(Establishing):
    """The initiator does not connect again if only express messages wait."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if any(position.recoverable for position in session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)


@fault("initiator-retry-of-one-queue-at-a-time", breaks="MQQB-3.1.6.1-01", blind=True)
class InitiatorRetryOfOneQueueAtATime(Closing):
    """The initiator stops the retries of other outgoing queues when it starts the retry of one queue."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        super().await_reconnect(session, now)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            for other in self.qm.sessions.values():
                if other is not session and other.SessionState is SessionState.WAITING_RECONNECT:
                    self.qm.session_timers.stop(other, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-retry-third-next-hop-skipped", breaks=("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"), blind=True)
class InitiatorRetryThirdNextHopSkipped(Establishing):
    """If a host has three next hops, the initiator skips the third next hop and begins a new attempt
    with the first next hop.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if session.NextHopIndexer == 1:
            session.NextHopIndexer = len(session.NextHopCollection)
        super().on_session_retry_connect_timer(session, now)


@fault("initiator-retry-begins-with-last-next-hop", breaks="MQQB-3.1.6.1-03", blind=True)
class InitiatorRetryBeginsWithLastNextHop(Resolving):
    """After all next hops have failed, the initiator resolves the host name again, but tries the last next hop
    first.
    """

    def select_next_hop(self, session: Session) -> None:
        if session.retrying and session.NextHopIndexer == 0:
            session.NextHopIndexer = len(session.NextHopCollection) - 1
        super().select_next_hop(session)


@fault("initiator-new-session-repeats-first-messages-only", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorNewSessionRepeatsFirstMessagesOnly(SessionInitialization):
    """On the new session, the initiator resends only the first two messages of the lost session."""

    def initialize_messages(self, session: Session) -> None:
        sent = [position for position in session.OutgoingMessageTable if position.AwaitingAck]
        super().initialize_messages(session)
        for position in sent[2:]:
            session.OutgoingMessageTable.remove(position)


@fault(
    "initiator-new-session-without-messages-of-later-session",
    breaks=("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
    blind=True,
)
class InitiatorNewSessionWithoutMessagesOfLaterSession(SessionInitialization):
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


@fault("initiator-new-session-without-messages-without-order-ack", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorNewSessionWithoutMessagesWithoutOrderAck(SessionInitialization):
    """The initiator does not resend a transactional message for which a session acknowledgment arrived, but no
    OrderAck.
    """

    def initialize_messages(self, session: Session) -> None:
        marked = [position for position in session.OutgoingMessageTable if position.ReceivedSessionAck]
        super().initialize_messages(session)
        for position in marked:
            if position.TxSequenceNumber:
                session.OutgoingMessageTable.retain(position)
                position.ReceivedSessionAck = True


@fault("initiator-new-session-without-large-messages", breaks="MQQB-3.1.6.1-10", blind=True)
class InitiatorNewSessionWithoutLargeMessages(SessionInitialization):
    """On a new session, the initiator does not send the unacknowledged messages with more than 4,000 bytes of body."""

    def initialize_messages(self, session: Session) -> None:
        lost = [one for one in session.OutgoingMessageTable if one.AwaitingAck]
        super().initialize_messages(session)
        for position in lost:
            if len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4000:
                session.OutgoingMessageTable.remove(position)
