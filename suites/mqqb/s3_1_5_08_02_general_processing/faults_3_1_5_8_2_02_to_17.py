"""Faults that break the rules MQQB-3.1.5.8.2-02 to MQQB-3.1.5.8.2-17."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step_during, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    DirectQueueFormatName,
    MessageClass,
    PrivateQueueFormatNameId,
    UserMessagePacket,
)
from reference_qm.core.store.messages import PUBLIC_QUEUE_TYPE
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import MessageIDHistoryEntry, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_02_general_processing.fault_steps import (
    MISSING_QUEUE_NACK_CLASS,
    omit_nack_of_express_message,
)


@fault("receiver-message-counted-twice", breaks=("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8-04"))
class ReceiverMessageCountedTwice(MessageReceiving):
    """The receiver increments MessageReceivedCount by two."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        session.MessageReceivedCount += 1


@fault("receiver-duplicate-not-counted", breaks="MQQB-3.1.5.8.2-02", blind=True)
class ReceiverDuplicateNotCounted(MessageReceiving):
    """The receiver does not count a message that repeats an earlier message in MessageReceivedCount."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None:
            session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF


@fault("receiver-acknowledgment-not-counted-as-message", breaks="MQQB-3.1.5.8.2-02", blind=True)
class ReceiverAcknowledgmentNotCountedAsMessage(MessageReceiving):
    """In MessageReceivedCount, the receiver does not count acknowledgments from the other queue manager."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if packet.MessagePropertiesHeader.MessageClass:
            session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF


@fault("initiator-later-recoverable-message-on-session-not-counted", breaks="MQQB-3.1.5.8.2-02")
class InitiatorLaterRecoverableMessageOnSessionNotCounted(MessageReceiving):
    """The initiator does not count nontransactional recoverable messages after the first message of a session."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.MessageReceivedCount
        super().count_message_received_on_session(session, packet)
        if session.initiator and before and packet.UserHeader.DM and packet.TransactionHeader is None:
            session.MessageReceivedCount = before


@fault("receiver-message-with-jn-to-private-name-not-counted", breaks="MQQB-3.1.5.8.2-02")
class ReceiverMessageWithJnToPrivateNameNotCounted(MessageReceiving):
    """The receiver does not count a message with JN to a private name in MessageReceivedCount."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        user = packet.UserHeader
        if user.JN and isinstance(user.DestinationQueue, PrivateQueueFormatNameId):
            session.MessageReceivedCount -= 1


def _set_session_element(element: str, value: int | bool) -> Install:
    """Make the receiver set an element of the session when it receives a message."""

    class SessionElementSet(MessageReceiving):
        def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            super().note_session_activity(session, packet, now)
            setattr(session, element, value)

    return replace_part(SessionElementSet)


for _name, _rule, _says, _element, _value in (
    (
        "receiver-unacked-received-count-always-1",
        "MQQB-3.1.5.8.2-03",
        "The receiver sets UnackedReceivedMsgCount to 1 when it receives a message.",
        "UnackedReceivedMsgCount",
        1,
    ),
    (
        "receiver-unacked-received-count-always-0",
        "MQQB-3.1.5.8.2-03",
        "The receiver sets UnackedReceivedMsgCount to 0 when it receives a message.",
        "UnackedReceivedMsgCount",
        0,
    ),
    (
        "receiver-direct-format-session-never-true",
        "MQQB-3.1.5.8.2-04",
        "The receiver leaves DirectFormatSession FALSE.",
        "DirectFormatSession",
        False,
    ),
    (
        "receiver-direct-format-session-always-true",
        "MQQB-3.1.5.8.2-04",
        "The receiver sets DirectFormatSession to TRUE when it receives a message.",
        "DirectFormatSession",
        True,
    ),
    (
        "receiver-session-active-never-true",
        "MQQB-3.1.5.8.2-13",
        "The receiver leaves SessionActive FALSE.",
        "SessionActive",
        False,
    ),
):
    add(_name, _rule, _says, _set_session_element(_element, _value))


