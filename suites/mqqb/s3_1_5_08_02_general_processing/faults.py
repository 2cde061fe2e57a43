"""Faults of MS-MQQB 3.1.5.8.2 General Processing: counts, marks of the session, the history, messages for others."""

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


# -- counts and marks of the session -------------------------------------------------------------------------------


@fault("received-counted-twice", breaks=("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8-04"))
class ReceivedCountedTwice(Receiving):
    """MessageReceivedCount grows by two."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        session.MessageReceivedCount += 1


def _marked(element: str, value: int | bool) -> Install:
    """Set an element of the session once it was used."""

    class Marked(Receiving):
        def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            super().note_activity(session, packet, now)
            setattr(session, element, value)

    return replace_part(Marked)


for _name, _rule, _says, _element, _value in (
    (
        "unacknowledged-not-counted",
        "MQQB-3.1.5.8.2-03",
        "UnackedReceivedMsgCount is 1.",
        "UnackedReceivedMsgCount",
        1,
    ),
    (
        "unacknowledged-never-counted",
        "MQQB-3.1.5.8.2-03",
        "UnackedReceivedMsgCount stays 0.",
        "UnackedReceivedMsgCount",
        0,
    ),
    ("direct-not-noted", "MQQB-3.1.5.8.2-04", "DirectFormatSession stays FALSE.", "DirectFormatSession", False),
    ("direct-always", "MQQB-3.1.5.8.2-04", "DirectFormatSession becomes TRUE always.", "DirectFormatSession", True),
    ("activity-not-noted", "MQQB-3.1.5.8.2-13", "SessionActive stays FALSE.", "SessionActive", False),
):
    add(_name, _rule, _says, _marked(_element, _value))


@fault("acknowledged-after-whole-timeout", breaks="MQQB-3.1.5.8.2-12")
class AcknowledgedAfterWholeTimeout(Receiving):
    """The Session Ack Send Timer runs for the whole AckWaitTimeout."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_activity(session, packet, now)
        if not running:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout, now)


@fault("acknowledgment-put-off", breaks="MQQB-3.1.5.8.2-12")
class AcknowledgmentPutOff(Receiving):
    """Each message starts the Session Ack Send Timer again."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


add(
    "recoverable-not-forward",
    ("MQQB-3.1.5.8.2-48", "MQQB-3.1.5.8.7-01", "MQQB-3.1.5.8.7-14"),
    "A recoverable message does not bring the acknowledgment forward.",
    skip_during(SessionAcks.set_flag, SessionTimers.start),
)


# -- the history ---------------------------------------------------------------------------------------------------


def _remembered(change: Callable[[MessageIDHistoryEntry], MessageIDHistoryEntry | None]) -> Install:
    """Enter another entry, or none, into the history."""

    class Remembered(History):
        def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
            entry = super().remember_message(packet, now)
            self.qm.adm.MessageIDHistoryTable.remove(entry)
            changed = change(entry)
            if changed is not None:
                self.qm.adm.MessageIDHistoryTable.insert(changed)
            return entry

    return replace_part(Remembered)


def _other_ordinal(entry: MessageIDHistoryEntry) -> MessageIDHistoryEntry:
    changed: MessageIDHistoryEntry = set_fields(entry, {"MessageIdentifier.Ordinal": lambda old: old + 500})
    return changed


add(
    "history-other-ordinal",
    "MQQB-3.1.5.8.2-06",
    "An entry of the history has a MessageID 500 after that of the message.",
    _remembered(_other_ordinal),
)
add(
    "history-other-time",
    ("MQQB-3.1.5.8.2-07", "MQQB-3.1.5.8.2-08"),
    "An entry of the history has the time of an hour ago.",
    _remembered(lambda entry: replace(entry, TimeStamp=entry.TimeStamp - AN_HOUR_S)),
)
add("history-empty", "MQQB-3.1.5.8.2-10", "Nothing is entered into the history.", _remembered(lambda entry: None))
add(
    "history-timer-not-started",
    "MQQB-3.1.5.8.2-11",
    "The first entry does not start the MessageIDHistory Cleanup Timer.",
    skip_during(History.remember_message, History.start_history_timer),
)


# -- messages for another queue manager ----------------------------------------------------------------------------


@fault("never-sent-on", breaks="MQQB-3.1.5.8.2-38")
class NeverSentOn(Receiving):
    """A message for another queue manager is taken for one to this."""

    def is_addressed_here(self, packet: UserMessagePacket) -> bool:
        return True


@fault("hop-not-counted", breaks="MQQB-3.1.5.8.2-39")
class HopNotCounted(Routing):
    """RC stays as it is."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return packet


