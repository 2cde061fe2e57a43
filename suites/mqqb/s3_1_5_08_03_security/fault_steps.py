"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now

PacketPredicate = Callable[[UserMessagePacket], bool]
SECURITY_NACK_CLASSES = (
    MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
    MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
    MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
)


def omit_nack_of_transactional_message(refused: MessageClass) -> Install:
    """Omit negative acknowledgments of the given class for transactional messages."""

    class Omitted(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not refused or message.TransactionIdentifier is None:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(Omitted)


def omit_final_ack_if_na_is_set(refused: MessageClass) -> Install:
    """Omit FinalAcks of the given class for transactional messages whose sender also asks for negative
    acknowledgments.
    """

    class Omitted(FinalAcks):
        def send_negative_final_ack(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            if message_class is not refused or not packet.MessagePropertiesHeader.NA:
                super().send_negative_final_ack(session, packet, message_class, now)

    return replace_part(Omitted)


def copy_refused_messages_to_dead_letter_queue(refused: MessageClass) -> Install:
    """Copy messages that are refused with the given class to a local dead-letter queue."""

    class RefusedMessageKept(MessageAdmission):
        def refuse_message(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            super().refuse_message(session, packet, message_class, now)
            if message_class is refused:
                self.journal_refused_message(replace(self.build_message(packet, now), security=None))

    return replace_part(RefusedMessageKept)


BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


BAD_ENCRYPTION_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION


ACCESS_DENIED_CLASS = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED


MessageSelectionCondition = Callable[[Any], bool]


def register_faults_written_without_knowing_checks(*faults: tuple[str, str | tuple[str, ...], str, Install]) -> None:
    """Register faults whose author had not seen the checks: name, rules, description and installer."""
    for name, breaks, says, install in faults:
        add(name, breaks, says, install, blind=True)


def accept_every_message(packet: UserMessagePacket) -> bool:
    """Return True for every message."""
    return True


def is_recoverable(packet: UserMessagePacket) -> bool:
    """Return whether a message is recoverable and not transactional."""
    return bool(packet.UserHeader.DM) and packet.TransactionHeader is None


def is_encrypted(packet: UserMessagePacket) -> bool:
    """Return whether the body of a message is encrypted."""
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB)


def has_destination_list(packet: UserMessagePacket) -> bool:
    """Return whether a message has a list of destinations."""
    return packet.MultiQueueFormatHeader is not None


def skip_security_step_for_selected_messages(name: str, when: MessageSelectionCondition) -> Install:
    """Return an installer of a fault that omits a step of the security check for selected messages."""

    def run(self: Any, original: Any, packet: UserMessagePacket, *rest: Any) -> Any:
        if when(packet):
            return packet if name in {"authenticate_packet", "decrypt_body"} else None
        return original(packet, *rest)

    return change_step(getattr(SecurityOnReceipt, name), run)


def accept_refused_messages(name: str, when: MessageSelectionCondition) -> Install:
    """Return an installer of a fault that accepts selected messages although a step of the security check
    refuses them.
    """

    def run(self: Any, original: Any, packet: UserMessagePacket, *rest: Any) -> Any:
        try:
            return original(packet, *rest)
        except ReceivedMessageRefused:
            if not when(packet):
                raise
            return packet

    return change_step(getattr(SecurityOnReceipt, name), run)


def refuse_selected_messages_in_security_step(
    name: str, when: MessageSelectionCondition, message_class: MessageClass
) -> Install:
    """Return an installer of a fault that refuses selected messages in a step of the security check."""

    def run(self: Any, original: Any, packet: UserMessagePacket, *rest: Any) -> Any:
        if when(packet):
            raise ReceivedMessageRefused(message_class, "a fault refuses the message")
        return original(packet, *rest)

    return change_step(getattr(SecurityOnReceipt, name), run)
