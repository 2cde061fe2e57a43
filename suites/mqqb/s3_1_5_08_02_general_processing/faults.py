"""Faults of MS-MQQB 3.1.5.8.2 General Processing: counts, session elements, history, and messages for other queue
managers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, skip_during
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, MessageClass, PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.store.messages import PUBLIC
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.arrival import Arrival
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Message, MessageIDHistoryEntry, MessagePosition, Queue, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

AN_HOUR_S = 3_600


# -- counts and elements of the session ---------------------------------------------------------------------------


@fault("receiver-message-counted-twice", breaks=("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8-04"))
class ReceiverMessageCountedTwice(Receiving):
    """The receiver increments MessageReceivedCount by two."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        session.MessageReceivedCount += 1


def _set_session_element(element: str, value: int | bool) -> Install:
    """Make the receiver set an element of the session when it receives a message."""

    class Marked(Receiving):
        def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            super().note_activity(session, packet, now)
            setattr(session, element, value)

    return replace_part(Marked)


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


@fault("receiver-session-ack-send-timer-lasts-whole-timeout", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerLastsWholeTimeout(Receiving):
    """The receiver's Session Ack Send Timer runs for the full AckWaitTimeout."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_activity(session, packet, now)
        if not running:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("receiver-session-ack-send-timer-restarted-by-each-message", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerRestartedByEachMessage(Receiving):
    """The receiver restarts the Session Ack Send Timer when it receives any message."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


add(
    "receiver-acknowledges-recoverable-message-as-late-as-express-message",
    ("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-14"),
    "The receiver acknowledges a recoverable message no earlier than it would acknowledge an express message.",
    skip_during(SessionAcks.set_flag, SessionTimers.start),
)


# -- the history ---------------------------------------------------------------------------------------------------


def _change_history_entry(change: Callable[[MessageIDHistoryEntry], MessageIDHistoryEntry | None]) -> Install:
    """Make the receiver change or omit each entry of the message history."""

    class Remembered(History):
        def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
            entry = super().remember_message(packet, now)
            self.qm.adm.MessageIDHistoryTable.remove(entry)
            changed = change(entry)
            if changed is not None:
                self.qm.adm.MessageIDHistoryTable.insert(changed)
            return entry

    return replace_part(Remembered)


def _change_history_ordinal(entry: MessageIDHistoryEntry) -> MessageIDHistoryEntry:
    changed: MessageIDHistoryEntry = set_fields(entry, {"MessageIdentifier.Ordinal": lambda old: old + 500})
    return changed


add(
    "receiver-history-entry-message-id-wrong",
    "MQQB-3.1.5.8.2-06",
    "The receiver's history entry has a MessageID 500 higher than the MessageID of the message.",
    _change_history_entry(_change_history_ordinal),
)
add(
    "receiver-history-entry-time-one-hour-early",
    ("MQQB-3.1.5.8.2-07", "MQQB-3.1.5.8.2-08"),
    "The receiver's history entry has the time of one hour ago.",
    _change_history_entry(lambda entry: replace(entry, TimeStamp=entry.TimeStamp - AN_HOUR_S)),
)
add(
    "receiver-history-entry-missing",
    "MQQB-3.1.5.8.2-10",
    "The receiver adds no entry to the message history.",
    _change_history_entry(lambda entry: None),
)
add(
    "receiver-history-timer-not-started",
    "MQQB-3.1.5.8.2-11",
    "The receiver does not start the MessageIDHistory Cleanup Timer with the first entry.",
    skip_during(History.remember_message, History.start_history_timer),
)


# -- messages for another queue manager ----------------------------------------------------------------------------


@fault("receiver-message-for-other-queue-manager-kept", breaks="MQQB-3.1.5.8.2-38")
class ReceiverMessageForOtherQueueManagerKept(Receiving):
    """The receiver treats a message for a different queue manager as a message for itself."""

    def is_addressed_here(self, packet: UserMessagePacket) -> bool:
        return True


@fault("router-hop-count-not-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountNotIncremented(Routing):
    """The receiver forwards a message without incrementing RC."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return packet


@fault("router-hop-count-unlimited", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterHopCountUnlimited(Routing):
    """The receiver forwards a message with any number of hops."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return super().count_hop(packet) or packet


@fault("router-hop-count-in-four-bits", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountInFourBits(Routing):
    """The receiver increments only the lower four bits of RC."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        if counted is None or counted.UserHeader.RC & 0x0F:
            return counted
        return packet


@fault("router-transactional-hop-count-unlimited", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterTransactionalHopCountUnlimited(Routing):
    """The receiver forwards a transactional message with any number of hops."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is None and packet.UserHeader.TH else counted


@fault("router-message-forwarded-to-next-queue-number", breaks="MQQB-3.1.5.8.5-D02")
class RouterMessageForwardedToNextQueueNumber(Routing):
    """The receiver forwards a message to the private queue with the next number."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(
            position,
            set_fields(packet, {"UserHeader.DestinationQueue.PrivateQueueIdentifier": lambda old: old + 1}),
            now,
        )


@fault("receiver-message-for-own-identifier-forwarded", breaks="MQQB-3.1.5.8.5-D01")
class ReceiverMessageForOwnIdentifierForwarded(Receiving):
    """The receiver treats a message whose QueueManagerAddress is the receiver's Identifier as a message for another
    queue manager.
    """

    def is_addressed_here(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.QueueManagerAddress == NULL_GUID


@fault("receiver-private-queue-number-one-less", breaks="MQQB-3.1.5.8.5-D01")
class ReceiverPrivateQueueNumberOneLess(Arrival):
    """The receiver inserts a message with a private name into the queue whose number is one lower."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        if not isinstance(queue, PrivateQueueFormatNameId):
            return super().find_destination(packet)
        known = self.qm.adm.QueueCollection
        before = known.find_private(queue.PrivateQueueIdentifier - 1)
        return before if before is not None else super().find_destination(packet)


@fault("receiver-nack-of-too-many-hops-class-purged", breaks=("MQQB-3.1.5.8.2-41", "MQDMPR-3.1.1.12-D15"))
class ReceiverNackOfTooManyHopsClassPurged(AdminAcks):
    """The receiver sends an administration acknowledgment of class NACK_Q_PURGED for a message with too many hops."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, _replace_hops_by_purge(message_class), now)


@fault("receiver-final-ack-of-too-many-hops-class-purged", breaks="MQQB-3.1.5.8.2-44")
class ReceiverFinalAckOfTooManyHopsClassPurged(FinalAcks):
    """The receiver sends a FinalAck of class NACK_Q_PURGED for a message with too many hops."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_transactional(session, packet, _replace_hops_by_purge(message_class), now)


def _replace_hops_by_purge(message_class: MessageClass) -> MessageClass:
    if message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
        return MessageClass.MQMSG_CLASS_NACK_DELETED
    return message_class


@fault("receiver-nack-of-unknown-public-queue-missing", breaks=("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"), blind=True)
class ReceiverNackOfUnknownPublicQueueMissing(Admission):
    """The receiver sends no acknowledgment of class BAD_DST_Q for a message with NA to a public queue that does not
    exist.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != PUBLIC or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-final-ack-of-missing-queue-only-for-jn", breaks="MQQB-3.1.5.8.2-20", blind=True)
class ReceiverFinalAckOfMissingQueueOnlyForJn(FinalAcks):
    """The receiver sends a FinalAck for a message to a queue that does not exist only if the message has JN."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-transactional-queue-accepts-recoverable-message", breaks="MQQB-3.1.5.8.2-33", blind=True)
class ReceiverTransactionalQueueAcceptsRecoverableMessage(Admission):
    """The receiver inserts recoverable messages without a transaction into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if packet.UserHeader.DM:
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)


@fault("router-hop-count-of-transactional-not-incremented", breaks="MQQB-3.1.5.8.2-39", blind=True)
class RouterHopCountOfTransactionalNotIncremented(Routing):
    """The receiver forwards a transactional message without incrementing RC."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is not None and packet.UserHeader.TH else counted


@fault("receiver-final-ack-of-too-many-hops-only-for-na", breaks="MQQB-3.1.5.8.2-44", blind=True)
class ReceiverFinalAckOfTooManyHopsOnlyForNa(FinalAcks):
    """The receiver sends a FinalAck for too many hops only if the message has NA."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.MessagePropertiesHeader.NA or message_class is not MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
            super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-refused-message-not-counted-as-unacked", breaks="MQQB-3.1.5.8.2-03", blind=True)
class ReceiverRefusedMessageNotCountedAsUnacked(Receiving):
    """The receiver does not count a message to a missing queue as unacknowledged."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.UnackedReceivedMsgCount -= 1


@fault("receiver-ack-send-timer-restarted-by-later-message", breaks="MQQB-3.1.5.8.2-12", blind=True)
class ReceiverAckSendTimerRestartedByLaterMessage(Receiving):
    """The receiver restarts the Session Ack Send Timer when it receives a further message."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


@fault("receiver-refused-message-not-counted-as-activity", breaks="MQQB-3.1.5.8.2-13", blind=True)
class ReceiverRefusedMessageNotCountedAsActivity(Receiving):
    """The receiver does not set SessionActive when it receives a message to a missing queue."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_activity(session, packet, now)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.SessionActive = active
