"""Faults of MS-MQMQ 2.2.20.4 that only special cases reveal: counts of some kinds of messages, later acknowledgments,
and high bits.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-counts-messages-of-next-session-from-2", breaks=("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-03"))
class ReceiverCountsMessagesOfNextSessionFrom2(SessionAcks):
    """On each session with a peer except the first, the receiver sends an AckSequenceNumber that is one too high."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        first = getattr(self, "first", {})
        self.first = first
        number = first.setdefault(session.RemoteQMGuid, id(session))
        return header if number == id(session) else replace(header, AckSequenceNumber=header.AckSequenceNumber + 1)


@fault("receiver-recoverable-ack-flags-cut-to-16-bits", breaks="MQMQ-2.2.20.4-08")
class ReceiverRecoverableAckFlagsCutTo16Bits(SessionAcks):
    """The receiver acknowledges at most 16 recoverable messages in RecoverableMsgAckFlags."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)


@fault("receiver-recoverable-ack-number-repeated", breaks="MQMQ-2.2.20.4-07")
class ReceiverRecoverableAckNumberRepeated(SessionAcks):
    """The receiver repeats RecoverableMsgAckSeqNumber of its previous acknowledgment if no recoverable message has
    arrived since then.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        last = getattr(self, "last", {})
        self.last = last
        if header.RecoverableMsgAckSeqNumber:
            last[session.number] = header.RecoverableMsgAckSeqNumber
            return header
        return replace(header, RecoverableMsgAckSeqNumber=last.get(session.number, 0))


@fault("receiver-recoverable-ack-number-of-second-acknowledgment-first-message", breaks="MQMQ-2.2.20.4-06")
class ReceiverRecoverableAckNumberOfSecondAcknowledgmentFirstMessage(SessionAcks):
    """In a UserMessage, the receiver sends a RecoverableMsgAckSeqNumber that is one too low, and flags of
    RecoverableMsgAckFlags that begin at bit 1.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        flags = header.RecoverableMsgAckFlags
        if header.RecoverableMsgAckSeqNumber < 2 or flags >> 31:
            return header
        return replace(
            header,
            RecoverableMsgAckSeqNumber=header.RecoverableMsgAckSeqNumber - 1,
            RecoverableMsgAckFlags=flags << 1,
        )


class HeaderOfMessage(Sending):
    """The sender changes the SessionHeader of UserMessages."""

    def change(self, header: SessionHeader) -> SessionHeader:
        """Return the header that the sender sends."""
        return header

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return replace(packet, SessionHeader=self.change(packet.SessionHeader))


@fault(
    "sender-user-message-session-header-without-own-message",
    breaks=(
        "MQMQ-2.2.20.4-09",
        "MQQB-3.1.1.4-01",
        "MQQB-3.1.3.2-02",
        "MQQB-3.1.7.1.3-11",
        "MQQB-3.1.7.1.3-15",
        "MQQB-3.1.7.1.3-18",
    ),
)
class SenderUserMessageSessionHeaderWithoutOwnMessage(HeaderOfMessage):
    """The sender does not count a UserMessage in the UserMsgSequenceNumber of this message."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, UserMsgSequenceNumber=header.UserMsgSequenceNumber - 1)


@fault("sender-recoverable-count-includes-express-messages", breaks=("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-10"))
class SenderRecoverableCountIncludesExpressMessages(SessionAcks):
    """The sender sets RecoverableMsgSeqNumber to the number of all messages that it sent on the session."""

    def build_header(self, session: Session) -> SessionHeader:
        return replace(super().build_header(session), RecoverableMsgSeqNumber=session.MessageSentCount)


@fault(
    "sender-user-message-window-size-0x20",
    breaks=("MQMQ-2.2.20.4-12", "MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
)
class SenderUserMessageWindowSize0x20(HeaderOfMessage):
    """The sender sets WindowSize to 0x20 in the SessionHeader of a UserMessage."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, WindowSize=0x20)


@fault("sender-recoverable-sequence-number-of-user-message-0", breaks=("MQMQ-2.2.20.4-10",))
class SenderRecoverableSequenceNumberOfUserMessage0(HeaderOfMessage):
    """The sender sets RecoverableMsgSeqNumber to 0 in the SessionHeader of a UserMessage."""

    def change(self, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgSeqNumber=0)


@fault("receiver-session-header-reserved-of-user-message-header-ignored", breaks="MQMQ-2.2.20.4-13")
class ReceiverSessionHeaderReservedOfUserMessageHeaderIgnored(Receiving):
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


@fault("sender-recoverable-ack-flags-above-bit-15-not-read", breaks="MQMQ-2.2.20.4-D02")
class SenderRecoverableAckFlagsAboveBit15NotRead(SessionAcks):
    """The sender does not delete the recoverable messages that bits 16 to 31 of RecoverableMsgAckFlags acknowledge."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0xFFFF
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("receiver-user-message-with-too-large-sequence-number-tolerated", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMessageWithTooLargeSequenceNumberTolerated(SessionAcks):
    """The receiver does not close the session when UserMsgSequenceNumber is greater than the number of received
    messages.
    """

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = min(header.UserMsgSequenceNumber, session.MessageReceivedCount)
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)