@fault("hops-without-end", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class HopsWithoutEnd(Routing):
    """A message may have any number of hops."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return super().count_hop(packet) or packet


@fault("hops-in-four-bits", breaks="MQQB-3.1.5.8.2-39")
class HopsInFourBits(Routing):
    """RC is counted in its lower four bits."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        if counted is None or counted.UserHeader.RC & 0x0F:
            return counted
        return packet


@fault("transactional-hops-without-end", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class TransactionalHopsWithoutEnd(Routing):
    """A transactional message may have any number of hops."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is None and packet.UserHeader.TH else counted


@fault("sent-on-to-another-queue", breaks="MQQB-3.1.5.8.5-D02")
class SentOnToAnotherQueue(Routing):
    """A message is sent on to the queue with the next number."""

    def send_on(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().send_on(
            position,
            set_fields(packet, {"UserHeader.DestinationQueue.PrivateQueueIdentifier": lambda old: old + 1}),
            now,
        )


@fault("own-identifier-sent-on", breaks="MQQB-3.1.5.8.5-D01")
class OwnIdentifierSentOn(Receiving):
    """A message with this queue manager's own identifier is taken for one to another."""

    def is_addressed_here(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.QueueManagerAddress == NULL_GUID


@fault("private-number-taken-for-another", breaks="MQQB-3.1.5.8.5-D01")
class PrivateNumberTakenForAnother(Arrival):
    """A message with a private name goes to the queue before that with its number."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        if not isinstance(queue, PrivateQueueFormatNameId):
            return super().find_destination(packet)
        known = self.qm.adm.QueueCollection
        before = known.find_private(queue.PrivateQueueIdentifier - 1)
        return before if before is not None else super().find_destination(packet)


@fault("hops-told-as-purged", breaks=("MQQB-3.1.5.8.2-41", "MQDMPR-3.1.1.12-D15"))
class TooManyHopsAcknowledgedAsPurge(AdminAcks):
    """An administration acknowledgment of too many hops has the class of a purge."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, _purged_for_hops(message_class), now)


@fault("hops-told-finally-as-purged", breaks="MQQB-3.1.5.8.2-44")
class TooManyHopsFinallyAcknowledgedAsPurge(FinalAcks):
    """A FinalAck of too many hops has the class of a purge."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_transactional(session, packet, _purged_for_hops(message_class), now)


def _purged_for_hops(message_class: MessageClass) -> MessageClass:
    if message_class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
        return MessageClass.MQMSG_CLASS_NACK_DELETED
    return message_class


@fault("unknown-public-queue-not-nacked", breaks=("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"), blind=True)
class UnknownPublicQueueNotNacked(Admission):
    """A message to a public queue that is not there is refused without BAD_DST_Q."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != PUBLIC or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_message(session, packet, message_class, now)


@fault("final-ack-of-a-missing-queue-only-for-jn", breaks="MQQB-3.1.5.8.2-20", blind=True)
class FinalAckOfAMissingQueueOnlyForJn(FinalAcks):
    """A transactional message to a queue that is not there has its FinalAck only if it has JN."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            super().refuse_transactional(session, packet, message_class, now)


@fault("recoverable-message-taken-by-a-transactional-queue", breaks="MQQB-3.1.5.8.2-33", blind=True)
class RecoverableMessageTakenByATransactionalQueue(Admission):
    """A transactional queue refuses express messages only, and takes recoverable ones."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        if packet.UserHeader.DM:
            return packet
        return super().check_nontransactional_queue(session, packet, queue, now)


@fault("hop-not-counted-for-transactional-messages", breaks="MQQB-3.1.5.8.2-39", blind=True)
class HopNotCountedForTransactionalMessages(Routing):
    """A transactional message is sent on with its RC as it was."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is not None and packet.UserHeader.TH else counted


@fault("final-ack-of-too-many-hops-only-with-na", breaks="MQQB-3.1.5.8.2-44", blind=True)
class FinalAckOfTooManyHopsOnlyWithNa(FinalAcks):
    """A transactional message with too many hops has its FinalAck only if it has NA."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.MessagePropertiesHeader.NA or message_class is not MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED:
            super().refuse_transactional(session, packet, message_class, now)


@fault("refused-message-alone-not-acknowledged", breaks="MQQB-3.1.5.8.2-03", blind=True)
class RefusedMessageAloneNotAcknowledged(Receiving):
    """A message to a queue that is not there does not count as unacknowledged."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.UnackedReceivedMsgCount -= 1


@fault("ack-send-timer-put-off-by-each-message", breaks="MQQB-3.1.5.8.2-12", blind=True)
class AckSendTimerPutOffByEachMessage(Receiving):
    """Each message starts the Session Ack Send Timer again."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)
        super().note_activity(session, packet, now)


@fault("refused-messages-are-no-activity", breaks="MQQB-3.1.5.8.2-13", blind=True)
class RefusedMessagesAreNoActivity(Receiving):
    """A message to a queue that is not there does not make its session active."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        active = session.SessionActive
        super().note_activity(session, packet, now)
        if self.is_addressed_here(packet) and self.qm.arrival.find_destination(packet) is None:
            session.SessionActive = active
