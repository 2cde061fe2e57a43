"""Faults of MS-MQMQ 2.2.20.4 SessionHeader that show only for some messages, sessions and positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

LARGE_BODY = 4096
FIRST_ACK_CLASS = 2


def _is_large(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass >= FIRST_ACK_CLASS


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None


def _is_express(packet: UserMessagePacket) -> bool:
    return not packet.UserHeader.DM


def _received_uncounted(is_omitted: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver omit messages from its count of received messages."""

    class Uncounted(Receiving):
        def count_received(self, session: Session, packet: UserMessagePacket) -> None:
            super().count_received(session, packet)
            if is_omitted(packet):
                session.MessageReceivedCount = session.MessageReceivedCount - 1 & 0xFFFF

    return replace_part(Uncounted)


def _received_recoverable_changed(by: int, is_counted: Callable[[UserMessagePacket], bool]) -> Install:
    class Counted(Receiving):
        def count_received(self, session: Session, packet: UserMessagePacket) -> None:
            super().count_received(session, packet)
            if is_counted(packet):
                session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount + by & 0xFFFF

    return replace_part(Counted)


def _sent_uncounted(is_omitted: Callable[[UserMessagePacket], bool], *, recoverable: bool = False) -> Install:
    """Let the sender omit sent messages from its count of messages, or of recoverable messages."""

    class Uncounted(Sending):
        def update_user_message(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_user_message(session, position, now)
            if is_omitted(packet) and not recoverable:
                session.MessageSentCount = session.MessageSentCount - 1 & 0xFFFF
            elif is_omitted(packet) and position.recoverable:
                session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
            return packet

    return replace_part(Uncounted)


for _name, _rules, _says, _install in (
    (
        "receiver-acknowledgments-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received acknowledgments of other queue managers.",
        _received_uncounted(_is_acknowledgment),
    ),
    (
        "receiver-messages-above-4-kib-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received messages with a body of more than 4 KiB.",
        _received_uncounted(_is_large),
    ),
    (
        "receiver-traced-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received messages with a DebugHeader.",
        _received_uncounted(lambda packet: packet.DebugHeader is not None),
    ),
    (
        "receiver-transactional-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-05"),
        "A queue manager does not count received transactional messages.",
        _received_uncounted(_is_transactional),
    ),
    (
        "sender-acknowledgments-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count the acknowledgments that it sends.",
        _sent_uncounted(_is_acknowledgment),
    ),
    (
        "sender-transactional-messages-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count the transactional messages that it sends.",
        _sent_uncounted(_is_transactional),
    ),
    (
        "sender-messages-above-4-kib-not-counted",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-09"),
        "A queue manager does not count sent messages with a body of more than 4 KiB.",
        _sent_uncounted(_is_large),
    ),
    (
        "sender-transactional-messages-not-counted-as-recoverable",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        "A queue manager does not count sent transactional messages as recoverable.",
        _sent_uncounted(_is_transactional, recoverable=True),
    ),
    (
        "sender-large-messages-not-counted-as-recoverable",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"),
        "A queue manager does not count sent recoverable messages with a body of more than 4 KiB as recoverable.",
        _sent_uncounted(_is_large, recoverable=True),
    ),
    (
        "receiver-transactional-messages-not-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager does not count received transactional messages as recoverable.",
        _received_recoverable_changed(-1, _is_transactional),
    ),
    (
        "receiver-large-express-messages-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager counts received express messages with a body of more than 4 KiB as recoverable.",
        _received_recoverable_changed(1, lambda packet: _is_express(packet) and _is_large(packet)),
    ),
    (
        "receiver-express-acknowledgments-counted-as-recoverable",
        "MQMQ-2.2.20.4-04",
        "A queue manager counts received express acknowledgments as recoverable.",
        _received_recoverable_changed(1, lambda packet: _is_express(packet) and _is_acknowledgment(packet)),
    ),
    (
        "sender-session-ack-window-size-0x20",
        "MQMQ-2.2.20.4-12",
        "WindowSize is 0x20 in a SessionAck.",
        field_is(SessionAckPacket, "SessionHeader.WindowSize", 0x20),
    ),
    (
        "sender-session-ack-user-msg-sequence-number-0",
        "MQMQ-2.2.20.4-09",
        "UserMsgSequenceNumber is 0 in a SessionAck.",
        field_is(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 0),
    ),
    (
        "sender-session-ack-recoverable-msg-seq-number-0",
        "MQMQ-2.2.20.4-10",
        "RecoverableMsgSeqNumber is 0 in a SessionAck.",
        field_is(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 0),
    ),
):
    add(_name, _rules, _says, _install)


