"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet that occur only in a second SessionHeader, with other
deliveries or for some counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


class _ChangingSessionHeader(Sending):
    """Change the SessionHeader that the sender adds to a message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = (session.RecoverableMsgAckFlags, session.UnackedReceivedMsgCount)
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return self.change(session, position, packet, before)

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        raise NotImplementedError


def _replace_header_fields(packet: UserMessagePacket, **fields: Any) -> UserMessagePacket:
    assert packet.SessionHeader is not None
    return replace(packet, SessionHeader=replace(packet.SessionHeader, **fields))


@fault("sender-session-header-only-once-on-a-session", breaks="MQQB-3.1.7.11-02", blind=True)
class SenderSessionHeaderOnlyOnceOnASession(Sending):
    """The sender adds a SessionHeader to only one message of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str | None] = set()

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        due = super().is_acknowledgment_due(session, now) and session.transport not in self.done
        if due:
            self.done.add(session.transport)
        return due


@fault("sender-session-header-not-in-transactional-messages", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderNotInTransactionalMessages(Sending):
    """The sender adds no SessionHeader to a transactional message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        count = session.UnackedReceivedMsgCount
        if position.TxSequenceNumber:
            session.UnackedReceivedMsgCount = 0
        packet = super().update_user_message(session, position, now)
        if position.TxSequenceNumber:
            session.UnackedReceivedMsgCount = count
        return packet


@fault("sender-session-header-for-several-received-messages-only", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderForSeveralReceivedMessagesOnly(Sending):
    """The sender adds a SessionHeader to a message only if at least two messages are unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return session.UnackedReceivedMsgCount > 1 and super().is_acknowledgment_due(session, now)


@fault("sender-session-header-ack-number-without-last-message", breaks="MQQB-3.1.7.11-05", blind=True)
class SenderSessionHeaderAckNumberWithoutLastMessage(_ChangingSessionHeader):
    """The sender sets AckSequenceNumber of a SessionHeader that it adds to the number of the last
    recoverable message.
    """

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_header_fields(
            packet, AckSequenceNumber=session.RecoverableMessageReceivedCount or session.MessageReceivedCount
        )


@fault("sender-session-header-recoverable-count-without-this-message", breaks="MQQB-3.1.7.11-08", blind=True)
class SenderSessionHeaderRecoverableCountWithoutThisMessage(_ChangingSessionHeader):
    """The sender does not count the recoverable message that contains the SessionHeader in RecoverableMsgSeqNumber."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_header_fields(
            packet, RecoverableMsgSeqNumber=session.RecoverableMessageSentCount - int(position.recoverable)
        )


@fault("sender-session-header-message-count-of-express-message-only", breaks="MQQB-3.1.7.11-07", blind=True)
class SenderSessionHeaderMessageCountOfExpressMessageOnly(_ChangingSessionHeader):
    """The sender does not count a recoverable message that contains the SessionHeader in UserMsgSequenceNumber."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_header_fields(
            packet, UserMsgSequenceNumber=session.MessageSentCount - int(position.recoverable)
        )


@fault("sender-session-header-only-lowest-flag", breaks="MQQB-3.1.7.11-09", blind=True)
class SenderSessionHeaderOnlyLowestFlag(_ChangingSessionHeader):
    """The sender sets only the lowest bit of RecoverableMsgAckFlags in a SessionHeader that it adds."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        assert packet.SessionHeader is not None
        return _replace_header_fields(packet, RecoverableMsgAckFlags=packet.SessionHeader.RecoverableMsgAckFlags & 1)


@fault("sender-session-header-window-size-of-remote-side", breaks="MQQB-3.1.7.11-10", blind=True)
class SenderSessionHeaderWindowSizeOfRemoteSide(_ChangingSessionHeader):
    """The sender sets WindowSize of a SessionHeader that it adds to the WindowSize that the remote side announced."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_header_fields(packet, WindowSize=session.ReceivedWindowSize)


@fault("sender-session-header-in-recoverable-message-flags-not-cleared", breaks="MQQB-3.1.7.11-12", blind=True)
class SenderSessionHeaderInRecoverableMessageFlagsNotCleared(_ChangingSessionHeader):
    """The sender does not clear RecoverableMsgAckFlags after it has added a SessionHeader to a recoverable message."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        if position.recoverable:
            session.RecoverableMsgAckFlags = before[0]
        return packet


@fault("sender-session-header-second-unacked-count-not-reset", breaks="MQQB-3.1.7.11-13", blind=True)
class SenderSessionHeaderSecondUnackedCountNotReset(_ChangingSessionHeader):
    """The sender sets UnackedReceivedMsgCount to 0 only after it has added the first SessionHeader of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str | None] = set()

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        if session.transport in self.done:
            session.UnackedReceivedMsgCount = before[1]
        self.done.add(session.transport)
        return packet


@fault("sender-body-of-earlier-message-with-same-label-and-size", breaks="MQQB-3.1.7.11-01", blind=True)
class SenderBodyOfEarlierMessageWithSameLabelAndSize(Sending):
    """If two messages have the same label and size, the sender puts the body of the earlier message into the packet of
    the later message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.bodies: dict[tuple[str, int], bytes] = {}

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if not message.Class:
            body = self.bodies.setdefault((message.Label, len(message.Body)), message.Body)
            position.MessageReference = replace(message, Body=body)
        return super().construct_user_message(position)
