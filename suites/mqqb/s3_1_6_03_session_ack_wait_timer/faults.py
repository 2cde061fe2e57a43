"""Faults of MS-MQQB 3.1.6.3 Session Ack Wait Timer Event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _wait_on(original: Any, *_: Any) -> Callable[[QueueManager, Session, str, Now], None]:
    return lambda qm, session, reason, now: qm.session_acks.start_wait_timer(session, now)


add(
    "unacknowledged-session-never-closed",
    ("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"),
    "The Session Ack Wait Timer is started again where it should close the session.",
    during(SessionAcks.on_wait_timer, Closing.close, _wait_on),
)


@fault("ack-wait-restarted-for-nothing", breaks="MQQB-3.1.6.3-02")
class RestartedForNothing(SessionAcks):
    """The Session Ack Wait Timer is restarted with nothing unacknowledged."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        super().on_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            self.start_wait_timer(session, now)


@fault("ack-wait-keeps-what-was-heard", breaks="MQQB-3.1.6.3-02")
class ReceivedAckKeptForNothing(SessionAcks):
    """ReceivedAck stays TRUE when the Session Ack Wait Timer expires with nothing unacknowledged."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        super().on_wait_timer(session, now)
        if not session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = True


@fault("ack-wait-ignores-what-was-heard", breaks="MQQB-3.1.6.3-04")
class ReceivedAckIgnored(SessionAcks):
    """The Session Ack Wait Timer closes the session at its first expiry, whatever was received."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        session.ReceivedAck = False
        super().on_wait_timer(session, now)


@fault("ack-wait-never-forgets-what-was-heard", breaks="MQQB-3.1.6.3-04")
class ReceivedAckNeverCleared(SessionAcks):
    """ReceivedAck stays TRUE when the Session Ack Wait Timer is restarted."""

    def on_wait_timer(self, session: Session, now: Now) -> None:
        super().on_wait_timer(session, now)
        if session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = True


@fault("wait-for-acknowledgment-goes-on-once", breaks="MQQB-3.1.6.3-04", blind=True)
class WaitForAcknowledgmentGoesOnOnce(SessionAcks):
    """A wait that ends with a packet received starts again once; its second end closes the session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._gone_on: set[int] = set()

    def on_wait_timer(self, session: Session, now: Now) -> None:
        if session.number in self._gone_on and session.OutgoingMessageTable.awaiting_ack:
            session.ReceivedAck = False
        self._gone_on.add(session.number)
        super().on_wait_timer(session, now)
