"""Faults that break the rules MQMQ-2.2.20.4-01 to MQMQ-2.2.20.4-06."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import (
    add_to_field,
    change_number_in_field,
    refuse_packets_unless_field_is_zero,
    set_field_value,
)
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_4_session_header.fault_steps import SentSessionHeaderChanger, is_acknowledgment
from suites.mqmq.steps.kinds_of_messages import has_large_body, is_express, is_transactional

_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "receiver-ack-sequence-number-one-too-low",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-05"),
        "The receiver's SessionAck carries an AckSequenceNumber that is one too low.",
        add_to_field(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-ack-sequence-number-counted-from-zero",
        ("MQMQ-2.2.20.4-03",),
        "The receiver's SessionAck carries an AckSequenceNumber that counts the first message as 0.",
        add_to_field(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-recoverable-ack-number-one-too-high",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-07"),
        "The receiver's SessionAck carries a RecoverableMsgAckSeqNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "receiver-recoverable-ack-flags-one-bit-too-low",
        ("MQMQ-2.2.20.4-08",),
        "The receiver writes the bits of RecoverableMsgAckFlags in its SessionAck one bit too low.",
        change_number_in_field(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", lambda flags: flags >> 1),
    ),
    (
        "user-msg-sequence-number-one-too-high",
        ("MQMQ-2.2.20.4-09", "MQMQ-2.2.20.4-01", "MQQB-3.1.6.4-06"),
        "The queue manager's SessionAck carries a UserMsgSequenceNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "recoverable-msg-seq-number-one-too-high",
        ("MQMQ-2.2.20.4-10", "MQMQ-2.2.20.4-11"),
        "The queue manager's SessionAck carries a RecoverableMsgSeqNumber that is one too high.",
        add_to_field(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "session-ack-window-size-1",
        ("MQMQ-2.2.20.4-12",),
        "The queue manager's SessionAck carries WindowSize 1.",
        set_field_value(SessionAckPacket, "SessionHeader.WindowSize", 1),
    ),
    (
        "receiver-session-header-reserved-refused",
        ("MQMQ-2.2.20.4-13",),
        "The queue manager refuses a SessionAck whose SessionHeader.Reserved is not zero.",
        refuse_packets_unless_field_is_zero(SessionAckPacket, "SessionHeader.Reserved"),
    ),
    (
        "session-ack-recoverable-flags-before-number",
        ("MQMQ-2.2.20.4-D01",),
        "The queue manager's SessionAck has RecoverableMsgAckFlags before RecoverableMsgAckSeqNumber.",
        change_packets_of_kind(
            SessionAckPacket, lambda packet: (data := packet.build())[:22] + data[24:28] + data[22:24] + data[28:]
        ),
    ),
    (
        "receiver-recoverable-ack-flags-reversed",
        ("MQMQ-2.2.20.4-D02",),
        "The receiver's SessionAck acknowledges the first message in the highest bit of RecoverableMsgAckFlags.",
        change_number_in_field(
            SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", lambda flags: int(f"{flags:032b}"[::-1], 2)
        ),
    ),
    (
        "receiver-recoverable-ack-number-1-without-messages",
        ("MQMQ-2.2.20.4-07",),
        "The receiver's SessionAck that acknowledges no recoverable message carries RecoverableMsgAckSeqNumber 1.",
        change_number_in_field(
            SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", lambda number: number or 1
        ),
    ),
):
    add(_name, _broken_rules, _says, _install)


@fault("receiver-counts-messages-of-next-session-from-2", breaks=("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-03"))
class ReceiverCountsMessagesOfNextSessionFrom2(SessionAcks):
    """On each session with a peer except the first, the receiver sends an AckSequenceNumber that is one too high."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        first = getattr(self, "first", {})
        self.first = first
        number = first.setdefault(session.RemoteQMGuid, id(session))
        return header if number == id(session) else replace(header, AckSequenceNumber=header.AckSequenceNumber + 1)


