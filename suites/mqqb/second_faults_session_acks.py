"""Second faults of session acknowledgments, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.5, 3.1.5.8.2, 3.1.5.8.7, 3.1.6.3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import (
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

# -- what is received -------------------------------------------------------------------------------------------------


@fault("ack-sequence-number-of-one-byte", breaks="MQMQ-2.2.20.4-05")
class AckSequenceNumberOfOneByte(SessionAcks):
    """AckSequenceNumber is counted in one byte."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF)


@fault("refused-message-alone-not-acknowledged", breaks="MQQB-3.1.5.8.2-03")
class RefusedMessageAloneNotAcknowledged(Receiving):
    """A message to a queue that is not there does not count as unacknowledged."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.UnackedReceivedMsgCount -= 1


@fault("ack-send-timer-put-off-by-each-message", breaks="MQQB-3.1.5.8.2-12")
class AckSendTimerPutOffByEachMessage(Receiving):
    """Each message starts the Session Ack Send Timer again."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


@fault("refused-messages-are-no-activity", breaks="MQQB-3.1.5.8.2-13")
class RefusedMessagesAreNoActivity(Receiving):
    """A message to a queue that is not there does not make its session active."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_activity(session, packet, now)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.SessionActive = active


@fault("recoverable-waits-for-the-timer-of-express", breaks="MQQB-3.1.5.8.7-14")
class RecoverableWaitsForTheTimerOfExpress(SessionAcks):
    """The first recoverable message leaves a Session Ack Send Timer as it is that an express one has started."""

    def set_flag(self, session: Session, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        left_ms = self.qm.timers.remaining_ms(key, now.monotonic_ms)
        only = session.UnackedReceivedMsgCount - session.carried == 1
        super().set_flag(session, now)
        if left_ms is not None and not only and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("last-of-thirty-two-not-flagged", breaks="MQQB-3.1.5.8.7-09")
class LastOfThirtyTwoNotFlagged(SessionAcks):
    """The highest flag is never set."""

    def set_flag(self, session: Session, now: Now) -> None:
        super().set_flag(session, now)
        session.RecoverableMsgAckFlags &= 0x7FFFFFFF


@fault("recoverable-numbered-by-all-messages-after-an-ack", breaks="MQQB-3.1.5.8.7-11")
class RecoverableNumberedByAllMessagesAfterAnAck(SessionAcks):
    """After an acknowledgment recoverable messages are numbered on from the count of all messages."""

    def note_acknowledged(self, session: Session, now: Now) -> None:
        super().note_acknowledged(session, now)
        express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        session.LastAckedRecoverableMsgSeqNumber = session.LastAckedRecoverableMsgSeqNumber + express & 0xFFFF


@fault("two-sessions-of-one-address-share-their-counts", breaks="MQQB-3.1.1.3.1-01")
class TwoSessionsOfOneAddressShareTheirCounts(Receiving):
    """A message counts on every session with the address that it came from."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        for one in self.qm.sessions.values():
            if one.RemoteQMAddress == session.RemoteQMAddress and one.SessionState is SessionState.OPEN:
                super().count_received(one, packet)


# -- acknowledgments that come ----------------------------------------------------------------------------------------


@fault("acknowledgment-frees-one-place", breaks=("MQQB-3.1.5.5-03", "MQQB-3.1.5.5.1-03"))
class AcknowledgmentFreesOnePlace(SessionAcks):
    """However many messages an acknowledgment covers, it makes room for one."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged(session, header)
        if session.UnAckedMessageCount < before:
            session.UnAckedMessageCount = before - 1


@fault("acknowledgment-of-a-whole-window-ignored", breaks="MQQB-3.1.5.5.1-03")
class AcknowledgmentOfAWholeWindowIgnored(SessionAcks):
    """An acknowledgment that covers as many messages as the window has is taken for an old one."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.AckSequenceNumber - session.last_ack & 0xFFFF != session.WindowSize:
            super().process_header(session, header, now)


@fault("acknowledgment-forgets-every-express-message", breaks="MQQB-3.1.5.5.2-01")
class AcknowledgmentForgetsEveryExpressMessage(SessionAcks):
    """An acknowledgment deletes every express message that was sent, those above AckSequenceNumber too."""

    def delete_acknowledged_express(self, session: Session, header: SessionHeader) -> None:
        all_of_them = replace(header, AckSequenceNumber=session.MessageSentCount)
        super().delete_acknowledged_express(session, all_of_them if header.AckSequenceNumber else header)


@fault("highest-flag-of-an-acknowledgment-not-read", breaks="MQQB-3.1.5.5.3-02")
class HighestFlagOfAnAcknowledgmentNotRead(SessionAcks):
    """The highest bit of RecoverableMsgAckFlags is not looked at."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0x7FFFFFFF
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("flags-stand-for-numbers-of-all-messages", breaks=("MQQB-3.1.5.5.3-02", "MQMQ-2.2.20.4-D02"))
class FlagsStandForNumbersOfAllMessages(SessionAcks):
    """RecoverableMsgAckFlags of an acknowledgment are read as of the numbers that count express messages too."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        positions = session.OutgoingMessageTable.awaiting_ack
        apart = [position.RecoverableSequenceNumber for position in positions]
        for position in positions:
            position.RecoverableSequenceNumber = position.SequenceNumber
        super().delete_acknowledged_recoverable(session, header)
        for position, number in zip(positions, apart, strict=True):
            position.RecoverableSequenceNumber = number


def _counts_not_looked_at(original: Any, *_: Any) -> Any:
    def go_on(qm: QM, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=session.MessageReceivedCount,
            RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount,
        )
        original(qm, session, right, now)

    return go_on


add(
    "counts-in-a-message-not-validated",
    "MQQB-3.1.5.8.4-01",
    "The counts of a SessionHeader that comes in a message are not looked at.",
    during(Receiving.receive_user_message, SessionAcks.validate_message_counts, _counts_not_looked_at),
)


@fault("counts-of-messages-too-low-accepted", breaks="MQQB-3.1.5.5.5-01")
class CountsOfMessagesTooLowAccepted(SessionAcks):
    """Only a count that is above what was received ends the session."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=max(header.UserMsgSequenceNumber, session.MessageReceivedCount),
            RecoverableMsgSeqNumber=max(header.RecoverableMsgSeqNumber, session.RecoverableMessageReceivedCount),
        )
        super().validate_message_counts(session, right, now)


@fault("count-of-recoverable-messages-not-validated", breaks="MQQB-3.1.5.5.5-01")
class CountOfRecoverableMessagesNotValidated(SessionAcks):
    """RecoverableMsgSeqNumber is not compared with what was received."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("acknowledgment-of-nothing-new-does-not-restart-the-wait", breaks="MQQB-3.1.5.5.5-02")
class AcknowledgmentOfNothingNewDoesNotRestartTheWait(SessionAcks):
    """A SessionHeader that acknowledges nothing new lets the Session Ack Wait Timer run on."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        left_ms = self.qm.timers.remaining_ms(key, now.monotonic_ms)
        news = header.AckSequenceNumber != session.last_ack
        super().process_header(session, header, now)
        if left_ms is not None and not news and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("wait-for-acknowledgment-goes-on-once", breaks="MQQB-3.1.6.3-04")
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


@fault("messages-do-not-count-as-signs-of-life", breaks="MQQB-3.1.5.1-01")
class MessagesDoNotCountAsSignsOfLife(Receiving):
    """A message that comes is no sign of life: only a SessionAck keeps the session from being closed."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is None:
            session.ReceivedAck = False
        super().receive_user_message(session, packet, now)
