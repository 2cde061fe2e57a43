"""Faults that break rules of MS-MQQB 3.1.6.9 Order Ack Send Timer Event."""

from __future__ import annotations

from harness.faults.other_sessions import get_newest_session
from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-timer-sends-only-at-first-expiry-of-session", breaks="MQQB-3.1.6.9-01", blind=True)
class ReceiverOrderAckTimerSendsOnlyAtFirstExpiryOfSession(OrderAcks):
    """The receiver sends OrderAcks only at the first expiry of the Order Ack Send Timer of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: set[int] = set()

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if session.number not in self.expired:
            self.expired.add(session.number)
            super().on_order_ack_send_timer(session, now)


@fault("receiver-order-ack-timer-shared-by-sessions", breaks="MQQB-3.1.6.9-01", blind=True)
class ReceiverOrderAckTimerSharedBySessions(OrderAcks):
    """The receiver has one Order Ack Send Timer for all sessions: when it starts the timer for one session, it stops
    the timer of every other session.
    """

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        super().start_order_ack_timer(session, now)
        for other in self.qm.sessions.values():
            if other is not session:
                self.qm.session_timers.stop(other, TimerName.ORDER_ACK_SEND)


@fault("receiver-order-ack-only-at-first-expiry", breaks="MQQB-3.1.6.9-01", blind=True)
class ReceiverOrderAckOnlyAtFirstExpiry(OrderAcks):
    """The receiver sends an OrderAck on a session only at the first expiry of the Order Ack Send Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[int] = set()

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if session.number not in self.done:
            super().on_order_ack_send_timer(session, now)
        self.done.add(session.number)


@fault("receiver-order-ack-only-to-newest-sender", breaks="MQQB-3.1.6.9-01")
class ReceiverOrderAckOnlyToNewestSender(OrderAcks):
    """When several sessions are open, the receiver sends OrderAcks only on the newest session."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if get_newest_session(self.qm, session) is session:
            super().on_order_ack_send_timer(session, now)


@fault("receiver-last-order-ack-send-time-not-updated", breaks="MQQB-3.1.6.9-02")
class ReceiverLastOrderAckSendTimeNotUpdated(OrderAcks):
    """The receiver does not update LastOrderAckSendTime when it sends an OrderAck."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        time_s = session.LastOrderAckSendTime
        super().on_order_ack_send_timer(session, now)
        session.LastOrderAckSendTime = time_s


@fault("receiver-last-order-ack-send-time-stays-that-of-first-order-ack", breaks="MQQB-3.1.6.9-02", blind=True)
class ReceiverLastOrderAckSendTimeStaysThatOfFirstOrderAck(OrderAcks):
    """The receiver sets LastOrderAckSendTime only when it sends the first OrderAck of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.times: dict[Session, int] = {}

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        super().on_order_ack_send_timer(session, now)
        session.LastOrderAckSendTime = self.times.setdefault(session, session.LastOrderAckSendTime)


@fault("receiver-last-order-ack-send-time-set-once", breaks="MQQB-3.1.6.9-02", blind=True)
class ReceiverLastOrderAckSendTimeSetOnce(OrderAcks):
    """The receiver sets LastOrderAckSendTime only at the first OrderAck of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[int] = set()

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        before = session.LastOrderAckSendTime
        super().on_order_ack_send_timer(session, now)
        if session.number in self.done:
            session.LastOrderAckSendTime = before
        self.done.add(session.number)
