"""Faults in the causes of a SessionAck (MS-MQQB 3.1.1.6.1)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-of-second-full-window-omitted", breaks="MQQB-3.1.1.6.1-D01", blind=True)
class ReceiverSessionAckOfSecondFullWindowOmitted(SessionAcks):
    """The receiver sends a SessionAck for a full window only once on each session."""

    def acknowledge_full_window(self, session: Session, now: Now) -> None:
        if session.MessageReceivedCount <= session.ReceivedWindowSize:
            super().acknowledge_full_window(session, now)


@fault(
    "receiver-session-ack-of-express-messages-after-timer-omitted",
    breaks=("MQQB-3.1.1.6.1-D01", "MQQB-3.1.2.5-D01", "MQQB-3.1.6.4-01", "MQQB-3.1.6.4-04", "MQQB-3.1.6.4-11"),
    blind=True,
)
class ReceiverSessionAckOfExpressMessagesAfterTimerOmitted(SessionAcks):
    """After the receiver has acknowledged recoverable messages on a session, it sends no SessionAck for express
    messages when the Session Ack Send Timer expires.
    """

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        if session.RecoverableMsgAckFlags or not session.LastAckedRecoverableMsgSeqNumber:
            super().on_order_ack_send_timer(session, now)
