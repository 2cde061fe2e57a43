"""Faults that break the rules MQMQ-2.2.20.4-07 to MQMQ-2.2.20.4-D02."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_4_session_header.fault_steps import SentSessionHeaderChanger, is_acknowledgment
from suites.mqmq.steps.kinds_of_messages import has_large_body, is_transactional


@fault("receiver-recoverable-ack-number-repeated", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumberRepeated(SessionAcks):
    """The receiver repeats RecoverableMsgAckSeqNumber of its previous acknowledgment if no recoverable message has
    arrived since then.
    """

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        last = getattr(self, "last", {})
        self.last = last
        if header.RecoverableMsgAckSeqNumber:
            last[session.number] = header.RecoverableMsgAckSeqNumber
            return header
        return replace(header, RecoverableMsgAckSeqNumber=last.get(session.number, 0))


@fault("receiver-recoverable-ack-number-1-before-any-recoverable-message", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumber1BeforeAnyRecoverableMessage(SentSessionHeaderChanger):
    """RecoverableMsgAckSeqNumber is 1 while the session has received no recoverable message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=1)


@fault("receiver-recoverable-ack-number-with-zero-flags-is-next-number", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumberWithZeroFlagsIsNextNumber(SentSessionHeaderChanger):
    """RecoverableMsgAckSeqNumber is the number of the next recoverable message if the receiver has acknowledged all
    recoverable messages of the session.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if header.RecoverableMsgAckFlags or not session.RecoverableMessageReceivedCount:
            return header
        return replace(header, RecoverableMsgAckSeqNumber=session.RecoverableMessageReceivedCount + 1)


@fault("receiver-never-sets-bit-31-of-recoverable-ack-flags", breaks="MQMQ-2.2.20.4-08", blind=True)
class ReceiverNeverSetsBit31OfRecoverableAckFlags(SessionAcks):
    """The receiver never sets bit 31 of RecoverableMsgAckFlags, even if the corresponding message is on disk."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0x7FFFFFFF)


@fault("receiver-recoverable-ack-flags-cut-to-16-bits", breaks=("MQMQ-2.2.20.4-08", "MQQB-3.1.6.4-08"))
class ReceiverRecoverableAckFlagsCutTo16Bits(SessionAcks):
    """The receiver acknowledges at most 16 recoverable messages in RecoverableMsgAckFlags."""

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)


@fault("receiver-recoverable-ack-flags-show-only-first-and-last-message", breaks="MQMQ-2.2.20.4-08")
class ReceiverRecoverableAckFlagsShowOnlyFirstAndLastMessage(SentSessionHeaderChanger):
    """RecoverableMsgAckFlags has only the bits of the first and of the last saved message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        flags = header.RecoverableMsgAckFlags
        last = 1 << flags.bit_length() >> 1
        return replace(header, RecoverableMsgAckFlags=flags & (last | 1))


def _omit_recoverable_ack_flags_of_messages(is_omitted: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver save messages whose flags it never sets."""

    class RecoverableFlagOmitter(MessageReceiving):
        def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            before = list(session.unacknowledged_receipts)
            super().receive_user_message(session, packet, now)
            if is_omitted(packet):
                for receipt in session.unacknowledged_receipts:
                    if not any(receipt is one for one in before):
                        receipt.must_be_acknowledged = False

    return replace_part(RecoverableFlagOmitter)


for _name, _says, _is_omitted in (
    ("transactional", "transactional message", is_transactional),
    ("large", "message with a body of more than 4 KiB", has_large_body),
    ("acknowledgment", "acknowledgment of another queue manager", is_acknowledgment),
    ("labelled", "message with a label", lambda packet: bool(packet.MessagePropertiesHeader.Label)),
    ("traced", "message with a DebugHeader", lambda packet: packet.DebugHeader is not None),
):
    add(
        f"receiver-recoverable-flag-of-{_name}-message-clear",
        "MQMQ-2.2.20.4-08",
        f"The receiver does not set the flag of a saved {_says} in RecoverableMsgAckFlags.",
        _omit_recoverable_ack_flags_of_messages(_is_omitted),
    )


@fault("receiver-sends-recoverable-msg-ack-flags-1-in-user-message", breaks="MQMQ-2.2.20.4-08")
class ReceiverSendsRecoverableMsgAckFlags1InUserMessage(MessageSending):
    """The receiver sends RecoverableMsgAckFlags 1 in a UserMessage, even if it has saved several messages."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        header = packet.SessionHeader
        if header is None:
            return packet
        return replace(packet, SessionHeader=replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1))


class UserMessageSessionHeaderChanger(MessageSending):
    """Change the SessionHeader of each UserMessage that the sender sends; a subclass defines the change."""

    def change(self, header: SessionHeader) -> SessionHeader:
        """Return the header that the sender sends."""
        return header

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=self.change(packet.SessionHeader))


@fault(
    "sender-omits-message-itself-from-user-msg-sequence-number",
    breaks=(
        "MQMQ-2.2.20.4-09",
        "MQQB-3.1.1.4-01",
        "MQQB-3.1.3.2-02",
        "MQQB-3.1.7.1.3-11",
        "MQQB-3.1.7.1.3-15",
        "MQQB-3.1.7.1.3-18",
    ),
)
class SenderOmitsMessageItselfFromUserMsgSequenceNumber(UserMessageSessionHeaderChanger):
    """The sender does not count a UserMessage in the UserMsgSequenceNumber of this message."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, UserMsgSequenceNumber=header.UserMsgSequenceNumber - 1)