@fault("receiver-refused-message-not-counted-as-unacked", breaks="MQQB-3.1.5.8.2-03", blind=True)
class ReceiverRefusedMessageNotCountedAsUnacked(MessageReceiving):
    """The receiver does not count a message to a missing queue as unacknowledged."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if self.is_for_this_queue_manager(packet) and self.qm.message_arrival.find_destination(packet) is None:
            session.UnackedReceivedMsgCount -= 1


@fault("receiver-message-for-other-queue-manager-not-counted", breaks="MQQB-3.1.5.8.2-03", blind=True)
class ReceiverMessageForOtherQueueManagerNotCounted(MessageReceiving):
    """The receiver does not count a message that is addressed to another queue manager."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        if self.is_for_this_queue_manager(packet):
            super().count_message_received_on_session(session, packet)


@fault(
    "receiver-direct-format-session-reset-by-private-name",
    breaks=("MQQB-3.1.5.8.2-04", "MQQB-3.1.7.17-D11"),
    blind=True,
)
class ReceiverDirectFormatSessionResetByPrivateName(MessageReceiving):
    """The receiver sets DirectFormatSession to FALSE when it receives a message whose destination is not a direct
    format name.
    """

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_session_activity(session, packet, now)
        session.DirectFormatSession = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)


def _change_history_entry(change: Callable[[MessageIDHistoryEntry], MessageIDHistoryEntry | None]) -> Install:
    """Make the receiver change or omit each entry of the message history."""

    class ChangedHistoryEntry(MessageHistory):
        def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
            entry = super().remember_message(packet, now)
            self.qm.adm.MessageIDHistoryTable.remove(entry)
            changed = change(entry)
            if changed is not None:
                self.qm.adm.MessageIDHistoryTable.insert(changed)
            return entry

    return replace_part(ChangedHistoryEntry)


def _change_history_ordinal(entry: MessageIDHistoryEntry) -> MessageIDHistoryEntry:
    changed: MessageIDHistoryEntry = set_fields(entry, {"MessageIdentifier.Ordinal": lambda old: old + 500})
    return changed


add(
    "receiver-history-entry-message-id-wrong",
    "MQQB-3.1.5.8.2-06",
    "The receiver's history entry has a MessageID 500 higher than the MessageID of the message.",
    _change_history_entry(_change_history_ordinal),
)


SECONDS_PER_HOUR = 3_600


add(
    "receiver-history-entry-time-one-hour-early",
    ("MQQB-3.1.5.8.2-07", "MQQB-3.1.5.8.2-08"),
    "The receiver's history entry has the time of one hour ago.",
    _change_history_entry(lambda entry: replace(entry, TimeStamp=entry.TimeStamp - SECONDS_PER_HOUR)),
)


@fault("receiver-history-entry-time-is-sent-time", breaks="MQQB-3.1.5.8.2-07", blind=True)
class ReceiverHistoryEntryTimeIsSentTime(MessageHistory):
    """The receiver sets the TimeStamp of a history entry to the SentTime of the message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        return super().remember_message(packet, replace(now, utc_s=packet.UserHeader.SentTime))


add(
    "receiver-history-entry-missing",
    "MQQB-3.1.5.8.2-10",
    "The receiver adds no entry to the message history.",
    _change_history_entry(lambda entry: None),
)


@fault("router-message-not-in-history", breaks="MQQB-3.1.5.8.2-10", blind=True)
class RouterMessageNotInHistory(MessageHistory):
    """The receiver does not insert a message for another queue manager into its history."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if not self.qm.message_receiving.is_for_this_queue_manager(packet):
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        return entry


add(
    "receiver-history-timer-not-started",
    "MQQB-3.1.5.8.2-11",
    "The receiver does not start the MessageIDHistory Cleanup Timer with the first entry.",
    omit_step_during(MessageHistory.remember_message, MessageHistory.start_history_timer),
)


