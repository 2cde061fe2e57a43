"""Faults of MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.events import during_event
from harness.faults.parts import fault
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.events import SessionMaySend
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

_Original = Callable[..., bool]


@fault("sender-window-opened-by-repeated-acknowledgment", breaks="MQQB-3.1.5.5.1-02")
class SenderWindowOpenedByRepeatedAcknowledgment(SessionAcks):
    """The sender gains room in its window for an acknowledgment that covers no new message."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged(session, header)
        if session.UnAckedMessageCount == before:
            session.UnAckedMessageCount = max(0, before - header.AckSequenceNumber)


@fault("sender-window-filled-by-refused-messages", breaks="MQQB-3.1.5.5.1-01")
class SenderWindowFilledByRefusedMessages(FinalAcks):
    """The sender counts a message as unacknowledged even after a FinalAck has refused it."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        senders = [queue.session for queue in self.qm.adm.OutgoingQueues.values()]
        before = [sender.UnAckedMessageCount for sender in senders]
        super().receive(session, packet, now)
        for sender, count in zip(senders, before, strict=True):
            sender.UnAckedMessageCount = max(sender.UnAckedMessageCount, count)


def _list_unsent_messages(session: Session) -> list[OutgoingMessagePosition]:
    """Return the messages that wait because the window is full. A transactional message that awaits its OrderAck is not
    included, because it was sent.
    """
    return [one for one in session.OutgoingMessageTable if not (one.AwaitingAck or one.ReceivedSessionAck)]


def _hold_back_last_message(original: _Original, *_: Any) -> _Original:
    def may_send(qm: QueueManager, session: Session) -> bool:
        return original(qm, session) and len(_list_unsent_messages(session)) > 1

    return may_send


def _do_nothing(original: _Original, *_: Any) -> Callable[..., None]:
    return lambda *arguments: None


def _send_in_reverse_order(original: _Original, *_: Any) -> _Original:
    def send_reversed(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        return original(qm, session, _list_unsent_messages(session)[-1], now)

    return send_reversed


add(
    "sender-last-message-held-back-after-acknowledgment",
    "MQQB-3.1.5.5.1-03",
    "After an acknowledgment, the sender sends all except the last of the messages that waited for the window.",
    during_event(SessionAcks.process_header, SessionMaySend, Sending.may_send, _hold_back_last_message),
)
add(
    "sender-held-back-messages-sent-in-reverse-order",
    "MQQB-3.1.5.5.1-04",
    "After an acknowledgment, the sender sends in reverse order the messages that waited for the window.",
    both(
        during_event(SessionAcks.process_header, SessionMaySend, Sending.send_user_message, _send_in_reverse_order),
        # The first message stays in the collection, because the last message was sent instead of it.
        during_event(SessionAcks.process_header, SessionMaySend, DispatchCollection.remove, _do_nothing),
    ),
)


@fault("sender-acknowledgment-of-whole-window-ignored", breaks="MQQB-3.1.5.5.1-03", blind=True)
class SenderAcknowledgmentOfWholeWindowIgnored(SessionAcks):
    """The sender ignores an acknowledgment that covers a full window of messages."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.AckSequenceNumber - session.last_ack & 0xFFFF != session.WindowSize:
            super().process_header(session, header, now)
