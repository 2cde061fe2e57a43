"""Faults of MS-MQQB 3.1.7.1 Send User Message Event that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("sender-queue-on-hold-new-transactional-message-sent", breaks="MQQB-3.1.7.1-02", blind=True)
class SenderQueueOnHoldNewTransactionalMessageSent(Sending):
    """The sender sends a transactional message that an application puts into a paused outgoing queue."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().put_outgoing(session, position, now)
        if position.TxSequenceNumber and outgoing_queue(session).State is OutgoingQueueState.ON_HOLD:
            self.qm.dispatch_collection.add(session, position)
            self.dispatch_messages(session, now)

    def may_send(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.next_unsent()
        if position is None or not position.TxSequenceNumber or session.SessionState is not SessionState.OPEN:
            return super().may_send(session)
        return self.is_window_open(session)


@fault("sender-window-without-transactional-messages", breaks="MQQB-3.1.7.1-03", blind=True)
class SenderWindowWithoutTransactionalMessages(Sending):
    """The sender sends transactional messages even when its window is full."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.next_unsent()
        return super().is_window_open(session) or (position is not None and bool(position.TxSequenceNumber))


@fault("sender-window-without-own-messages", breaks="MQQB-3.1.7.1-03", blind=True)
class SenderWindowWithoutOwnMessages(Sending):
    """The sender sends administration acknowledgments even when its window is full."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.next_unsent()
        own = position is not None and bool(position.MessagePosition.MessageReference.Class)
        return super().is_window_open(session) or own


def _send_in_clear(sending: Sending, position: OutgoingMessagePosition) -> None:
    """Replace the packet of a message with an unsigned and unencrypted packet of the same message."""
    place = position.MessagePosition
    clear = sending.construct_user_message(
        MessagePosition(replace(place.MessageReference, security=None), place.QueueReference)
    )
    position.UserMessage = replace(clear, TransactionHeader=position.UserMessage.TransactionHeader)


@fault("sender-repeated-message-without-signature", breaks="MQQB-3.1.7.1-07", blind=True)
class SenderRepeatedMessageWithoutSignature(Sending):
    """The sender does not sign a message that it sends again on a later session."""

    def secure(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if position.SequenceNumber == 0 or header is None or header.EB:
            return super().secure(session, position, now)
        _send_in_clear(self, position)
        return True


@fault("sender-transactional-message-without-signature", breaks="MQQB-3.1.7.1-07", blind=True)
class SenderTransactionalMessageWithoutSignature(Sending):
    """The sender does not sign transactional messages."""

    def secure(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if not position.TxSequenceNumber or header is None or header.EB:
            return super().secure(session, position, now)
        _send_in_clear(self, position)
        return True


@fault("sender-repeated-message-not-encrypted", breaks="MQQB-3.1.7.1-08", blind=True)
class SenderRepeatedMessageNotEncrypted(Sending):
    """The sender does not encrypt a message that it sends again on a later session."""

    def secure(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        header = position.UserMessage.SecurityHeader
        if position.SequenceNumber == 0 or header is None or not header.EB:
            return super().secure(session, position, now)
        _send_in_clear(self, position)
        return True


@fault("sender-message-of-large-body-not-sent", breaks="MQQB-3.1.7.1-10", blind=True)
class SenderMessageOfLargeBodyNotSent(Sending):
    """The sender does not send a message whose body is larger than 1 MB."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if len(packet.MessagePropertiesHeader.MessageBody) <= 1 << 20:
            super().transmit(session, position, packet)


@fault("sender-traced-transactional-message-not-reported", breaks=("MQQB-3.1.7.1-11", "MQQB-3.1.7.1.7-01"), blind=True)
class SenderTracedTransactionalMessageNotReported(Tracing):
    """The sender sends no report on a traced message that is transactional."""

    def trace_sent(self, session: Session, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_sent(session, message, now)


@fault("sender-second-traced-message-of-session-not-reported", breaks="MQQB-3.1.7.1-11", blind=True)
class SenderSecondTracedMessageOfSessionNotReported(Tracing):
    """The sender sends a report only on the first traced message of each session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.reported: set[int] = set()

    def trace_sent(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested and session.number not in self.reported:
            self.reported.add(session.number)
            super().trace_sent(session, message, now)


@fault("sender-report-to-queue-of-first-traced-message", breaks="MQQB-3.1.7.1.7-01", blind=True)
class SenderReportToQueueOfFirstTracedMessage(Tracing):
    """The sender sends the report on each traced message to the queue that the first traced message named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Message | None = None

    def trace_sent(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested and self.first is None:
            self.first = message
        if self.first is not None:
            message = replace(message, TracingQueueIdentifier=self.first.TracingQueueIdentifier)
        super().trace_sent(session, message, now)


def _send_like_message(original: Callable[..., None], qm: QM, session: Session, message: Message, now: Now) -> Any:
    def send_report(qm: QM, report: Message, now: Now) -> None:
        original(qm, replace(report, DeliveryGuarantee=message.DeliveryGuarantee), now)

    return send_report


add(
    "sender-report-of-recoverable-message-recoverable",
    "MQQB-3.1.7.1.7-03",
    "The sender sends the report on a recoverable message as a recoverable message.",
    during(Tracing.trace_sent, OwnMessages.send, _send_like_message),
    blind=True,
)


@fault("sender-report-label-message-id-of-16-bits", breaks="MQQB-3.1.7.1.7-04", blind=True)
class SenderReportLabelMessageIdOf16Bits(Tracing):
    """The sender puts only the lower 16 bits of the MessageID of a sent message into the label of the
    report on this message.
    """

    def trace_sent(self, session: Session, message: Message, now: Now) -> None:
        super().trace_sent(session, _keep_16_bits_of_ordinal(message), now)


def _keep_16_bits_of_ordinal(message: Message) -> Message:
    identifier = message.Identifier
    return replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))


@fault("sender-own-message-lost-with-session", breaks="MQQB-3.1.7.1-12", blind=True)
class SenderOwnMessageLostWithSession(Closing):
    """The queue manager deletes its own unacknowledged messages when it closes a session."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            own = position.MessagePosition.MessageReference.Class and not position.TxSequenceNumber
            if own and position.AwaitingAck:
                session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


@fault("sender-own-message-numbered-separately", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderOwnMessageNumberedSeparately(OwnMessages):
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


@fault("sender-application-tag-of-31-bits", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderApplicationTagOf31Bits(Sending):
    """The sender clears the highest bit of ApplicationTag."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        return replace(
            packet,
            MessagePropertiesHeader=replace(properties, ApplicationTag=properties.ApplicationTag & 0x7FFFFFFF),
        )


@fault("sender-label-of-longest-length-cut", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderLabelOfLongestLengthCut(Sending):
    """The sender sends at most 248 characters of a label."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        label = properties.Label
        return replace(packet, MessagePropertiesHeader=replace(properties, Label=label and label[:248]))


@fault("sender-second-lost-session-loses-messages", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderSecondLostSessionLosesMessages(Closing):
    """The sender deletes the unacknowledged messages when it loses the connections of two successive sessions."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.losses: dict[int, int] = {}

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            self.losses[session.number] = self.losses.get(session.number, 0) + 1
        if self.losses.get(session.number) == 2:
            for position in session.OutgoingMessageTable:
                if position.AwaitingAck:
                    session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)


@fault("sender-message-put-while-disconnected-sent-twice", breaks="MQQB-3.1.7.1.6-04", blind=True)
class SenderMessagePutWhileDisconnectedSentTwice(Sending):
    """If an application sends a message while no session is open, the sender sends the message twice on the next
    session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.waited: set[int] = set()

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.waited.add(id(position))
        super().put_outgoing(session, position, now)

    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        again = super().send_user_message(session, position, now)
        if id(position) in self.waited and position.AwaitingAck:
            self.waited.discard(id(position))
            super().send_user_message(session, position, now)
        return again


@fault("sender-lost-connection-closes-other-sessions", breaks="MQQB-3.1.7.1.6-06", blind=True)
class SenderLostConnectionClosesOtherSessions(Closing):
    """The sender closes every session when the connection of one session is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        for other in list(self.qm.sessions.values()):
            if other is not session and other.SessionState is SessionState.OPEN:
                self.close(other, "a fault", now)


@fault("sender-resume-resumes-every-queue", breaks="MQQB-3.1.7.1-02", blind=True)
class SenderResumeResumesEveryQueue(Administering):
    """The sender resumes all paused queues when one queue is resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        for other in self.qm.adm.OutgoingQueues.values():
            super().resume_queue(other, now)
