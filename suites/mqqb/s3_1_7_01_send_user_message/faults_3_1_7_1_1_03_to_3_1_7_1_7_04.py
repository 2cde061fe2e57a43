"""Faults that break the rules MQQB-3.1.7.1.1-03 to MQQB-3.1.7.1.7-04."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, replace_method_during, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "sender-packet-na-sent-only-with-nr",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet has NA clear when NR is clear.",
    change_constructed_packet(
        lambda packet, message: (
            packet
            if packet.MessagePropertiesHeader.NR
            else set_fields(packet, {"MessagePropertiesHeader.Flags": lambda flags: flags & ~4})
        )
    ),
    blind=True,
)


add(
    "sender-packet-jp-missing-with-jn",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet has JP clear when JN is set.",
    change_constructed_packet(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~0x200}) if packet.UserHeader.JN else packet
        )
    ),
    blind=True,
)


INFINITE_LIFETIME_S = 0xFFFFFFFF


add(
    "sender-transactional-packet-time-to-be-received-missing",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet of a transactional message has no TimeToBeReceived.",
    change_constructed_packet(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.TimeToBeReceived": INFINITE_LIFETIME_S}) if packet.UserHeader.TH else packet
        )
    ),
    blind=True,
)


@fault("sender-application-tag-of-31-bits", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderApplicationTagOf31Bits(MessageSending):
    """The sender clears the highest bit of ApplicationTag."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        return replace(
            packet,
            MessagePropertiesHeader=replace(properties, ApplicationTag=properties.ApplicationTag & 0x7FFFFFFF),
        )


