"""Faults that break the rules MQQB-3.1.7.1-02 to MQQB-3.1.7.1.1-02."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import set_field_value
from harness.faults.other_sessions import get_newest_session, list_open_sessions
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step, send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import MessageClass, MessageIdentifier, UserMessagePacket
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("sender-message-of-paused-queue-sent", breaks="MQQB-3.1.7.1-02")
class SenderMessageOfPausedQueueSent(MessageSending):
    """The sender sends messages of an outgoing queue that is on hold."""

    def may_send(self, session: Session) -> bool:
        return session.SessionState is SessionState.OPEN and self.is_window_open(session)

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = get_outgoing_queue(session)
        state, queue.State = queue.State, OutgoingQueueState.CONNECTED
        super().add_message_to_session_table(session, position, now)
        queue.State = state


@fault("sender-sends-new-transactional-message-from-paused-queue", breaks="MQQB-3.1.7.1-02", blind=True)
class SenderSendsNewTransactionalMessageFromPausedQueue(MessageSending):
    """The sender sends a transactional message that an application puts into a paused outgoing queue."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        if position.TxSequenceNumber and get_outgoing_queue(session).State is OutgoingQueueState.ON_HOLD:
            self.qm.dispatch_collection.add(session, position)
            self.dispatch_messages(session, now)

    def may_send(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.get_next_unsent()
        if position is None or not position.TxSequenceNumber or session.SessionState is not SessionState.OPEN:
            return super().may_send(session)
        return self.is_window_open(session)


@fault("sender-resumes-all-paused-queues-when-one-is-resumed", breaks="MQQB-3.1.7.1-02", blind=True)
class SenderResumesAllPausedQueuesWhenOneIsResumed(TransferAdministering):
    """The sender resumes all paused queues when one queue is resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        for other in self.qm.adm.OutgoingQueues.values():
            super().resume_queue(other, now)


@fault("sender-sends-message-with-response-queue-from-paused-queue", breaks="MQQB-3.1.7.1-02")
class SenderSendsMessageWithResponseQueueFromPausedQueue(MessageSending):
    """The sender sends a message of a paused outgoing queue if the message has a response queue."""

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        if queue.State is OutgoingQueueState.ON_HOLD and position.MessageReference.ResponseQueueFormatName:
            queue.State = OutgoingQueueState.CONNECTED
        super().on_message_position_available(queue, position, now)


@fault("sender-ignores-window-of-receiver", breaks="MQQB-3.1.7.1-03")
class SenderIgnoresWindowOfReceiver(MessageSending):
    """The sender sends messages although the window is full."""

    def is_window_open(self, session: Session) -> bool:
        return True


@fault("sender-window-is-one-message-too-small", breaks=("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03"))
class SenderWindowIsOneMessageTooSmall(MessageSending):
    """The sender sends one message fewer than the window allows."""

    def is_window_open(self, session: Session) -> bool:
        return session.UnAckedMessageCount + 1 < session.WindowSize


@fault("sender-window-not-applied-to-transactional-messages", breaks="MQQB-3.1.7.1-03", blind=True)
class SenderWindowNotAppliedToTransactionalMessages(MessageSending):
    """The sender sends transactional messages even when its window is full."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.get_next_unsent()
        return super().is_window_open(session) or (position is not None and bool(position.TxSequenceNumber))


@fault("sender-window-not-applied-to-administration-acknowledgments", breaks="MQQB-3.1.7.1-03", blind=True)
class SenderWindowNotAppliedToAdministrationAcknowledgments(MessageSending):
    """The sender sends administration acknowledgments even when its window is full."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.get_next_unsent()
        own = position is not None and bool(position.MessagePosition.MessageReference.Class)
        return super().is_window_open(session) or own


@fault("sender-window-shared-by-sessions", breaks="MQQB-3.1.7.1-03")
class SenderWindowSharedBySessions(MessageSending):
    """The sender's window limits the number of unacknowledged messages on all sessions together."""

    def is_window_open(self, session: Session) -> bool:
        others = sum(one.UnAckedMessageCount for one in list_open_sessions(self.qm, session))
        return session.UnAckedMessageCount + others < session.WindowSize


@fault("sender-outgoing-queue-reference-missing", breaks="MQQB-3.1.7.1-04")
class SenderOutgoingQueueReferenceMissing(MessageSending):
    """The sender leaves OutgoingQueueReference of the session empty after it has sent a message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        session.OutgoingQueueReference = None


add(
    "sender-packet-label-and-priority-wrong",
    ("MQQB-3.1.7.1-05", "MQQB-3.1.7.1.1-03"),
    "The sender's packet has a label and a priority that differ from the message.",
    send_wrong_field_values(
        UserMessagePacket, {"MessagePropertiesHeader.Label": "label", "BaseHeader.Flags": lambda old: old & ~7}
    ),
)


class _ExpirationLimitedToUnsentMessages(MessageSending):
    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent: set[int] = set()

    def delete_expired_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not self.was_message_sent(position.UserMessage):
            super().delete_expired_message(session, position, now)

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        self._sent.add(packet.UserHeader.MessageID)

    def was_message_sent(self, packet: UserMessagePacket) -> bool:
        return self.is_from_this_queue_manager(packet) and packet.UserHeader.MessageID in self._sent


class _LifetimesWithoutExpiryOfSentMessages(MessageLifetimes):
    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        sending = self.qm.message_sending
        assert isinstance(sending, _ExpirationLimitedToUnsentMessages)
        return not sending.was_message_sent(packet) and super().has_message_expired(packet, now)


add(
    "sender-expiration-not-checked-at-resend",
    "MQQB-3.1.7.1-06",
    "The sender checks the expiration of a message only when it first sends the message.",
    combine_installers(
        replace_part(_ExpirationLimitedToUnsentMessages), replace_part(_LifetimesWithoutExpiryOfSentMessages)
    ),
    blind=True,
)


def _replace_secured_packet_by_clear_packet(sending: MessageSending, position: OutgoingMessagePosition) -> None:
    """Replace the packet of a message with an unsigned and unencrypted packet of the same message."""
    place = position.MessagePosition
    clear = sending.construct_user_message(
        MessagePosition(replace(place.MessageReference, security=None), place.QueueReference)
    )
    position.UserMessage = replace(clear, TransactionHeader=position.UserMessage.TransactionHeader)


@fault("sender-repeated-message-without-signature", breaks="MQQB-3.1.7.1-07", blind=True)
class SenderRepeatedMessageWithoutSignature(MessageSending):
    """The sender does not sign a message that it sends again on a later session."""

    def sign_and_encrypt_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if position.SequenceNumber == 0 or header is None or header.EB:
            return super().sign_and_encrypt_message(session, position, now)
        _replace_secured_packet_by_clear_packet(self, position)
        return True


@fault("sender-transactional-message-without-signature", breaks="MQQB-3.1.7.1-07", blind=True)
class SenderTransactionalMessageWithoutSignature(MessageSending):
    """The sender does not sign transactional messages."""

    def sign_and_encrypt_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if not position.TxSequenceNumber or header is None or header.EB:
            return super().sign_and_encrypt_message(session, position, now)
        _replace_secured_packet_by_clear_packet(self, position)
        return True


@fault("sender-repeated-message-not-encrypted", breaks="MQQB-3.1.7.1-08", blind=True)
class SenderRepeatedMessageNotEncrypted(MessageSending):
    """The sender does not encrypt a message that it sends again on a later session."""

    def sign_and_encrypt_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if position.SequenceNumber == 0 or header is None or not header.EB:
            return super().sign_and_encrypt_message(session, position, now)
        _replace_secured_packet_by_clear_packet(self, position)
        return True


add(
    "sender-tx-sequence-number-always-1",
    "MQQB-3.1.7.1-09",
    "The sender's transactional messages all have TxSequenceNumber 1.",
    set_field_value(UserMessagePacket, "TransactionHeader.TxSequenceNumber", 1),
)


add(
    "sender-packet-not-transmitted",
    ("MQQB-3.1.7.1-10", "MQQB-3.1.7.1.6-01", "MQQB-3.1.7.16-03"),
    "The sender marks a message as sent without sending its packet.",
    omit_step(MessageSending.transmit),
)


@fault("sender-does-not-send-message-with-large-body", breaks="MQQB-3.1.7.1-10", blind=True)
class SenderDoesNotSendMessageWithLargeBody(MessageSending):
    """The sender does not send a message whose body is larger than 1 MB."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if len(packet.MessagePropertiesHeader.MessageBody) <= 1 << 20:
            super().transmit(session, position, packet)


@fault("sender-message-sent-on-newest-session", breaks=("MQQB-3.1.7.1.6-01", "MQQB-3.1.7.1-10"))
class SenderMessageSentOnNewestSession(MessageSending):
    """The sender sends every message on the session that opened last, not on the session with its destination."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(get_newest_session(self.qm, session), position, packet)


add(
    "sender-traced-message-without-report",
    ("MQQB-3.1.7.1-11", "MQDMPR-3.1.1.12-D61"),
    "The sender sends no report when it sends a traced message.",
    omit_step(MessageTracing.trace_sent_message),
)


@fault("sender-traced-transactional-message-not-reported", breaks=("MQQB-3.1.7.1-11", "MQQB-3.1.7.1.7-01"), blind=True)
class SenderTracedTransactionalMessageNotReported(MessageTracing):
    """The sender sends no report on a traced message that is transactional."""

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_sent_message(session, message, now)


@fault("sender-second-traced-message-of-session-not-reported", breaks="MQQB-3.1.7.1-11", blind=True)
class SenderSecondTracedMessageOfSessionNotReported(MessageTracing):
    """The sender sends a report only on the first traced message of each session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.reported: set[int] = set()

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested and session.number not in self.reported:
            self.reported.add(session.number)
            super().trace_sent_message(session, message, now)


@fault("sender-does-not-count-own-administration-messages", breaks="MQQB-3.1.7.1-12")
class SenderDoesNotCountOwnAdministrationMessages(MessageSending):
    """The sender does not count the acknowledgment messages that it creates itself in MessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if position.UserMessage.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL:
            session.MessageSentCount -= 1
        return packet


@fault("sender-deletes-own-unacked-messages-when-session-closes", breaks="MQQB-3.1.7.1-12", blind=True)
class SenderDeletesOwnUnackedMessagesWhenSessionCloses(SessionClosing):
    """The queue manager deletes its own unacknowledged messages when it closes a session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            own = position.MessagePosition.MessageReference.Class and not position.TxSequenceNumber
            if own and position.AwaitingAck:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


@fault("sender-message-id-always-5", breaks="MQQB-3.1.7.1.1-02")
class SenderMessageIdAlways5(MessageNumbering):
    """The sender assigns the MessageID 5 to every message."""

    def assign_message_ordinal(self) -> int:
        return 5


@fault("sender-messages-of-queue-manager-numbered-separately", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderMessagesOfQueueManagerNumberedSeparately(OwnMessageSending):
    """The queue manager numbers its own messages with a separate counter that begins at 1."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.number = 0

    def send(self, message: Message, now: Now) -> None:
        ordinal = self.qm.adm.MessageIdOrdinal
        self.qm.adm.MessageIdOrdinal = self.number
        super().send(message, now)
        self.number = self.qm.adm.MessageIdOrdinal
        self.qm.adm.MessageIdOrdinal = ordinal


@fault("sender-acknowledgment-repeats-identifier-of-preceding-message", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderAcknowledgmentRepeatsIdentifierOfPrecedingMessage(OwnMessageSending):
    """The sender gives an administration acknowledgment the identifier of the previous message that it sent."""

    def send(self, message: Message, now: Now) -> None:
        self.qm.adm.MessageIdOrdinal = max(self.qm.adm.MessageIdOrdinal - 1, 0)
        super().send(message, now)


@fault("sender-identifiers-counted-for-each-queue", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderIdentifiersCountedForEachQueue(MessageSending):
    """The sender counts the identifiers of messages separately for each outgoing queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, int] = {}
        self.count: dict[int, int] = {}

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        number = queue.session.number
        message = position.MessageReference
        start = self.first.setdefault(number, next(iter(self.first.values()), message.Identifier.Ordinal))
        self.count[number] = self.count.get(number, -1) + 1
        guid = message.Identifier.QueueManagerGuid
        position.MessageReference = replace(message, Identifier=MessageIdentifier(guid, start + self.count[number]))
        super().on_message_position_available(queue, position, now)