@fault("initiator-message-count-kept-for-next-session", breaks=("MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-03"))
class InitiatorMessageCountKeptForNextSession(SessionInitialization):
    """The initiator continues the sequence numbers of the messages that it sends on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.MessageSentCount
        super().initialize_counts(session)
        session.MessageSentCount = count


@fault("initiator-recoverable-count-kept-for-next-session", breaks=("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-11"))
class InitiatorRecoverableCountKeptForNextSession(SessionInitialization):
    """The initiator continues the count of the recoverable messages that it sends on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.RecoverableMessageSentCount
        super().initialize_counts(session)
        session.RecoverableMessageSentCount = count


@fault("initiator-received-count-kept-for-next-session", breaks=("MQMQ-2.2.20.4-03", "MQMQ-2.2.20.4-05"))
class InitiatorReceivedCountKeptForNextSession(SessionInitialization):
    """The initiator continues the count of the messages that it receives on its next session."""

    def initialize_counts(self, session: Session) -> None:
        count = session.MessageReceivedCount
        super().initialize_counts(session)
        session.MessageReceivedCount = count


class Header(SessionAcks):
    """The queue manager changes each SessionHeader that it sends."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        """Return the header that the queue manager sends."""
        return header

    def build_header(self, session: Session) -> SessionHeader:
        return self.change(session, super().build_header(session))


@fault("receiver-ack-sequence-number-of-busiest-session", breaks="MQMQ-2.2.20.4-05")
class ReceiverAckSequenceNumberOfBusiestSession(Header):
    """AckSequenceNumber is the highest number of messages that the receiver received on any of its open sessions."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        most = max((one.MessageReceivedCount for one in self.qm.sessions.values()), default=0)
        return replace(header, AckSequenceNumber=max(most, header.AckSequenceNumber))


@fault("receiver-ack-sequence-number-only-recoverable-while-flags-set", breaks="MQMQ-2.2.20.4-05")
class ReceiverAckSequenceNumberOnlyRecoverableWhileFlagsSet(Header):
    """AckSequenceNumber is the number of received recoverable messages if the header acknowledges recoverable
    messages.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if not header.RecoverableMsgAckFlags:
            return header
        return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)


@fault("receiver-recoverable-ack-number-counts-all-messages", breaks=("MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-04"))
class ReceiverRecoverableAckNumberCountsAllMessages(Header):
    """RecoverableMsgAckSeqNumber is the number of the message among all messages of the session."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if not header.RecoverableMsgAckFlags:
            return header
        express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        return replace(header, RecoverableMsgAckSeqNumber=header.RecoverableMsgAckSeqNumber + express & 0xFFFF)


@fault("receiver-recoverable-ack-number-1-before-recoverable-messages", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumber1BeforeRecoverableMessages(Header):
    """RecoverableMsgAckSeqNumber is 1 while the session has received no recoverable message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=1)


@fault("receiver-recoverable-ack-number-without-flags-next-number", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumberWithoutFlagsNextNumber(Header):
    """RecoverableMsgAckSeqNumber is the number of the next recoverable message if the receiver has acknowledged all
    recoverable messages of the session.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if header.RecoverableMsgAckFlags or not session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=session.RecoverableMessageReceivedCount + 1)


@fault("receiver-recoverable-flags-only-first-and-last", breaks="MQMQ-2.2.20.4-08")
class ReceiverRecoverableFlagsOnlyFirstAndLast(Header):
    """RecoverableMsgAckFlags has only the bits of the first and of the last saved message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        flags = header.RecoverableMsgAckFlags
        last = 1 << flags.bit_length() >> 1
        return replace(header, RecoverableMsgAckFlags=flags & (last | 1))


def _not_flagged(is_omitted: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver save messages whose flags it never sets."""

    class Unflagged(Receiving):
        def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            before = list(session.receipts)
            super().receive_user_message(session, packet, now)
            if is_omitted(packet):
                for receipt in session.receipts:
                    if not any(receipt is one for one in before):
                        receipt.acknowledge = False

    return replace_part(Unflagged)


for _name, _says, _is_omitted in (
    ("transactional", "transactional message", _is_transactional),
    ("large", "message with a body of more than 4 KiB", _is_large),
    ("acknowledgment", "acknowledgment of another queue manager", _is_acknowledgment),
    ("labelled", "message with a label", lambda packet: bool(packet.MessagePropertiesHeader.Label)),
    ("traced", "message with a DebugHeader", lambda packet: packet.DebugHeader is not None),
):
    add(
        f"receiver-recoverable-flag-of-{_name}-message-clear",
        "MQMQ-2.2.20.4-08",
        f"The receiver does not set the flag of a saved {_says} in RecoverableMsgAckFlags.",
        _not_flagged(_is_omitted),
    )