def _omit_messages_from_received_count(is_omitted: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver omit messages from its count of received messages."""

    class MessageCountOmitter(MessageReceiving):
        def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
            super().count_message_received_on_session(session, packet)
            if is_omitted(packet):
                session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF

    return replace_part(MessageCountOmitter)


def _change_received_recoverable_count(by: int, is_counted: Callable[[UserMessagePacket], bool]) -> Install:
    class RecoverableCountChanger(MessageReceiving):
        def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
            super().count_message_received_on_session(session, packet)
            if is_counted(packet):
                session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount + by & 0xFFFF

    return replace_part(RecoverableCountChanger)


def _omit_messages_from_sent_count(
    is_omitted: Callable[[UserMessagePacket], bool], *, recoverable: bool = False
) -> Install:
    """Make the sender leave sent messages out of its count of messages, or out of its count of recoverable
    messages.
    """

    class MessageCountOmitter(MessageSending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            if is_omitted(packet) and not recoverable:
                session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
            elif is_omitted(packet) and position.recoverable:
                session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
            return packet

    return replace_part(MessageCountOmitter)


for _name, _broken_rules, _says, _install in (
    (
        "receiver-acknowledgments-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received acknowledgments of other queue managers.",
        _omit_messages_from_received_count(is_acknowledgment),
    ),
    (
        "receiver-messages-above-4-kib-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received messages with a body of more than 4 KiB.",
        _omit_messages_from_received_count(has_large_body),
    ),
    (
        "receiver-traced-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received messages with a DebugHeader.",
        _omit_messages_from_received_count(lambda packet: packet.DebugHeader is not None),
    ),
    (
        "receiver-transactional-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received transactional messages.",
        _omit_messages_from_received_count(is_transactional),
    ),
    (
        "sender-acknowledgments-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count the acknowledgments that it sends.",
        _omit_messages_from_sent_count(is_acknowledgment),
    ),
    (
        "sender-transactional-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count the transactional messages that it sends.",
        _omit_messages_from_sent_count(is_transactional),
    ),
    (
        "sender-messages-above-4-kib-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count sent messages with a body of more than 4 KiB.",
        _omit_messages_from_sent_count(has_large_body),
    ),
    (
        "sender-transactional-messages-not-counted-as-recoverable",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        "A queue manager does not count sent transactional messages as recoverable.",
        _omit_messages_from_sent_count(is_transactional, recoverable=True),
    ),
    (
        "sender-large-messages-not-counted-as-recoverable",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        "A queue manager does not count sent recoverable messages with a body of more than 4 KiB as recoverable.",
        _omit_messages_from_sent_count(has_large_body, recoverable=True),
    ),
    (
        "receiver-transactional-messages-not-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager does not count received transactional messages as recoverable.",
        _change_received_recoverable_count(-1, is_transactional),
    ),
    (
        "receiver-large-express-messages-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager counts received express messages with a body of more than 4 KiB as recoverable.",
        _change_received_recoverable_count(1, lambda packet: is_express(packet) and has_large_body(packet)),
    ),
    (
        "receiver-express-acknowledgments-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager counts received express acknowledgments as recoverable.",
        _change_received_recoverable_count(1, lambda packet: is_express(packet) and is_acknowledgment(packet)),
    ),
    (
        "sender-session-ack-window-size-0x20",
        ("MQMQ-2.2.20.4-12", "MQQB-3.1.6.4-09"),
        "WindowSize is 0x20 in a SessionAck.",
        set_field_value(SessionAckPacket, "SessionHeader.WindowSize", 0x20),
    ),
    (
        "sender-session-ack-user-msg-sequence-number-0",
        ("MQMQ-2.2.20.4-09", "MQQB-3.1.1.4-01", "MQQB-3.1.6.4-06", "MQQB-3.1.7.1.3-11"),
        "UserMsgSequenceNumber is 0 in a SessionAck.",
        set_field_value(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 0),
    ),
    (
        "sender-session-ack-recoverable-msg-seq-number-0",
        "MQMQ-2.2.20.4-10",
        "RecoverableMsgSeqNumber is 0 in a SessionAck.",
        set_field_value(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 0),
    ),
):
    add(_name, _broken_rules, _says, _install)


HIGHEST_U32 = 0xFFFF_FFFF


def _transmit_without_counting(original: Any) -> Any:
    def transmit_and_undo_count(
        qm: QM, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
    ) -> None:
        original(qm, session, position, packet)
        if packet.DebugHeader is not None and packet.MessagePropertiesHeader.ApplicationTag == HIGHEST_U32:
            session.MessageSentCount -= 1

    return transmit_and_undo_count


add(
    "sender-traced-message-with-highest-application-tag-not-counted",
    "MQMQ-2.2.20.4-01",
    "The sender does not count a traced message whose ApplicationTag is 0xFFFFFFFF.",
    replace_part(override_method(MessageSending.transmit, _transmit_without_counting)),
)


@fault("initiator-continues-sent-message-count-on-next-session", breaks=("MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-03"))
class InitiatorContinuesSentMessageCountOnNextSession(SessionInitialization):
    """The initiator continues the sequence numbers of the messages that it sends on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.MessageSentCount
        super().initialize_counts(session)
        session.MessageSentCount = count


@fault("initiator-continues-received-message-count-on-next-session", breaks=("MQMQ-2.2.20.4-03", "MQMQ-2.2.20.4-05"))
class InitiatorContinuesReceivedMessageCountOnNextSession(SessionInitialization):
    """The initiator continues the count of the messages that it receives on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.MessageReceivedCount
        super().initialize_counts(session)
        session.MessageReceivedCount = count


@fault("sender-recoverable-count-includes-express-messages", breaks=("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"))
class SenderRecoverableCountIncludesExpressMessages(SessionAcks):
    """The sender sets RecoverableMsgSeqNumber to the number of all messages that it sent on the session."""

    def build_session_header(self, session: Session) -> SessionHeader:
        return replace(super().build_session_header(session), RecoverableMsgSeqNumber=session.MessageSentCount)


@fault("initiator-continues-recoverable-sent-count-on-next-session", breaks=("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-11"))
class InitiatorContinuesRecoverableSentCountOnNextSession(SessionInitialization):
    """The initiator continues the count of the recoverable messages that it sends on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.RecoverableMessageSentCount
        super().initialize_counts(session)
        session.RecoverableMessageSentCount = count


@fault("receiver-recoverable-ack-number-counts-all-messages", breaks=("MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-04"))
class ReceiverRecoverableAckNumberCountsAllMessages(SentSessionHeaderChanger):
    """RecoverableMsgAckSeqNumber is the number of the message among all messages of the session."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if not header.RecoverableMsgAckFlags:
            return header
        express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        return replace(header, RecoverableMsgAckSeqNumber=header.RecoverableMsgAckSeqNumber + express & 0xFFFF)


@fault("receiver-sends-only-low-byte-of-ack-sequence-number", breaks="MQMQ-2.2.20.4-05", blind=True)
class ReceiverSendsOnlyLowByteOfAckSequenceNumber(SessionAcks):
    """The receiver's SessionAck carries only the low byte of AckSequenceNumber."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF)


@fault("receiver-ack-sequence-number-is-highest-of-all-sessions", breaks="MQMQ-2.2.20.4-05")
class ReceiverAckSequenceNumberIsHighestOfAllSessions(SentSessionHeaderChanger):
    """AckSequenceNumber is the highest number of messages that the receiver received on any of its open sessions."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        most = max((one.MessageReceivedCount for one in self.qm.sessions.values()), default=0)
        return replace(header, AckSequenceNumber=max(most, header.AckSequenceNumber))


@fault("receiver-ack-sequence-number-skips-express-with-recoverable-flags", breaks="MQMQ-2.2.20.4-05")
class ReceiverAckSequenceNumberSkipsExpressWithRecoverableFlags(SentSessionHeaderChanger):
    """AckSequenceNumber is the number of received recoverable messages if the header acknowledges recoverable
    messages.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if not header.RecoverableMsgAckFlags:
            return header
        return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)


