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
    "sender-resend-timer-ignored",
    ("MQQB-3.1.6.5-01", "MQQB-3.1.6.5-02"),
    "The sender resends nothing when the Transactional Ack Wait Timer expires.",
    skip(TransactionalSending.on_ack_wait_timer),
)


@fault("sender-resend-first-message-only", breaks="MQQB-3.1.6.5-01")
class SenderResendFirstMessageOnly(TransactionalSending):
    """The sender resends only the first message that no OrderAck has acknowledged."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for position in waiting[1:]:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)


@fault("sender-resend-nontransactional-messages", breaks="MQQB-3.1.6.5-01")
class SenderResendNontransactionalMessages(TransactionalSending):
    """The sender resends nontransactional messages together with the transactional messages."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        for position in session.OutgoingMessageTable:
            if not position.TxSequenceNumber:
                session.OutgoingMessageTable.send_again(position)
                self.qm.dispatch_collection.add(session, position)
        self.qm.sending.dispatch_messages(session, now)


@fault("sender-resend-timer-not-restarted", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendTimerNotRestarted(TransactionalSending):
    """The sender stops the Transactional Ack Wait Timer after the first resend."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        super().on_ack_wait_timer(session, now)
        after_events(self.qm, lambda: self.qm.session_timers.stop(session, TimerName.TRANSACTIONAL_ACK_WAIT))


@fault("sender-resend-oldest-message-only", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendOldestMessageOnly(TransactionalSending):
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


@fault("sender-resend-at-most-ten-messages", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendAtMostTenMessages(TransactionalSending):
    """The sender resends at most ten messages when the Transactional Ack Wait Timer expires."""

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        waiting = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck]
        for one in waiting[10:]:
            one.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for one in waiting[10:]:
            one.ReceivedOrderAck = False