@fault("receiver-user-message-header-flags-0", breaks="MQMQ-2.2.20.4-08")
class ReceiverUserMessageHeaderFlags0(Sending):
    """The receiver sends RecoverableMsgAckFlags 1 in a UserMessage, also if it has saved several messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        header = packet.SessionHeader
        if header is None:
            return packet
        return replace(packet, SessionHeader=replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1))


@fault("receiver-user-message-header-ack-sequence-number-one-low", breaks="MQMQ-2.2.20.4-05")
class ReceiverUserMessageHeaderAckSequenceNumberOneLow(Sending):
    """AckSequenceNumber in a UserMessage is one less than the number of received messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        header = packet.SessionHeader
        if header is None:
            return packet
        return replace(packet, SessionHeader=replace(header, AckSequenceNumber=header.AckSequenceNumber - 1 & 0xFFFF))


@fault("sender-recoverable-msg-seq-number-before-recoverable-counts-express", breaks="MQMQ-2.2.20.4-11")
class SenderRecoverableMsgSeqNumberBeforeRecoverableCountsExpress(Header):
    """RecoverableMsgSeqNumber is the number of sent messages while the sender has sent no recoverable message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if session.RecoverableMessageSentCount:
            return header
        return replace(header, RecoverableMsgSeqNumber=session.MessageSentCount)


@fault("sender-reads-flags-from-bit-1", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsFlagsFromBit1(SessionAcks):
    """The sender reads bit k of RecoverableMsgAckFlags as the message with the number RecoverableMsgAckSeqNumber + k +
    1.
    """

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags << 1 & 0xFFFFFFFF
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("sender-reads-all-flags-up-to-highest", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsAllFlagsUpToHighest(SessionAcks):
    """The sender deletes every recoverable message up to the highest bit of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = (1 << header.RecoverableMsgAckFlags.bit_length()) - 1
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("sender-reads-flags-relative-to-1", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsFlagsRelativeTo1(SessionAcks):
    """The sender reads bit k of RecoverableMsgAckFlags as the message with the number 1 + k."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        if header.RecoverableMsgAckFlags:
            header = replace(header, RecoverableMsgAckSeqNumber=1)
        super().delete_acknowledged_recoverable(session, header)


def _header_ignored(is_ignored: Callable[[SessionHeader], bool]) -> Install:
    class Ignored(SessionAcks):
        def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
            if not is_ignored(header):
                super().process_header(session, header, now)

    return replace_part(Ignored)


add(
    "receiver-session-header-reserved-odd-ignored",
    "MQMQ-2.2.20.4-13",
    "A queue manager ignores a SessionHeader whose Reserved is odd.",
    _header_ignored(lambda header: bool(header.Reserved & 1)),
)
add(
    "receiver-session-header-reserved-all-ones-ignored",
    "MQMQ-2.2.20.4-13",
    "A queue manager ignores a SessionHeader whose Reserved is 0xFFFF.",
    _header_ignored(lambda header: header.Reserved == 0xFFFF),
)


@fault("receiver-reserved-of-session-header-added-to-window", breaks="MQMQ-2.2.20.4-13")
class ReceiverReservedOfSessionHeaderAddedToWindow(SessionAcks):
    """A queue manager subtracts Reserved of a SessionHeader from UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = header.UserMsgSequenceNumber - header.Reserved & 0xFFFF
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)


def _wrong_count(is_dropped: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver drop messages whose UserMsgSequenceNumber is wrong."""

    class Dropping(Receiving):
        def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            header = packet.SessionHeader
            if (
                header is not None
                and is_dropped(packet)
                and header.UserMsgSequenceNumber != session.MessageReceivedCount + 1 & 0xFFFF
            ):
                self.qm.closing.close(session, "a fault", now)
            else:
                super().receive_user_message(session, packet, now)

    return replace_part(Dropping)


add(
    "receiver-express-message-with-wrong-count-dropped",
    "MQMQ-2.2.20.4-D03",
    "The receiver drops an express message whose UserMsgSequenceNumber is wrong, and closes the session.",
    _wrong_count(_is_express),
)
add(
    "receiver-transactional-message-with-wrong-count-dropped",
    "MQMQ-2.2.20.4-D03",
    "The receiver drops a transactional message whose UserMsgSequenceNumber is wrong, and closes the session.",
    _wrong_count(_is_transactional),
)


@fault("receiver-wrong-count-of-later-message-tolerated", breaks="MQMQ-2.2.20.4-D03")
class ReceiverWrongCountOfLaterMessageTolerated(SessionAcks):
    """The receiver does not close the session when UserMsgSequenceNumber of the second or a later message is wrong."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if session.MessageReceivedCount > 1:
            header = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, header, now)


@fault("receiver-user-msg-sequence-number-low-byte-checked", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMsgSequenceNumberLowByteChecked(SessionAcks):
    """The receiver compares only the low byte of UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = session.MessageReceivedCount & 0xFF00 | header.UserMsgSequenceNumber & 0xFF
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)
