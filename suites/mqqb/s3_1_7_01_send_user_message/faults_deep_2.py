"""Faults of MS-MQQB 3.1.7.1.1 and 3.1.7.1.6 that occur only for a second destination, session or loss,
or for a large value.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("sender-own-message-identifier-of-preceding-message", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderOwnMessageIdentifierOfPrecedingMessage(OwnMessages):
    """The sender gives an administration acknowledgment the identifier of the message that it sent before."""

    def send(self, message: Message, now: Now) -> None:
        self.qm.adm.MessageIdOrdinal = max(self.qm.adm.MessageIdOrdinal - 1, 0)
        super().send(message, now)


@fault("sender-identifiers-counted-for-each-queue", breaks="MQQB-3.1.7.1.1-02", blind=True)
class SenderIdentifiersCountedForEachQueue(Sending):
    """The sender counts the identifiers of messages separately for each outgoing queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, int] = {}
        self.count: dict[int, int] = {}

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        number = queue.session.number
        message = position.MessageReference
        start = self.first.setdefault(number, next(iter(self.first.values()), message.Identifier.Ordinal))
        self.count[number] = self.count.get(number, -1) + 1
        guid = message.Identifier.QueueManagerGuid
        position.MessageReference = replace(message, Identifier=MessageIdentifier(guid, start + self.count[number]))
        super().message_position_available(queue, position, now)


@fault("sender-body-above-64-kilobytes-cut", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderBodyAbove64KilobytesCut(Sending):
    """The sender cuts a body that is longer than 65,535 bytes."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        position.MessageReference = replace(message, Body=message.Body[:0xFFFF])
        return super().construct_user_message(position)


@fault("sender-application-tag-as-signed-number", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderApplicationTagAsSignedNumber(Sending):
    """The sender clears the highest bit of an application tag."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        position.MessageReference = replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)
        return super().construct_user_message(position)


@fault("sender-response-queue-of-earlier-message", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderResponseQueueOfEarlierMessage(Sending):
    """If a message has no response queue, the sender fills in the response queue of the last message
    that had a response queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: str | None = None

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        self.last = message.ResponseQueueFormatName or self.last
        if not message.Class:
            position.MessageReference = replace(message, ResponseQueueFormatName=self.last)
        return super().construct_user_message(position)


@fault("sender-time-to-be-received-above-two-billion-infinite", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderTimeToBeReceivedAboveTwoBillionInfinite(Sending):
    """The sender writes an infinite TimeToBeReceived for a time of more than 0x7FFFFFFF seconds."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.TimeToBeReceived > 0x7FFFFFFF:
            position.MessageReference = replace(message, TimeToBeReceived=0xFFFFFFFF)
        return super().construct_user_message(position)


@fault("sender-transmitted-set-for-message-behind-full-window", breaks="MQQB-3.1.7.1.6-02", blind=True)
class SenderTransmittedSetForMessageBehindFullWindow(Sending):
    """The sender sets Transmitted of messages that wait because the window is full."""

    def dispatch_messages(self, session: Session, now: Now) -> None:
        super().dispatch_messages(session, now)
        if session.SessionState is SessionState.OPEN and not self.is_window_open(session):
            for position in session.OutgoingMessageTable:
                position.Transmitted = True


@fault("sender-transmitted-set-only-for-first-message", breaks="MQQB-3.1.7.1.6-02", blind=True)
class SenderTransmittedSetOnlyForFirstMessage(Sending):
    """The sender sets Transmitted only of the first message of a session."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.Transmitted = session.MessageSentCount == 1


@fault("sender-sent-express-messages-lost-with-connection", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderSentExpressMessagesLostWithConnection(Closing):
    """The sender deletes the sent and unacknowledged express messages when the connection is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack:
            if not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)


@fault("sender-queue-without-messages-connected-after-loss", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderQueueWithoutMessagesConnectedAfterLoss(Closing):
    """The sender leaves State of an outgoing queue at Connected when the connection is lost and no message waits."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None and not len(session.OutgoingMessageTable):
            queue.State = OutgoingQueueState.CONNECTED


@fault("sender-sent-messages-missing-after-second-loss", breaks="MQQB-3.1.7.1.6-04", blind=True)
class SenderSentMessagesMissingAfterSecondLoss(SessionInitialization):
    """After the second loss of a connection, the sender sends only the messages that it had not sent before."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.started: dict[int, int] = {}

    def initialize_messages(self, session: Session) -> None:
        sent = [one for one in session.OutgoingMessageTable if one.Transmitted]
        super().initialize_messages(session)
        self.started[session.number] = self.started.get(session.number, 0) + 1
        if self.started[session.number] > 2:
            for position in sent:
                position.AwaitingAck = True
