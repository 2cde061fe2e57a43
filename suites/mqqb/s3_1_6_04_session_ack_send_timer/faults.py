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


@fault("session-ack-sent-at-once", breaks="MQQB-3.1.6.4-01")
class SentAtOnce(Receiving):
    """Every message is acknowledged at once."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        self.qm.session_acks.send(session, now)


@fault("session-ack-for-nothing", breaks="MQQB-3.1.6.4-01")
class SentForNothing(SessionAcks):
    """The Session Ack Send Timer sends a SessionAck with nothing unacknowledged, too."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.send(session, now)
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


# -- the packet ----------------------------------------------------------------------------------------------------

for _name, _rule, _says, _install in (
    (
        "session-ack-without-sh",
        "MQQB-3.1.6.4-02",
        "SessionAcks have BaseHeader.Flags.SH 0.",
        bit_clear(SessionAckPacket, "BaseHeader.SH"),
    ),
    (
        "session-ack-without-type",
        "MQQB-3.1.6.4-03",
        "SessionAcks have InternalHeader.Flags.PT 0x0.",
        bit_clear(SessionAckPacket, "InternalHeader.PT"),
    ),
    (
        "session-ack-count-one-less",
        "MQQB-3.1.6.4-04",
        "AckSequenceNumber is one less than what was received.",
        off_by(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "session-ack-recoverable-number-one-more",
        "MQQB-3.1.6.4-05",
        "RecoverableMsgAckSeqNumber is one more than the first that is acknowledged.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "session-ack-sent-count-one-more",
        "MQQB-3.1.6.4-06",
        "UserMsgSequenceNumber is one more than what was sent.",
        off_by(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "session-ack-recoverable-sent-count-one-more",
        "MQQB-3.1.6.4-07",
        "RecoverableMsgSeqNumber is one more than what was sent.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "session-ack-flags-only-first",
        "MQQB-3.1.6.4-08",
        "RecoverableMsgAckFlags has no bit but bit 0.",
        wrong_fields(SessionAckPacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}),
    ),
    (
        "session-ack-window-one-more",
        "MQQB-3.1.6.4-09",
        "WindowSize of SessionAcks is one more than in ConnectionParameters.",
        off_by(SessionAckPacket, "SessionHeader.WindowSize", 1),
    ),
):
    add(_name, _rule, _says, _install)


# -- afterwards ----------------------------------------------------------------------------------------------------


@fault("session-ack-flags-not-cleared", breaks="MQQB-3.1.6.4-10")
class FlagsNotCleared(SessionAcks):
    """RecoverableMsgAckFlags keeps its bits after an acknowledgment."""

    def note_acknowledged(self, session: Session, now: Now) -> None:
        flags = session.RecoverableMsgAckFlags
        super().note_acknowledged(session, now)
        session.RecoverableMsgAckFlags = flags


def _sent_only_once(faulty: FaultyCore) -> None:
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
    "session-ack-sent-only-once",
    ("MQQB-3.1.6.4-11", "MQQB-3.1.2.5-D01"),
    "The Session Ack Send Timer does not run again after a SessionAck.",
    _sent_only_once,
)