@fault("receiver-ack-sequence-number-in-user-message-one-too-low", breaks="MQMQ-2.2.20.4-05")
class ReceiverAckSequenceNumberInUserMessageOneTooLow(MessageSending):
    """AckSequenceNumber in a UserMessage is one less than the number of received messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        header = packet.SessionHeader
        if header is None:
            return packet
        return replace(packet, SessionHeader=replace(header, AckSequenceNumber=header.AckSequenceNumber - 1 & 0xFFFF))


@fault("receiver-sends-recoverable-ack-number-one-too-low-in-user-message", breaks="MQMQ-2.2.20.4-06")
class ReceiverSendsRecoverableAckNumberOneTooLowInUserMessage(SessionAcks):
    """In a UserMessage, the receiver sends a RecoverableMsgAckSeqNumber that is one too low, and flags of
    RecoverableMsgAckFlags that begin at bit 1.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        flags = header.RecoverableMsgAckFlags
        if header.RecoverableMsgAckSeqNumber < 2 or flags >> 31:
            return header
        return replace(
            header,
            RecoverableMsgAckSeqNumber=header.RecoverableMsgAckSeqNumber - 1,
            RecoverableMsgAckFlags=flags << 1,
        )


_HALF_OF_COUNT_RANGE = 0x8000


@fault("initiator-continues-recoverable-count-after-reconnect", breaks="MQMQ-2.2.20.4-11", blind=True)
class InitiatorContinuesRecoverableCountAfterReconnect(SessionInitialization):
    """When the initiator connects again, it continues the count of recoverable messages of the previous session."""

    def initialize_counts(self, session: Session) -> None:
        sent = session.RecoverableMessageSentCount
        super().initialize_counts(session)
        session.RecoverableMessageSentCount = sent


@fault("receiver-session-kept-after-repeated-sequence-number", breaks="MQMQ-2.2.20.4-D03", blind=True)
class ReceiverSessionKeptAfterRepeatedSequenceNumber(MessageReceiving):
    """The receiver does not close the session if the UserMsgSequenceNumber of a message is lower than the count of
    messages that it received.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        received = session.MessageReceivedCount + 1 & 0xFFFF
        header = packet.SessionHeader
        if header is not None and 0 < (received - header.UserMsgSequenceNumber & 0xFFFF) < _HALF_OF_COUNT_RANGE:
            packet = set_fields(packet, {"SessionHeader.UserMsgSequenceNumber": received})
        super().receive_user_message(session, packet, now)
