"""Faults in packets of some messages, and in the SessionHeaders that they carry. Spec: MS-MQQB 3.1.7.11."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import SessionAckPacket, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _omit_label_of_message_without_body(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if message.Body:
        return packet
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, Label=None))


def _omit_tag_of_later_message_of_transaction(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if message.TransactionIdentifier is None or message.FirstInTransaction:
        return packet
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, ApplicationTag=0))


add(
    "sender-label-of-message-without-body-omitted",
    "MQQB-3.1.7.11-01",
    "The sender creates the packet of a message without a body without the label of the message.",
    change_constructed_packet(_omit_label_of_message_without_body),
    blind=True,
)
add(
    "sender-application-tag-of-later-message-of-transaction-omitted",
    "MQQB-3.1.7.11-01",
    "The sender creates the packet of each later message of a transaction without the application tag of the message.",
    change_constructed_packet(_omit_tag_of_later_message_of_transaction),
    blind=True,
)


class _SendingWithChangedHeaderCarriers(MessageSending):
    """Changes messages that carry a SessionHeader."""

    def change_message_with_session_header(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
    ) -> UserMessagePacket:
        raise NotImplementedError

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        return (
            packet
            if packet.SessionHeader is None
            else self.change_message_with_session_header(session, position, packet)
        )


@fault("sender-carried-window-size-is-remaining-room-of-window", breaks="MQQB-3.1.7.11-10", blind=True)
class SenderCarriedWindowSizeIsRemainingRoomOfWindow(_SendingWithChangedHeaderCarriers):
    """The sender sets WindowSize of a SessionHeader in a recoverable message to WindowSize minus the number of
    unacknowledged messages.
    """

    def change_message_with_session_header(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
    ) -> UserMessagePacket:
        if not position.recoverable:
            return packet
        size = max(1, session.WindowSize - session.UnAckedMessageCount)
        changed: UserMessagePacket = set_fields(packet, {"SessionHeader.WindowSize": size})
        return changed


@fault("sender-window-size-in-carried-header-stays-1-after-pause", breaks="MQQB-3.1.7.11-10", blind=True)
class SenderWindowSizeInCarriedHeaderStays1AfterPause(TransferAdministering):
    """After an outgoing queue was paused and resumed, the sender continues to send WindowSize 1 instead of its usual
    WindowSize.
    """

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        packet = super().build_pause_ack(session)
        session.WindowSize = packet.SessionHeader.WindowSize
        return packet
