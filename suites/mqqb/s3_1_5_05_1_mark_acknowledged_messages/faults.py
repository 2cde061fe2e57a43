"""Faults that break rules of MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.events import replace_method_during_event
from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import combine_installers, set_fields
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.events import SessionMaySend
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-counts-refused-messages-as-unacknowledged", breaks="MQQB-3.1.5.5.1-01")
class SenderCountsRefusedMessagesAsUnacknowledged(FinalAcks):
    """The sender counts a message as unacknowledged even after a FinalAck has refused it."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        senders = [queue.session for queue in self.qm.adm.OutgoingQueues.values()]
        before = [sender.UnAckedMessageCount for sender in senders]
        super().receive(session, packet, now)
        for sender, count in zip(senders, before, strict=True):
            sender.UnAckedMessageCount = max(sender.UnAckedMessageCount, count)


@fault("sender-ack-number-in-user-message-read-as-one-less", breaks="MQQB-3.1.5.5.1-01", blind=True)
class SenderAckNumberInUserMessageReadAsOneLess(MessageReceiving):
    """When the acknowledgment is in the SessionHeader of a UserMessage, the sender does not mark the message whose
    number is AckSequenceNumber.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None and header.AckSequenceNumber:
            lower = replace(header, AckSequenceNumber=header.AckSequenceNumber - 1)
            packet = replace(packet, SessionHeader=lower)
        super().receive_user_message(session, packet, now)


@fault("sender-marks-only-message-whose-number-equals-ack-number", breaks="MQQB-3.1.5.5.1-01", blind=True)
class SenderMarksOnlyMessageWhoseNumberEqualsAckNumber(SessionAcks):
    """The sender marks only the message whose number is AckSequenceNumber, and no earlier message."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        others = [
            one for one in session.OutgoingMessageTable.awaiting_ack if one.SequenceNumber != header.AckSequenceNumber
        ]
        for one in others:
            one.ReceivedSessionAck = True
        super().mark_acknowledged_messages(session, header)
        for one in others:
            one.ReceivedSessionAck = False


@fault("sender-at-most-32-messages-marked-by-one-ack", breaks=("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.1-02"), blind=True)
class SenderAtMost32MessagesMarkedByOneAck(SessionAcks):
    """The sender marks at most 32 messages as acknowledged for one acknowledgment."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        waiting = [one.SequenceNumber for one in session.OutgoingMessageTable.awaiting_ack]
        if waiting:
            limit = min(waiting) + 31
            header = set_fields(header, {"AckSequenceNumber": lambda old: min(old, limit)})
        super().mark_acknowledged_messages(session, header)


@fault("sender-session-ack-marks-messages-of-all-sessions", breaks="MQQB-3.1.5.5.1-01")
class SenderSessionAckMarksMessagesOfAllSessions(SessionAcks):
    """A SessionAck acknowledges and deletes all messages that wait for an acknowledgment on any session."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged_messages(session, header)
        for other in list_open_sessions(self.qm, session):
            for position in other.OutgoingMessageTable.awaiting_ack:
                if not position.TxSequenceNumber:
                    other.UnAckedMessageCount -= 1
                    self.delete_position(other, position)


@fault("sender-window-opened-by-repeated-acknowledgment", breaks="MQQB-3.1.5.5.1-02")
class SenderWindowOpenedByRepeatedAcknowledgment(SessionAcks):
    """The sender gains room in its window for an acknowledgment that covers no new message."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged_messages(session, header)
        if session.UnAckedMessageCount == before:
            session.UnAckedMessageCount = max(0, before - header.AckSequenceNumber)


@fault("sender-window-room-of-transactional-message-awaits-order-ack", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderWindowRoomOfTransactionalMessageAwaitsOrderAck(SessionAcks):
    """The sender gains no room in its window when a session acknowledgment covers a transactional message."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = [one for one in session.OutgoingMessageTable.awaiting_ack if one.TxSequenceNumber]
        super().mark_acknowledged_messages(session, header)
        session.UnAckedMessageCount += sum(one.ReceivedSessionAck for one in before)


