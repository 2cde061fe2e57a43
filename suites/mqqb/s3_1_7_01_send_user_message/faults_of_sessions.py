"""Faults that break rules of MS-MQQB 3.1.7.1 for one kind of session, message or event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import combine_installers
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

_NORMAL_MESSAGE_CLASS, _HIGHEST_PRIORITY = 0, 7


def _name_private_queue_directly(self: Any, original: Callable[[str], Any], name: str) -> Any:
    queue = original(name)
    if queue is not None and not queue.session.initiator and name.startswith("PRIVATE="):
        queue.DestinationFormatName = f"DIRECT=TCP:{queue.session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
    return queue


def _keep_first_outgoing_queue_reference(self: Any, original: Callable[[str], Any], name: str) -> Any:
    """Set OutgoingQueueReference of each later accepted session to the queue of the first accepted session."""
    queue = original(name)
    if queue is not None and not queue.session.initiator:
        first = self.__dict__.setdefault("first_queue_name", queue.DestinationFormatName)
        queue.DestinationFormatName = first
    return queue


def _clear_outgoing_queue_reference_after_order_acks(self: Any, original: Any, session: Session, now: Now) -> None:
    had = session.OutgoingQueueReference is not None
    original(session, now)
    if not had and not session.initiator:
        session.OutgoingQueueReference = None


def _send_packet_of_preceding_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> UserMessagePacket:
    """Return the packet with the body of the preceding message of the session if the label is the same."""
    last = self.__dict__.setdefault("last_properties", {})
    known = last.get(session.number)
    properties = position.UserMessage.MessagePropertiesHeader
    last[session.number] = properties
    if known is not None and known.Label == properties.Label and known.MessageClass == properties.MessageClass:
        position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=known)
    packet: UserMessagePacket = original(session, position, now)
    return packet


def _omit_identifier_of_large_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
) -> None:
    if len(packet.MessagePropertiesHeader.MessageBody) > 1_000:
        packet = replace(packet, UserHeader=replace(packet.UserHeader, MessageID=0))
    original(session, position, packet)


def _cut_label_of_recoverable_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket
) -> None:
    label = packet.MessagePropertiesHeader.Label
    if position.recoverable and label and packet.MessagePropertiesHeader.MessageClass == _NORMAL_MESSAGE_CLASS:
        properties = replace(packet.MessagePropertiesHeader, Label=label[:3])
        packet = replace(
            packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0), MessagePropertiesHeader=properties
        )
    original(session, position, packet)


def _ignore_expiration(applies: Callable[[UserMessagePacket], bool]) -> Install:
    """Return an installer of a fault: the sender ignores the expiration of selected messages."""

    def check_expiration(self: Any, original: Any, packet: UserMessagePacket, now: Now) -> bool:
        return not applies(packet) and original(packet, now)

    def delete_expired_message(
        self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> None:
        if not applies(position.UserMessage):
            original(session, position, now)

    return combine_installers(
        change_step(MessageLifetimes.has_message_expired, check_expiration),
        change_step(MessageSending.delete_expired_message, delete_expired_message),
    )


def _reuse_identifier_of_acknowledgment(
    self: Any, original: Any, queue: OutgoingQueue, position: MessagePosition, now: Now
) -> None:
    """Give each later acknowledgment the identifier of the first acknowledgment."""
    message = position.MessageReference
    if message.Class not in (_NORMAL_MESSAGE_CLASS, 0xFF):
        first = self.__dict__.setdefault("first_identifier", message.Identifier)
        position.MessageReference = replace(message, Identifier=first)
    original(queue, position, now)


def _is_message_of_queue_manager_itself(position: OutgoingMessagePosition) -> bool:
    return position.UserMessage.MessagePropertiesHeader.MessageClass not in (_NORMAL_MESSAGE_CLASS, 0xFF)


def _omit_acknowledgment_from_recoverable_sent_count(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> UserMessagePacket:
    packet: UserMessagePacket = original(session, position, now)
    if _is_message_of_queue_manager_itself(position) and position.recoverable:
        session.RecoverableMessageSentCount = session.RecoverableMessageSentCount - 1 & 0xFFFF
    return packet


for _name, _rule, _says, _install in (
    (
        "sender-outgoing-queue-reference-of-private-name-direct",
        "MQQB-3.1.7.1-04",
        "The sender sets OutgoingQueueReference of an accepted session to a queue with a direct format name, although "
        "the message goes to a private format name.",
        change_step(OrderAcks._find_queue_of_open_session, _name_private_queue_directly),
    ),
    (
        "sender-outgoing-queue-reference-of-later-session-names-first-queue",
        "MQQB-3.1.7.1-04",
        "The sender sets OutgoingQueueReference of each later accepted session to the format name of the first queue.",
        change_step(OrderAcks._find_queue_of_open_session, _keep_first_outgoing_queue_reference),
    ),
    (
        "sender-outgoing-queue-reference-cleared-after-order-ack",
        "MQQB-3.1.7.1-04",
        "The sender clears OutgoingQueueReference of an accepted session after it has sent an OrderAck.",
        change_step(OrderAcks.on_order_ack_send_timer, _clear_outgoing_queue_reference_after_order_acks),
    ),
    (
        "sender-message-with-equal-label-has-preceding-body",
        "MQQB-3.1.7.1-05",
        "The sender sends the body of the preceding message of the session if both messages have the same label.",
        change_step(MessageSending.update_user_message, _send_packet_of_preceding_message),
    ),
    (
        "sender-large-message-without-identifier",
        "MQQB-3.1.7.1-05",
        "The sender sends a message of more than 1,000 bytes with MessageID 0.",
        change_step(MessageSending.transmit, _omit_identifier_of_large_message),
    ),
    (
        "sender-label-of-recoverable-message-cut",
        "MQQB-3.1.7.1-05",
        "The sender cuts the label of a recoverable message to three characters.",
        change_step(MessageSending.transmit, _cut_label_of_recoverable_message),
    ),
    (
        "sender-expiration-of-transactional-message-not-checked",
        "MQQB-3.1.7.1-06",
        "The sender does not check the expiration of a transactional message that it is about to send.",
        _ignore_expiration(lambda packet: packet.TransactionHeader is not None),
    ),
    (
        "sender-expiration-of-urgent-message-not-checked",
        "MQQB-3.1.7.1-06",
        "The sender does not check the expiration of a message of priority 7 that it is about to send.",
        _ignore_expiration(lambda packet: packet.BaseHeader.PR == _HIGHEST_PRIORITY),
    ),
    (
        "any-acknowledgments-with-identifier-of-first-acknowledgment",
        "MQQB-3.1.7.1-12",
        "The queue manager gives each later administration acknowledgment the identifier of the first one.",
        change_step(MessageSending.on_message_position_available, _reuse_identifier_of_acknowledgment),
    ),
    (
        "any-recoverable-acknowledgment-not-counted-as-recoverable",
        "MQQB-3.1.7.1-12",
        "The queue manager does not count a recoverable acknowledgment in RecoverableMessageSentCount.",
        change_step(MessageSending.update_user_message, _omit_acknowledgment_from_recoverable_sent_count),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
