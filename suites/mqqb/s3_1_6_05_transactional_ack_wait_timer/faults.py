"""Faults of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event."""

from __future__ import annotations

from harness.faults.events import after_events
from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "resend-nothing",
    ("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02"),
    "Nothing is sent again when the Transactional Ack Wait Timer expires.",
    skip(TransactionalSending.on_ack_wait_timer),
)


@fault("resend-first-only", breaks="MQQB-3.1.6.5-01")
class ResendFirstOnly(TransactionalSending):
    """Only the first of the messages that wait for their OrderAck is sent again."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in waiting[1:]:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)


@fault("resend-all-kinds", breaks="MQQB-3.1.6.5-01")
class ResendAllKinds(TransactionalSending):
    """Messages that are not transactional are sent again with those that are."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if not position.TxSequenceNumber:
                session.OutgoingMessageTable.send_again(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.sending.dispatch_messages(session, now)


@fault("sent-again-only-once", breaks="MQQB-3.1.6.5-01", blind=True)
class SentAgainOnlyOnce(TransactionalSending):
    """Once messages were sent again the Transactional Ack Wait Timer does not run any more."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        after_events(self.qm, lambda: self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT))


@fault("only-the-oldest-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class OnlyTheOldestSentAgain(TransactionalSending):
    """When the timer expires only the oldest message without OrderAck is sent again."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[1:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[1:]:
            one.ReceivedOrderAck = False


@fault("messages-beyond-a-window-not-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class MessagesBeyondTenNotSentAgain(TransactionalSending):
    """At most ten messages are sent again."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[10:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[10:]:
            one.ReceivedOrderAck = False