@fault("receiver-history-timer-restarted-by-each-message", breaks=("MQQB-3.1.5.8.2-11", "MQQB-3.1.2.8-01"), blind=True)
class ReceiverHistoryTimerRestartedByEachMessage(MessageHistory):
    """The receiver restarts the MessageIDHistory Cleanup Timer with each message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        self.start_history_timer(now)
        return entry


@fault("receiver-session-ack-send-timer-lasts-whole-timeout", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerLastsWholeTimeout(MessageReceiving):
    """The receiver's Session Ack Send Timer runs for the full AckWaitTimeout."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_session_activity(session, packet, now)
        if not running:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("receiver-session-ack-send-timer-restarted-by-each-message", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerRestartedByEachMessage(MessageReceiving):
    """The receiver restarts the Session Ack Send Timer when it receives any message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_session_activity(session, packet, now)


@fault("receiver-session-ack-send-timer-doubled-after-first-session-ack", breaks="MQQB-3.1.5.8.2-12", blind=True)
class ReceiverSessionAckSendTimerDoubledAfterFirstSessionAck(MessageReceiving):
    """After its first SessionAck, the receiver starts the Session Ack Send Timer with the full AckWaitTimeout instead
    of half of it.
    """

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_session_activity(session, packet, now)
        if not running and session.MessageReceivedCount > 1:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("receiver-refused-message-not-counted-as-activity", breaks="MQQB-3.1.5.8.2-13", blind=True)
class ReceiverRefusedMessageNotCountedAsActivity(MessageReceiving):
    """The receiver does not set SessionActive when it receives a message to a missing queue."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_session_activity(session, packet, now)
        if self.is_for_this_queue_manager(packet) and self.qm.message_arrival.find_destination(packet) is None:
            session.SessionActive = active


@fault("receiver-session-active-not-set-by-recoverable-message", breaks="MQQB-3.1.5.8.2-13", blind=True)
class ReceiverSessionActiveNotSetByRecoverableMessage(MessageReceiving):
    """The receiver does not set SessionActive when it receives a recoverable message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_session_activity(session, packet, now)
        if packet.UserHeader.DM:
            session.SessionActive = active


_RULE_BY_REFUSAL_CLASS = {
    MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q: "MQQB-3.1.5.8.2-15",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q: "MQQB-3.1.5.8.2-32",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG: "MQQB-3.1.5.8.2-37",
    MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED: "MQQB-3.1.5.8.2-47",
}


@fault("receiver-refused-message-with-jn-in-dead-letter-queue", breaks=_RULE_BY_REFUSAL_CLASS.values(), blind=True)
class ReceiverRefusedMessageWithJnInDeadLetterQueue(MessageAdmission):
    """The receiver puts a refused message with JN into its own dead-letter queue."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in _RULE_BY_REFUSAL_CLASS and packet.UserHeader.JN:
            system = self.qm.adm
            transactional = packet.TransactionHeader is not None
            place = system.SystemTransactionalDeadletterQueue if transactional else system.SystemDeadletterQueue
            self.qm.message_journaling.put_into_system_queue(place, self.build_message(packet, now))


@fault("receiver-report-sent-for-refused-traced-message", breaks=_RULE_BY_REFUSAL_CLASS.values(), blind=True)
class ReceiverReportSentForRefusedTracedMessage(MessageAdmission):
    """The receiver sends a report on a refused message."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in _RULE_BY_REFUSAL_CLASS:
            self.qm.message_tracing.trace_received_message(self.build_message(packet, now), now)


@fault(
    "receiver-nack-bad-dst-q-missing-for-unknown-public-queue",
    breaks=("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"),
    blind=True,
)
class ReceiverNackBadDstQMissingForUnknownPublicQueue(MessageAdmission):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message with NA to a public queue that does not
    exist.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != PUBLIC_QUEUE_TYPE or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-transactional-message-to-missing-queue-without-nack", breaks="MQQB-3.1.5.8.2-17", blind=True)
class ReceiverTransactionalMessageToMissingQueueWithoutNack(MessageAdmission):
    """For a transactional message with NA to a missing queue, the receiver sends only a FinalAck, and no acknowledgment
    of class BAD_DST_Q.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.TransactionHeader is not None and message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)
        else:
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-nack-bad-dst-q-omitted-for-private-name", breaks="MQQB-3.1.5.8.2-17", blind=True)
class ReceiverNackBadDstQOmittedForPrivateName(MessageAdmission):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message to a private format name."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        direct = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
        if message_class is MISSING_QUEUE_NACK_CLASS and not direct and packet.TransactionHeader is None:
            return
        super().refuse_message(session, packet, message_class, now)


add(
    "receiver-nack-bad-dst-q-of-express-message-missing",
    "MQQB-3.1.5.8.2-17",
    "The receiver sends no acknowledgment of class BAD_DST_Q for an express message with NA set.",
    omit_nack_of_express_message(MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
)
