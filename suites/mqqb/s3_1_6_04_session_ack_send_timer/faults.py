"""Faults that break rules of MS-MQQB 3.1.6.4 Session Ack Send Timer Event."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import add_to_field, clear_bits
from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values, set_fields
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-not-delayed", breaks="MQQB-3.1.6.4-01")
class ReceiverSessionAckNotDelayed(MessageReceiving):
    """The receiver sends a SessionAck at once for each message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_session_activity(session, packet, now)
        self.qm.session_acks.send(session, now)


@fault("receiver-session-ack-sent-without-messages", breaks="MQQB-3.1.6.4-01")
class ReceiverSessionAckSentWithoutMessages(SessionAcks):
    """The receiver sends a SessionAck at the expiry of the Session Ack Send Timer although no message arrived."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.send(session, now)
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


@fault("receiver-third-session-ack-not-sent", breaks=("MQQB-3.1.6.4-01", "MQQB-3.1.6.4-11"), blind=True)
class ReceiverThirdSessionAckNotSent(SessionAcks):
    """The receiver sends SessionAcks only at the first two expiries of the Session Ack Send Timer of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: dict[int, int] = {}

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.expired[session.number] = self.expired.get(session.number, 0) + 1
        if self.expired[session.number] <= 2:
            super().on_order_ack_send_timer(session, now)


for _name, _rule, _says, _install in (
    (
        "receiver-session-ack-of-timer-sh-clear",
        "MQQB-3.1.6.4-02",
        "The receiver's SessionAck has BaseHeader.Flags.SH clear.",
        clear_bits(SessionAckPacket, "BaseHeader.SH"),
    ),
    (
        "receiver-session-ack-pt-0",
        "MQQB-3.1.6.4-03",
        "The receiver's SessionAck has InternalHeader.Flags.PT 0x0.",
        clear_bits(SessionAckPacket, "InternalHeader.PT"),
    ),
    (
        "receiver-session-ack-has-ack-sequence-number-too-low",
        "MQQB-3.1.6.4-04",
        "The receiver's SessionAck has an AckSequenceNumber that is one too low.",
        add_to_field(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-session-ack-has-recoverable-number-too-high",
        "MQQB-3.1.6.4-05",
        "The receiver's SessionAck has a RecoverableMsgAckSeqNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "receiver-session-ack-has-sent-count-too-high",
        "MQQB-3.1.6.4-06",
        "The receiver's SessionAck has a UserMsgSequenceNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "receiver-session-ack-has-recoverable-sent-count-too-high",
        "MQQB-3.1.6.4-07",
        "The receiver's SessionAck has a RecoverableMsgSeqNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "receiver-session-ack-has-only-flag-bit-0-set",
        "MQQB-3.1.6.4-08",
        "The receiver's SessionAck has only bit 0 of RecoverableMsgAckFlags set.",
        send_wrong_field_values(SessionAckPacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}),
    ),
    (
        "receiver-session-ack-has-window-size-too-high",
        "MQQB-3.1.6.4-09",
        "The receiver's SessionAck has a WindowSize one higher than its ConnectionParameters packet.",
        add_to_field(SessionAckPacket, "SessionHeader.WindowSize", 1),
    ),
):
    add(_name, _rule, _says, _install)


@fault("receiver-session-ack-ack-sequence-number-cut-to-8-bits", breaks="MQQB-3.1.6.4-04", blind=True)
class ReceiverSessionAckAckSequenceNumberCutTo8Bits(SessionAcks):
    """The receiver sends a SessionAck whose AckSequenceNumber has only the lower 8 bits of the count of received
    messages.
    """

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        header = packet.SessionHeader
        return replace(packet, SessionHeader=replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF))