@fault("sender-recoverable-sequence-number-skips-final-acks", breaks="MQMQ-2.2.20.4-10", blind=True)
class SenderRecoverableSequenceNumberSkipsFinalAcks(MessageSending):
    """The sender does not count its FinalAcks, which are recoverable messages, in RecoverableMsgSeqNumber."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if is_final_ack(packet):
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
        return packet


@fault("sender-sends-recoverable-msg-seq-number-0-in-user-message", breaks=("MQMQ-2.2.20.4-10",))
class SenderSendsRecoverableMsgSeqNumber0InUserMessage(UserMessageSessionHeaderChanger):
    """The sender sets RecoverableMsgSeqNumber to 0 in the SessionHeader of a UserMessage."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgSeqNumber=0)


@fault("sender-recoverable-number-counts-express-before-first-recoverable", breaks="MQMQ-2.2.20.4-11")
class SenderRecoverableNumberCountsExpressBeforeFirstRecoverable(SentSessionHeaderChanger):
    """RecoverableMsgSeqNumber is the number of sent messages while the sender has sent no recoverable message."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        if session.RecoverableMessageSentCount:
            return header
        return replace(header, RecoverableMsgSeqNumber=session.MessageSentCount)


@fault(
    "sender-sends-window-size-0x20-in-user-message",
    breaks=("MQMQ-2.2.20.4-12", "MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
)
class SenderSendsWindowSize0x20InUserMessage(UserMessageSessionHeaderChanger):
    """The sender sets WindowSize to 0x20 in the SessionHeader of a UserMessage."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, WindowSize=0x20)


@fault("receiver-user-message-session-header-with-reserved-not-processed", breaks="MQMQ-2.2.20.4-13", blind=True)
class ReceiverUserMessageSessionHeaderWithReservedNotProcessed(MessageReceiving):
    """The receiver ignores the acknowledgment in a UserMessage when Reserved of its SessionHeader is not zero."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None and packet.SessionHeader.Reserved:
            flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
            packet = replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=None)
        super().receive_user_message(session, packet, now)


@fault("receiver-ignores-session-header-of-user-message-with-reserved", breaks="MQMQ-2.2.20.4-13")
class ReceiverIgnoresSessionHeaderOfUserMessageWithReserved(MessageReceiving):
    """The receiver ignores the SessionHeader of a UserMessage when Reserved of this header is not 0."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None and header.Reserved:
            packet = replace(
                packet,
                BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~0x10),
                SessionHeader=None,
            )
        super().receive_user_message(session, packet, now)


@fault("receiver-session-ack-reserved-above-0x7fff-ignored", breaks="MQMQ-2.2.20.4-13")
class ReceiverSessionAckReservedAbove0x7fffIgnored(SessionAcks):
    """A queue manager ignores a SessionAck whose Reserved is greater than 0x7FFF."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if packet.SessionHeader.Reserved <= 0x7FFF:
            super().receive(session, packet, now)


def _ignore_session_headers(is_ignored: Callable[[SessionHeader], bool]) -> Install:
    class SessionHeaderIgnorer(SessionAcks):
        def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
            if not is_ignored(header):
                super().process_session_header(session, header, now)

    return replace_part(SessionHeaderIgnorer)


add(
    "receiver-session-header-reserved-odd-ignored",
    "MQMQ-2.2.20.4-13",
    "A queue manager ignores a SessionHeader whose Reserved is odd.",
    _ignore_session_headers(lambda header: bool(header.Reserved & 1)),
)


add(
    "receiver-session-header-reserved-all-ones-ignored",
    "MQMQ-2.2.20.4-13",
    "A queue manager ignores a SessionHeader whose Reserved is 0xFFFF.",
    _ignore_session_headers(lambda header: header.Reserved == 0xFFFF),
)


@fault("queue-manager-subtracts-session-reserved-from-sequence-number", breaks="MQMQ-2.2.20.4-13")
class QueueManagerSubtractsSessionReservedFromSequenceNumber(SessionAcks):
    """A queue manager subtracts Reserved of a SessionHeader from UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = header.UserMsgSequenceNumber - header.Reserved & 0xFFFF
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)


@fault("sender-recoverable-ack-flags-above-bit-15-not-read", breaks="MQMQ-2.2.20.4-D02")
class SenderRecoverableAckFlagsAboveBit15NotRead(SessionAcks):
    """The sender does not delete the recoverable messages that bits 16 to 31 of RecoverableMsgAckFlags acknowledge."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0xFFFF
        super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("sender-reads-recoverable-ack-flags-one-message-too-high", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsRecoverableAckFlagsOneMessageTooHigh(SessionAcks):
    """The sender reads bit k of RecoverableMsgAckFlags as the message with the number RecoverableMsgAckSeqNumber + k +
    1.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags << 1 & 0xFFFFFFFF
        super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("sender-reads-recoverable-ack-flags-below-highest-bit-as-set", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsRecoverableAckFlagsBelowHighestBitAsSet(SessionAcks):
    """The sender deletes every recoverable message up to the highest bit of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        flags = (1 << header.RecoverableMsgAckFlags.bit_length()) - 1
        super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("sender-reads-recoverable-ack-flags-relative-to-message-1", breaks="MQMQ-2.2.20.4-D02")
class SenderReadsRecoverableAckFlagsRelativeToMessage1(SessionAcks):
    """The sender reads bit k of RecoverableMsgAckFlags as the message with the number 1 + k."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if header.RecoverableMsgAckFlags:
            header = replace(header, RecoverableMsgAckSeqNumber=1)
        super().delete_acknowledged_recoverable_messages(session, header)
