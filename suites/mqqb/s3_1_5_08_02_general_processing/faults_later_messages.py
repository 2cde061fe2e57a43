"""Faults of MS-MQQB 3.1.5.8.2 General Processing: in later messages, and with two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import get_newest_session
from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, UserHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import HIGHEST_HOP_COUNT, MessageRouting
from reference_qm.model.adm import (
    MessageIDHistoryEntry,
    Session,
)
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000

# -- counts -----------------------------------------------------------------------------------------------------------


@fault("receiver-message-counted-in-newest-session", breaks=("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8.2-03"))
class ReceiverMessageCountedInNewestSession(MessageReceiving):
    """The receiver counts a message in the newest open session instead of the session on which the message arrived."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(get_newest_session(self.qm, session), packet)


@fault("receiver-message-behind-gap-not-counted", breaks="MQQB-3.1.5.8.2-02")
class ReceiverMessageBehindGapNotCounted(MessageReceiving):
    """The receiver does not count a transactional message that follows a gap."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        header = packet.TransactionHeader
        if header is not None and header.PreviousTxSequenceNumber > session.IncomingTxSequenceNumber:
            session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF


@fault("receiver-message-count-at-most-64", breaks="MQQB-3.1.5.8.2-02")
class ReceiverMessageCountAtMost64(MessageReceiving):
    """The receiver increments MessageReceivedCount only up to 64."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        session.MessageReceivedCount = min(session.MessageReceivedCount, 64)


@fault("receiver-expired-message-not-counted", breaks=("MQQB-3.1.5.8.2-02", "MQQB-3.1.5.8.2-03"))
class ReceiverExpiredMessageNotCounted(MessageReceiving):
    """The receiver does not count a message with a TimeToReachQueue of at most a second."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        expired = packet.BaseHeader.TimeToReachQueue <= 1
        if not expired:
            super().count_message_received_on_session(session, packet)


@fault("receiver-direct-format-session-set-in-newest-session", breaks="MQQB-3.1.5.8.2-04")
class ReceiverDirectFormatSessionSetInNewestSession(MessageReceiving):
    """The receiver sets DirectFormatSession in the newest session instead of the session of the message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.DirectFormatSession
        super().note_session_activity(session, packet, now)
        if session.DirectFormatSession and not before:
            session.DirectFormatSession = False
            get_newest_session(self.qm, session).DirectFormatSession = True


@fault("receiver-direct-format-session-only-for-first-message", breaks="MQQB-3.1.5.8.2-04")
class ReceiverDirectFormatSessionOnlyForFirstMessage(MessageReceiving):
    """The receiver does not set DirectFormatSession if a message with another kind of format name arrived before."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.DirectFormatSession
        super().note_session_activity(session, packet, now)
        if session.MessageReceivedCount > 1 and not before:
            session.DirectFormatSession = False


@fault("receiver-direct-format-session-only-for-tcp-names", breaks="MQQB-3.1.5.8.2-04")
class ReceiverDirectFormatSessionOnlyForTcpNames(MessageReceiving):
    """The receiver sets DirectFormatSession only for direct names that begin with TCP."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.DirectFormatSession
        super().note_session_activity(session, packet, now)
        queue = packet.UserHeader.DestinationQueue
        if isinstance(queue, DirectQueueFormatName) and not queue.DirectFormatName.upper().startswith("TCP:"):
            session.DirectFormatSession = before


# -- history ----------------------------------------------------------------------------------------------------------


