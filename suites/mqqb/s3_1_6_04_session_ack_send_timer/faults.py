"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event."""

from __future__ import annotations

from harness.faults.fields import bit_clear, off_by
from harness.faults.parts import fault
from harness.faults.primitives import wrong_fields
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import SessionAckPacket, UserMessagePacket
from reference_qm.core.replacing import put_in_place
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-not-delayed", breaks="MQQB-3.1.6.4-01")
class ReceiverSessionAckNotDelayed(Receiving):
    """The receiver sends a SessionAck at once for each message."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        self.qm.session_acks.send(session, now)


@fault("receiver-session-ack-sent-without-messages", breaks="MQQB-3.1.6.4-01")
class ReceiverSessionAckSentWithoutMessages(SessionAcks):
    """The receiver sends a SessionAck at the expiry of the Session Ack Send Timer although no message arrived."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.send(session, now)
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


# -- the packet ----------------------------------------------------------------------------------------------------

for _name, _rule, _says, _install in (
    (
        "receiver-session-ack-of-timer-sh-clear",
        "MQQB-3.1.6.4-02",
        "The receiver's SessionAck has BaseHeader.Flags.SH clear.",
        bit_clear(SessionAckPacket, "BaseHeader.SH"),
    ),
    (
        "receiver-session-ack-pt-0",
        "MQQB-3.1.6.4-03",
        "The receiver's SessionAck has InternalHeader.Flags.PT 0x0.",
        bit_clear(SessionAckPacket, "InternalHeader.PT"),
    ),
    (
        "receiver-session-ack-has-ack-sequence-number-too-low",
        "MQQB-3.1.6.4-04",
        "The receiver's SessionAck has an AckSequenceNumber that is one too low.",
        off_by(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-session-ack-has-recoverable-number-too-high",
        "MQQB-3.1.6.4-05",
        "The receiver's SessionAck has a RecoverableMsgAckSeqNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "receiver-session-ack-has-sent-count-too-high",
        "MQQB-3.1.6.4-06",
        "The receiver's SessionAck has a UserMsgSequenceNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "receiver-session-ack-has-recoverable-sent-count-too-high",
        "MQQB-3.1.6.4-07",
        "The receiver's SessionAck has a RecoverableMsgSeqNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "receiver-session-ack-has-only-flag-bit-0-set",
        "MQQB-3.1.6.4-08",
        "The receiver's SessionAck has only bit 0 of RecoverableMsgAckFlags set.",
        wrong_fields(SessionAckPacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}),
    ),
    (
        "receiver-session-ack-has-window-size-too-high",
        "MQQB-3.1.6.4-09",
        "The receiver's SessionAck has a WindowSize one higher than its ConnectionParameters packet.",
        off_by(SessionAckPacket, "SessionHeader.WindowSize", 1),
    ),
):
    add(_name, _rule, _says, _install)


# -- the session after a SessionAck -----------------------------------------------------------------------------------


@fault("receiver-session-ack-flags-not-cleared", breaks="MQQB-3.1.6.4-10")
class ReceiverSessionAckFlagsNotCleared(SessionAcks):
    """The receiver does not clear RecoverableMsgAckFlags after a SessionAck."""

    def note_acknowledged(self, session: Session, now: Now) -> None:
        flags = session.RecoverableMsgAckFlags
        super().note_acknowledged(session, now)
        session.RecoverableMsgAckFlags = flags


def _send_ack_only_once(faulty: FaultyCore) -> None:
    acknowledged: set[int] = set()

    class Sent(SessionAcks):
        def send(self, session: Session, now: Now) -> None:
            super().send(session, now)
            acknowledged.add(session.number)

    class NotStartedAgain(SessionTimers):
        def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            if name is not TimerName.SESSION_ACK_SEND or session.number not in acknowledged:
                super().start(session, name, duration_ms, now)

    put_in_place(faulty.core, Sent)
    put_in_place(faulty.core, NotStartedAgain)


add(
    "receiver-session-ack-sent-only-once",
    ("MQQB-3.1.6.4-11", "MQQB-3.1.2.5-D01"),
    "The receiver does not start the Session Ack Send Timer again after its first SessionAck.",
    _send_ack_only_once,
)