@fault("sender-label-of-longest-length-cut", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderLabelOfLongestLengthCut(MessageSending):
    """The sender sends at most 248 characters of a label."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        label = properties.Label
        return replace(packet, MessagePropertiesHeader=replace(properties, Label=label and label[:248]))


@fault("sender-body-above-64-kilobytes-cut", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderBodyAbove64KilobytesCut(MessageSending):
    """The sender cuts a body that is longer than 65,535 bytes."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        position.MessageReference = replace(message, Body=message.Body[:0xFFFF])
        return super().construct_user_message(position)


@fault("sender-application-tag-as-signed-number", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderApplicationTagAsSignedNumber(MessageSending):
    """The sender clears the highest bit of an application tag."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        position.MessageReference = replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)
        return super().construct_user_message(position)


@fault("sender-fills-in-response-queue-of-earlier-message", breaks="MQQB-3.1.7.1.1-03", blind=True)
class SenderFillsInResponseQueueOfEarlierMessage(MessageSending):
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
class SenderTimeToBeReceivedAboveTwoBillionInfinite(MessageSending):
    """The sender writes an infinite TimeToBeReceived for a time of more than 0x7FFFFFFF seconds."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.TimeToBeReceived > 0x7FFFFFFF:
            position.MessageReference = replace(message, TimeToBeReceived=0xFFFFFFFF)
        return super().construct_user_message(position)


@fault("sender-outgoing-entry-transmitted-false-after-sending", breaks="MQQB-3.1.7.1.6-02")
class SenderOutgoingEntryTransmittedFalseAfterSending(MessageSending):
    """The sender leaves Transmitted of a sent OutgoingMessagePosition at FALSE."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.Transmitted = False


@fault("sender-outgoing-entry-transmitted-true-before-sending", breaks="MQQB-3.1.7.1.6-02")
class SenderOutgoingEntryTransmittedTrueBeforeSending(MessageSending):
    """The sender sets Transmitted of an OutgoingMessagePosition to TRUE before it sends the message."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        position.Transmitted = True
        super().add_message_to_session_table(session, position, now)


@fault("sender-transmitted-set-for-message-behind-full-window", breaks="MQQB-3.1.7.1.6-02", blind=True)
class SenderTransmittedSetForMessageBehindFullWindow(MessageSending):
    """The sender sets Transmitted of messages that wait because the window is full."""

    def dispatch_messages(self, session: Session, now: Now) -> None:
        super().dispatch_messages(session, now)
        if session.SessionState is SessionState.OPEN and not self.is_window_open(session):
            for position in session.OutgoingMessageTable:
                position.Transmitted = True


@fault("sender-transmitted-set-only-for-first-message", breaks="MQQB-3.1.7.1.6-02", blind=True)
class SenderTransmittedSetOnlyForFirstMessage(MessageSending):
    """The sender sets Transmitted only of the first message of a session."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.Transmitted = session.MessageSentCount == 1


add(
    "sender-session-of-lost-connection-not-closed",
    ("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-06"),
    "The sender does not close a session whose connection is lost.",
    omit_step_during(SessionClosing.on_transport_lost, SessionClosing.close),
)


@fault("sender-messages-of-lost-session-deleted", breaks=("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04"))
class SenderMessagesOfLostSessionDeleted(SessionClosing):
    """The sender deletes the unacknowledged messages of a session whose connection is lost."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


@fault("sender-second-lost-session-loses-messages", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderSecondLostSessionLosesMessages(SessionClosing):
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


@fault("sender-sent-express-messages-lost-with-connection", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderSentExpressMessagesLostWithConnection(SessionClosing):
    """The sender deletes the sent and unacknowledged express messages when the connection is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable.awaiting_ack:
            if not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)


@fault("sender-state-of-empty-queue-stays-connected-after-loss", breaks="MQQB-3.1.7.1.6-03", blind=True)
class SenderStateOfEmptyQueueStaysConnectedAfterLoss(SessionClosing):
    """The sender leaves State of an outgoing queue at Connected when the connection is lost and no message waits."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None and not len(session.OutgoingMessageTable):
            queue.State = OutgoingQueueState.CONNECTED


@fault(
    "lost-connection-sets-state-of-all-outgoing-queues",
    breaks=("MQQB-3.1.7.1.6-03", "MQQB-3.1.5.9-03"),
)
class LostConnectionSetsStateOfAllOutgoingQueues(SessionClosing):
    """When the connection of one session is lost, the sender sets State of all outgoing queues to Disconnected."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.State is OutgoingQueueState.CONNECTED:
                queue.State = OutgoingQueueState.DISCONNECTED


@fault("sender-message-put-while-disconnected-sent-twice", breaks="MQQB-3.1.7.1.6-04", blind=True)
class SenderMessagePutWhileDisconnectedSentTwice(MessageSending):
    """If an application sends a message while no session is open, the sender sends the message twice on the next
    session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.waited: set[int] = set()

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.WAITING_RECONNECT:
            self.waited.add(id(position))
        super().add_message_to_session_table(session, position, now)

    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        again = super().send_user_message(session, position, now)
        if id(position) in self.waited and position.AwaitingAck:
            self.waited.discard(id(position))
            super().send_user_message(session, position, now)
        return again


@fault("sender-resends-no-sent-message-after-second-connection-loss", breaks="MQQB-3.1.7.1.6-04", blind=True)
class SenderResendsNoSentMessageAfterSecondConnectionLoss(SessionInitialization):
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


@fault("sender-lost-connection-closes-other-sessions", breaks="MQQB-3.1.7.1.6-06", blind=True)
class SenderLostConnectionClosesOtherSessions(SessionClosing):
    """The sender closes every session when the connection of one session is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        for other in list(self.qm.sessions.values()):
            if other is not session and other.SessionState is SessionState.OPEN:
                self.close(other, "a fault", now)


@fault("sender-session-of-lost-connection-closed-without-retry-timer", breaks="MQQB-3.1.7.1.6-06", blind=True)
class SenderSessionOfLostConnectionClosedWithoutRetryTimer(SessionClosing):
    """When the connection of a session is lost, the sender does not start the Session Retry Connect Timer as the last
    step of closing the session, although messages wait.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("sender-sends-each-report-to-queue-of-first-traced-message", breaks="MQQB-3.1.7.1.7-01", blind=True)
class SenderSendsEachReportToQueueOfFirstTracedMessage(MessageTracing):
    """The sender sends the report on each traced message to the queue that the first traced message named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Message | None = None

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested and self.first is None:
            self.first = message
        if self.first is not None:
            message = replace(message, TracingQueueIdentifier=self.first.TracingQueueIdentifier)
        super().trace_sent_message(session, message, now)


def _send_report_with_copied_delivery(
    original: Callable[..., None], qm: QM, session: Session, message: Message, now: Now
) -> Any:
    def send_report(qm: QM, report: Message, now: Now) -> None:
        original(qm, replace(report, DeliveryGuarantee=message.DeliveryGuarantee), now)

    return send_report


add(
    "sender-report-of-recoverable-message-recoverable",
    "MQQB-3.1.7.1.7-03",
    "The sender sends the report on a recoverable message as a recoverable message.",
    replace_method_during(MessageTracing.trace_sent_message, OwnMessageSending.send, _send_report_with_copied_delivery),
    blind=True,
)


def _keep_16_bits_of_ordinal(message: Message) -> Message:
    identifier = message.Identifier
    return replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))


@fault("sender-report-label-message-id-of-16-bits", breaks="MQQB-3.1.7.1.7-04", blind=True)
class SenderReportLabelMessageIdOf16Bits(MessageTracing):
    """The sender puts only the lower 16 bits of the MessageID of a sent message into the label of the
    report on this message.
    """

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        super().trace_sent_message(session, _keep_16_bits_of_ordinal(message), now)