class _SessionHeaderWithValueOfAllSessions(SessionAcks):
    """Put a value of all open sessions into the acknowledgments of each session."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if session.SessionState is not SessionState.OPEN:
            return header
        return self.change_header(header, list_open_sessions(self.qm, session))

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        """Return the changed header; ``others``: the other open sessions."""
        raise NotImplementedError


@fault("receiver-session-ack-ack-sequence-number-counts-all-sessions", breaks="MQQB-3.1.6.4-04")
class ReceiverSessionAckAckSequenceNumberCountsAllSessions(_SessionHeaderWithValueOfAllSessions):
    """AckSequenceNumber of a SessionAck is the number of messages that the receiver has received on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.AckSequenceNumber + sum(one.MessageReceivedCount for one in others)
        return replace(header, AckSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-repeats-old-recoverable-ack-number", breaks="MQQB-3.1.6.4-05", blind=True)
class ReceiverSessionAckRepeatsOldRecoverableAckNumber(SessionAcks):
    """If no recoverable message has arrived since the last SessionAck, the receiver repeats RecoverableMsgAckSeqNumber
    of the last SessionAck in the next SessionAck.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if header.RecoverableMsgAckFlags or not session.LastAckedRecoverableMsgSeqNumber:
            return header
        number = session.LastAckedRecoverableMsgSeqNumber
        return replace(header, RecoverableMsgAckSeqNumber=number, RecoverableMsgAckFlags=1)


@fault(
    "receiver-later-session-acks-repeat-sent-counts-of-first",
    breaks=("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07"),
    blind=True,
)
class ReceiverLaterSessionAcksRepeatSentCountsOfFirst(SessionAcks):
    """In the second and each later SessionAck of a session, the receiver repeats UserMsgSequenceNumber and
    RecoverableMsgSeqNumber of the first SessionAck.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        header = packet.SessionHeader
        first = self.first.setdefault(session.number, header)
        sent = {name: getattr(first, name) for name in ("UserMsgSequenceNumber", "RecoverableMsgSeqNumber")}
        return replace(packet, SessionHeader=replace(header, **sent))


@fault("receiver-session-ack-user-msg-number-counts-all-sessions", breaks="MQQB-3.1.6.4-06")
class ReceiverSessionAckUserMsgNumberCountsAllSessions(_SessionHeaderWithValueOfAllSessions):
    """UserMsgSequenceNumber of a SessionAck is the number of messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.UserMsgSequenceNumber + sum(one.MessageSentCount for one in others)
        return replace(header, UserMsgSequenceNumber=count & 0xFFFF)


@fault("receiver-session-ack-recoverable-number-counts-all-sessions", breaks="MQQB-3.1.6.4-07")
class ReceiverSessionAckRecoverableNumberCountsAllSessions(_SessionHeaderWithValueOfAllSessions):
    """RecoverableMsgSeqNumber of a SessionAck is the number of recoverable messages that were sent on all sessions."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        count = header.RecoverableMsgSeqNumber + sum(one.RecoverableMessageSentCount for one in others)
        return replace(header, RecoverableMsgSeqNumber=count & 0xFFFF)


@fault("receiver-session-ack-counts-only-acked-recoverable-messages", breaks="MQQB-3.1.6.4-07", blind=True)
class ReceiverSessionAckCountsOnlyAckedRecoverableMessages(SessionAcks):
    """In RecoverableMsgSeqNumber of its SessionAck, the receiver does not count those of its recoverable messages that
    are not yet acknowledged.
    """

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        waiting = sum(
            position.recoverable and not position.ReceivedSessionAck
            for position in session.OutgoingMessageTable.awaiting_ack
        )
        number = packet.SessionHeader.RecoverableMsgSeqNumber - waiting & 0xFFFF
        return replace(packet, SessionHeader=replace(packet.SessionHeader, RecoverableMsgSeqNumber=number))


@fault("receiver-session-ack-upper-16-recoverable-ack-flags-cleared", breaks="MQQB-3.1.6.4-08", blind=True)
class ReceiverSessionAckUpper16RecoverableAckFlagsCleared(SessionAcks):
    """The receiver sends a SessionAck with only the lower 16 bits of RecoverableMsgAckFlags."""

    def build(self, session: Session) -> SessionAckPacket:
        flags = {"SessionHeader.RecoverableMsgAckFlags": lambda flags: flags & 0xFFFF}
        return set_fields(super().build(session), flags)


@fault("receiver-session-ack-recoverable-flags-combine-all-sessions", breaks="MQQB-3.1.6.4-08")
class ReceiverSessionAckRecoverableFlagsCombineAllSessions(_SessionHeaderWithValueOfAllSessions):
    """RecoverableMsgAckFlags of a SessionAck has the bits of all sessions with unacknowledged messages."""

    def change_header(self, header: SessionHeader, others: list[Session]) -> SessionHeader:
        flags = header.RecoverableMsgAckFlags
        for one in others:
            flags |= one.RecoverableMsgAckFlags
        return replace(header, RecoverableMsgAckFlags=flags)


@fault("receiver-later-session-ack-carries-window-size-of-peer", breaks="MQQB-3.1.6.4-09", blind=True)
class ReceiverLaterSessionAckCarriesWindowSizeOfPeer(SessionAcks):
    """In the second and each later SessionAck of a session, the receiver sends the WindowSize of the other queue
    manager.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.acknowledged: set[int] = set()

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        if session.number in self.acknowledged:
            header = replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize)
            packet = replace(packet, SessionHeader=header)
        self.acknowledged.add(session.number)
        return packet


@fault("receiver-session-ack-flags-not-cleared", breaks="MQQB-3.1.6.4-10")
class ReceiverSessionAckFlagsNotCleared(SessionAcks):
    """The receiver does not clear RecoverableMsgAckFlags after a SessionAck."""

    def reset_unacknowledged_counts(self, session: Session, now: Now) -> None:
        flags = session.RecoverableMsgAckFlags
        super().reset_unacknowledged_counts(session, now)
        session.RecoverableMsgAckFlags = flags


def _install_single_ack_per_session(faulty: FaultyCore) -> None:
    acknowledged: set[int] = set()

    class Sent(SessionAcks):
        def send(self, session: Session, now: Now) -> None:
            super().send(session, now)
            acknowledged.add(session.number)

    class AckSendTimerNotRestarted(SessionTimers):
        def start(self, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            if name is not TimerName.SESSION_ACK_SEND or session.number not in acknowledged:
                super().start(session, name, duration_ms, now)

    replace_part_by_subclass(faulty.core, Sent)
    replace_part_by_subclass(faulty.core, AckSendTimerNotRestarted)


add(
    "receiver-session-ack-sent-only-once",
    ("MQQB-3.1.6.4-11", "MQQB-3.1.2.5-D01"),
    "The receiver does not start the Session Ack Send Timer again after its first SessionAck.",
    _install_single_ack_per_session,
)


@fault("receiver-ack-send-timer-not-restarted-for-express-after-recoverable", breaks="MQQB-3.1.6.4-11", blind=True)
class ReceiverAckSendTimerNotRestartedForExpressAfterRecoverable(MessageReceiving):
    """The receiver does not start the Session Ack Send Timer for an express message after a SessionAck that
    acknowledged recoverable messages.
    """

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_session_activity(session, packet, now)
        if not (running or packet.UserHeader.DM) and session.LastAckedRecoverableMsgSeqNumber:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