class _HistoryOmissionFault(MessageHistory):
    def is_omitted_from_history(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if self.is_omitted_from_history(packet):
            for kept in list(self.qm.adm.MessageIDHistoryTable):
                if kept.MessageIdentifier == entry.MessageIdentifier:
                    self.qm.adm.MessageIDHistoryTable.remove(kept)
        return entry


@fault("receiver-message-with-large-body-not-in-history", breaks="MQQB-3.1.5.8.2-10")
class ReceiverMessageWithLargeBodyNotInHistory(_HistoryOmissionFault):
    """The receiver adds no history entry for a message with more than 4,096 bytes of body."""

    def is_omitted_from_history(self, packet: UserMessagePacket) -> bool:
        return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES


@fault("receiver-message-with-pa-not-in-history", breaks="MQQB-3.1.5.8.2-10")
class ReceiverMessageWithPaNotInHistory(_HistoryOmissionFault):
    """The receiver adds no history entry for a message that requests an acknowledgment of its arrival."""

    def is_omitted_from_history(self, packet: UserMessagePacket) -> bool:
        return bool(packet.MessagePropertiesHeader.Flags & 1)


@fault("receiver-expired-message-not-in-history", breaks="MQQB-3.1.5.8.2-10")
class ReceiverExpiredMessageNotInHistory(_HistoryOmissionFault):
    """The receiver adds no history entry for a message with a TimeToReachQueue of at most a second."""

    def is_omitted_from_history(self, packet: UserMessagePacket) -> bool:
        return packet.BaseHeader.TimeToReachQueue <= 1


@fault("receiver-history-entry-of-later-message-has-first-time", breaks="MQQB-3.1.5.8.2-07")
class ReceiverHistoryEntryOfLaterMessageHasFirstTime(MessageHistory):
    """The receiver sets TimeStamp of each history entry to the time of the oldest entry."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        oldest = next(iter(self.qm.adm.MessageIDHistoryTable), None)
        entry = super().remember_message(packet, now)
        if oldest is None:
            return entry
        entry = replace(entry, TimeStamp=oldest.TimeStamp)
        self.qm.adm.MessageIDHistoryTable.insert(entry)
        return entry


@fault("receiver-history-timer-not-started-again", breaks="MQQB-3.1.5.8.2-11")
class ReceiverHistoryTimerNotStartedAgain(MessageHistory):
    """The receiver starts the MessageIDHistory Cleanup Timer only for the first message since its start."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._started = False

    def start_history_timer(self, now: Now) -> None:
        if not self._started or len(self.qm.adm.MessageIDHistoryTable) > 1:
            super().start_history_timer(now)
        self._started = True


# -- timers and activity ----------------------------------------------------------------------------------------------


@fault("receiver-session-ack-send-timer-shared-by-sessions", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerSharedBySessions(MessageReceiving):
    """The receiver does not start the Session Ack Send Timer of a session while the timer of another session runs."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        shared = any(
            number != session.number and self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, number))
            for number in self.qm.sessions
        )
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_session_activity(session, packet, now)
        if shared and not running:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)


@fault("receiver-session-ack-send-timer-not-started-by-refused-message", breaks="MQQB-3.1.5.8.2-12")
class ReceiverSessionAckSendTimerNotStartedByRefusedMessage(MessageReceiving):
    """The receiver does not start the Session Ack Send Timer for a message to a queue that does not exist."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        running = self.qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number))
        super().note_session_activity(session, packet, now)
        if not running and self.qm.message_arrival.find_destination(packet) is None:
            self.qm.session_timers.stop(session, TimerName.SESSION_ACK_SEND)


@fault("receiver-session-active-set-in-newest-session", breaks="MQQB-3.1.5.8.2-13")
class ReceiverSessionActiveSetInNewestSession(MessageReceiving):
    """The receiver sets SessionActive in the newest open session instead of the session of the message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.SessionActive
        super().note_session_activity(session, packet, now)
        session.SessionActive = before
        get_newest_session(self.qm, session).SessionActive = True


@fault("receiver-session-active-not-set-by-transactional-message", breaks="MQQB-3.1.5.8.2-13")
class ReceiverSessionActiveNotSetByTransactionalMessage(MessageReceiving):
    """The receiver does not set SessionActive when a transactional message arrives."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        before = session.SessionActive
        super().note_session_activity(session, packet, now)
        if packet.TransactionHeader is not None:
            session.SessionActive = before


# -- messages for other queue managers --------------------------------------------------------------------------------


def _set_hop_count_of_packet(packet: UserMessagePacket, hops: int) -> UserMessagePacket:
    user = packet.UserHeader
    flags = user.Flags & ~UserHeader.flags(RC=0x1F) | UserHeader.flags(RC=hops)
    return replace(packet, UserHeader=replace(user, Flags=flags))


@fault("router-hop-count-of-second-message-not-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountOfSecondMessageNotIncremented(MessageRouting):
    """The router increments RC only in the first message that it forwards to a destination."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._known: set[object] = set()

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted, address = super().increment_hop_count(packet), packet.UserHeader.QueueManagerAddress
        known = address in self._known
        self._known.add(address)
        return packet if known and counted is not None else counted


@fault("router-hop-count-incremented-up-to-15", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountIncrementedUpTo15(MessageRouting):
    """The router does not increment an RC of 16 or more."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is not None and packet.UserHeader.RC >= 16 else counted


@fault("router-highest-hop-count-accepted-for-express", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterHighestHopCountAcceptedForExpress(MessageRouting):
    """The router forwards an express message with too many hops."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        if packet.UserHeader.RC >= HIGHEST_HOP_COUNT and not packet.UserHeader.DM:
            return _set_hop_count_of_packet(packet, HIGHEST_HOP_COUNT)
        return super().increment_hop_count(packet)


@fault("router-message-without-na-and-with-too-many-hops-forwarded", breaks=("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"))
class RouterMessageWithoutNaAndWithTooManyHopsForwarded(MessageRouting):
    """The router forwards a message with too many hops if NA is clear."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        if packet.UserHeader.RC >= HIGHEST_HOP_COUNT and not packet.MessagePropertiesHeader.Flags & 4:
            return _set_hop_count_of_packet(packet, HIGHEST_HOP_COUNT)
        return super().increment_hop_count(packet)


@fault("router-message-to-second-queue-of-host-forwarded-in-first-queue", breaks="MQQB-3.1.5.8.5-D02")
class RouterMessageToSecondQueueOfHostForwardedInFirstQueue(MessageRouting):
    """The router forwards a message to the second queue of a host on the session of the first queue of the host, with
    the first queue as DestinationQueue.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: dict[object, UserHeader] = {}

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        if counted is None:
            return None
        user = counted.UserHeader
        first = self._first.setdefault(user.QueueManagerAddress, user)
        same = replace(user, Flags=user.Flags, DestinationQueue=first.DestinationQueue)
        return replace(counted, UserHeader=same) if first.DQ == user.DQ else counted


@fault("receiver-transactional-message-for-own-identifier-forwarded", breaks="MQQB-3.1.5.8.5-D01")
class ReceiverTransactionalMessageForOwnIdentifierForwarded(MessageReceiving):
    """The receiver forwards a transactional message whose QueueManagerAddress is the receiver's own Identifier."""

    def is_for_this_queue_manager(self, packet: UserMessagePacket) -> bool:
        own = packet.UserHeader.QueueManagerAddress == self.qm.adm.Identifier
        return super().is_for_this_queue_manager(packet) and not (own and packet.TransactionHeader is not None)


@fault("receiver-recoverable-message-of-priority-7-not-saved", breaks="MQQB-3.1.5.8.2-48")
class ReceiverRecoverableMessageOfPriority7NotSaved(MessageArrival):
    """The receiver does not save a recoverable message of priority 7 on the disk."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        if packet.BaseHeader.PR == 7:
            return
        super().save_message(saving, packet)