@fault("sender-window-grows-by-two-for-newly-acked-express-message", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderWindowGrowsByTwoForNewlyAckedExpressMessage(SessionAcks):
    """The sender gains room for two messages for each newly acknowledged express message."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = [one for one in session.OutgoingMessageTable.awaiting_ack if not one.recoverable]
        super().mark_acknowledged_messages(session, header)
        session.UnAckedMessageCount -= sum(one.ReceivedSessionAck for one in before)


@fault("sender-window-room-of-recoverable-message-awaits-flag-bit", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderWindowRoomOfRecoverableMessageAwaitsFlagBit(SessionAcks):
    """The sender removes a recoverable message from its window only when the message's bit in RecoverableMsgAckFlags is
    set.
    """

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = {
            one.order: one
            for one in session.OutgoingMessageTable.awaiting_ack
            if one.recoverable and not one.TxSequenceNumber and not one.ReceivedSessionAck
        }
        super().mark_acknowledged_messages(session, header)
        session.UnAckedMessageCount += sum(one.ReceivedSessionAck for one in before.values())

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_position(session, position)
        if position.recoverable and not position.TxSequenceNumber:
            session.UnAckedMessageCount -= 1


@fault("sender-window-room-not-gained-by-second-acknowledgment", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderWindowRoomNotGainedBySecondAcknowledgment(SessionAcks):
    """After the first acknowledgment on a session, the sender gains no room in its window until all its messages are
    acknowledged.
    """

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged_messages(session, header)
        known: set[int] = self.__dict__.setdefault("known", set())
        waits = any(not one.ReceivedSessionAck for one in session.OutgoingMessageTable.awaiting_ack)
        if session.number in known and waits:
            session.UnAckedMessageCount = before
        elif before != session.UnAckedMessageCount:
            known.add(session.number)


@fault("sender-window-grows-by-two-for-each-acknowledged-express-message", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderWindowGrowsByTwoForEachAcknowledgedExpressMessage(SessionAcks):
    """The sender gains room for two messages for each acknowledged express message."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        waiting = [
            one
            for one in session.OutgoingMessageTable.awaiting_ack
            if not one.recoverable and not one.ReceivedSessionAck
        ]
        super().mark_acknowledged_messages(session, header)
        session.UnAckedMessageCount -= sum(one.ReceivedSessionAck for one in waiting)


@fault("sender-session-ack-opens-windows-of-all-sessions", breaks=("MQQB-3.1.5.5.1-02", "MQQB-3.1.5.5.1-03"))
class SenderSessionAckOpensWindowsOfAllSessions(SessionAcks):
    """A SessionAck makes room for as many messages in the windows of all sessions as it acknowledges on one session."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged_messages(session, header)
        for other in list_open_sessions(self.qm, session):
            other.UnAckedMessageCount = max(0, other.UnAckedMessageCount - before + session.UnAckedMessageCount)
            self.qm.post_event(SessionMaySend(other))


_UnchangedSendingPredicate = Callable[..., bool]


def _list_unsent_messages(session: Session) -> list[OutgoingMessagePosition]:
    """Return the messages that wait because the window is full. A transactional message that awaits its OrderAck is not
    included, because it was sent.
    """
    return [one for one in session.OutgoingMessageTable if not (one.AwaitingAck or one.ReceivedSessionAck)]


def _hold_back_last_message(original: _UnchangedSendingPredicate, *_: Any) -> _UnchangedSendingPredicate:
    def may_send(qm: QueueManager, session: Session) -> bool:
        return original(qm, session) and len(_list_unsent_messages(session)) > 1

    return may_send


add(
    "sender-last-message-held-back-after-acknowledgment",
    "MQQB-3.1.5.5.1-03",
    "After an acknowledgment, the sender sends all except the last of the messages that waited for the window.",
    replace_method_during_event(
        SessionAcks.process_session_header, SessionMaySend, MessageSending.may_send, _hold_back_last_message
    ),
)


@fault("sender-acknowledgment-of-whole-window-ignored", breaks="MQQB-3.1.5.5.1-03", blind=True)
class SenderAcknowledgmentOfWholeWindowIgnored(SessionAcks):
    """The sender ignores an acknowledgment that covers a full window of messages."""

    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.AckSequenceNumber - session.last_ack_number & 0xFFFF != session.WindowSize:
            super().process_session_header(session, header, now)


def _omit_call_of_method(original: _UnchangedSendingPredicate, *_: Any) -> Callable[..., None]:
    return lambda *arguments: None


def _send_held_back_messages_in_reverse_order(
    original: _UnchangedSendingPredicate, *_: Any
) -> _UnchangedSendingPredicate:
    def send_reversed(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        return original(qm, session, _list_unsent_messages(session)[-1], now)

    return send_reversed


add(
    "sender-held-back-messages-sent-in-reverse-order",
    "MQQB-3.1.5.5.1-04",
    "After an acknowledgment, the sender sends in reverse order the messages that waited for the window.",
    combine_installers(
        replace_method_during_event(
            SessionAcks.process_session_header,
            SessionMaySend,
            MessageSending.send_user_message,
            _send_held_back_messages_in_reverse_order,
        ),
        # The first message stays in the collection, because the last message was sent instead of it.
        replace_method_during_event(
            SessionAcks.process_session_header, SessionMaySend, DispatchCollection.remove, _omit_call_of_method
        ),
    ),
)


@fault("sender-held-back-recoverable-messages-sent-before-express-ones", breaks="MQQB-3.1.5.5.1-04", blind=True)
class SenderHeldBackRecoverableMessagesSentBeforeExpressOnes(MessageSending):
    """After its window was full, the sender sends the recoverable messages that it held back before the express
    messages.
    """

    def dispatch_messages(self, session: Session, now: Now) -> None:
        table = session.OutgoingMessageTable
        waiting = [one for one in table if not one.AwaitingAck and not one.ReceivedSessionAck]
        if self.may_send(session) and len({one.recoverable for one in waiting}) == 2 and len(table.awaiting_ack):
            table.withhold_all_positions()
            for position in sorted(waiting, key=lambda one: not one.recoverable):
                table.remove(position)
                table.add(position)
                self.qm.dispatch_collection.add(session, position)
        super().dispatch_messages(session, now)
