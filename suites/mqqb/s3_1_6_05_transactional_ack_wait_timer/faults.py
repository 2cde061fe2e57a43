"""Faults that break rules of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event."""

from __future__ import annotations

from harness.faults.events import call_after_posted_events
from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.events import SessionMaySend
from reference_qm.core.part import QM
from reference_qm.core.transfer.transactional_sending import (
    TransactionalSending,
    get_outgoing_sequence,
    stop_counting_as_unacknowledged,
)
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "sender-resend-timer-ignored",
    ("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02"),
    "The sender resends nothing when the Transactional Ack Wait Timer expires.",
    omit_step(TransactionalSending.on_ack_wait_timer),
)


@fault("sender-resends-only-first-message-without-order-ack", breaks="MQQB-3.1.6.5-01")
class SenderResendsOnlyFirstMessageWithoutOrderAck(TransactionalSending):
    """The sender resends only the first message that no OrderAck has acknowledged."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in waiting[1:]:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)


@fault("sender-resends-nontransactional-messages-too", breaks="MQQB-3.1.6.5-01")
class SenderResendsNontransactionalMessagesToo(TransactionalSending):
    """The sender resends nontransactional messages together with the transactional messages."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if not position.TxSequenceNumber:
                session.OutgoingMessageTable.mark_for_resending(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.message_sending.dispatch_messages(session, now)


@fault("sender-resend-timer-not-restarted", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendTimerNotRestarted(TransactionalSending):
    """The sender stops the Transactional Ack Wait Timer after the first resend."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        call_after_posted_events(
            self.qm, lambda: self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT)
        )


@fault("sender-resends-only-oldest-message-at-ack-wait-timer-expiry", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsOnlyOldestMessageAtAckWaitTimerExpiry(TransactionalSending):
    """When the Transactional Ack Wait Timer expires, the sender resends only the oldest message that no
    OrderAck has acknowledged.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[1:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[1:]:
            one.ReceivedOrderAck = False


@fault("sender-resends-at-most-ten-messages", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsAtMostTenMessages(TransactionalSending):
    """The sender resends at most ten messages when the Transactional Ack Wait Timer expires."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[10:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[10:]:
            one.ReceivedOrderAck = False


@fault("sender-message-without-session-ack-not-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderMessageWithoutSessionAckNotSentAgain(TransactionalSending):
    """When the Transactional Ack Wait Timer expires, the sender resends only the messages that a session acknowledgment
    has acknowledged.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.lengthen_resend_interval(session)
        if get_outgoing_sequence(session).UnackedSequence:
            self.start_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber and position.ReceivedSessionAck and not position.ReceivedOrderAck:
                stop_counting_as_unacknowledged(session, position)
                session.OutgoingMessageTable.mark_for_resending(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.post_event(SessionMaySend(session))


@fault("sender-resends-first-unacknowledged-message-only", breaks=("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02"), blind=True)
class SenderResendsFirstUnacknowledgedMessageOnly(TransactionalSending):
    """When the Transactional Ack Wait Timer expires, the sender resends only the first transactional message that no
    OrderAck has acknowledged.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        later = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck][1:]
        for position in later:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in later:
            position.ReceivedOrderAck = False


@fault("sender-resends-transactional-messages-only-at-first-expiry", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsTransactionalMessagesOnlyAtFirstExpiry(TransactionalSending):
    """The sender resends its transactional messages only at the first expiry of the Transactional Ack Wait Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: set[object] = set()

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        first = get_outgoing_sequence(session).UnackedSequence[:1]
        key = (session.number, *(one.SeqNo for one in first))
        if key in self.expired:
            self.start_ack_wait_timer(session, now)
            return
        self.expired.add(key)
        super().on_ack_wait_timer(session, now)


@fault("sender-large-message-not-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderLargeMessageNotSentAgain(TransactionalSending):
    """The sender does not send a transactional message with more than 4,000 bytes of body again when the Transactional
    Ack Wait Timer expires.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        large = [
            one
            for one in session.OutgoingMessageTable
            if not one.ReceivedOrderAck and len(one.UserMessage.MessagePropertiesHeader.MessageBody) > 4000
        ]
        for position in large:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in large:
            position.ReceivedOrderAck = False


@fault("sender-resends-messages-of-first-queue-only", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsMessagesOfFirstQueueOnly(TransactionalSending):
    """The sender resends the transactional messages of only that outgoing queue whose timer expired first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Session | None = None

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        self.first = self.first or session
        if session is self.first:
            super().on_ack_wait_timer(session, now)
        else:
            self.start_ack_wait_timer(session, now)


@fault("sender-transactional-ack-wait-timer-resends-messages-of-first-session-only", breaks="MQQB-3.1.6.5-01")
class SenderTransactionalAckWaitTimerResendsMessagesOfFirstSessionOnly(TransactionalSending):
    """When the Transactional Ack Wait Timer of a session expires, the sender resends the messages of its first session
    only.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values())).session
        super().on_ack_wait_timer(first, now)
