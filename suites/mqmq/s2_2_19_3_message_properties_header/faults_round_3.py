"""Faults that break rules of MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import packets, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import add_to_packet_size
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_BASE_HEADER_SIZE = 16
_LEVEL = "MessagePropertiesHeader.PrivacyLevel"
_NEXT_DEFINED_LEVEL = {2: 3, 4: 5}


@fault("receiver-nack-not-sent-for-journaled-message", breaks="MQMQ-2.2.19.3-03", blind=True)
class ReceiverNackNotSentForJournaledMessage(Admission):
    """The receiver sends no negative acknowledgment for a refused message that also requests negative journaling."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if not packet.UserHeader.JN:
            super().refuse_message(session, packet, message_class, now)
        elif packet.TransactionHeader is not None:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)


@fault("receiver-privacy-level-between-levels-rounded-up", breaks="MQMQ-2.2.19.3-21", blind=True)
class ReceiverPrivacyLevelBetweenLevelsRoundedUp(SecurityOnReceipt):
    """The receiver compares PrivacyLevel with ranges, so it decrypts a message with level 2 as Enhanced and with level
    4 as Advanced.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if level in _NEXT_DEFINED_LEVEL:
            packet = set_fields(packet, {_LEVEL: _NEXT_DEFINED_LEVEL[level]})
        return super().decrypt_body(packet, now)


def _pad_without_extension(packet: UserMessagePacket) -> bytes:
    """Return the bytes of a message whose padding was computed as if there was no extension."""
    data = packet.build()
    properties = packet.MessagePropertiesHeader
    before = (packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    size = len(properties.build())
    end = _BASE_HEADER_SIZE + sum(len(header.build()) for header in before if header is not None) + size
    padding = -(2 * properties.LabelLength + properties.MessageSize + properties.ExtensionSize) % 4
    wrong = -(2 * properties.LabelLength + properties.MessageSize) % 4
    return add_to_packet_size(wrong - padding)(data[: end - padding] + bytes(wrong) + data[end:])


add(
    "sender-padding-computed-without-extension",
    "MQMQ-2.2.19.3-34",
    "The sender computes the padding of the MessagePropertiesHeader without the size of the extension.",
    packets(UserMessagePacket, _pad_without_extension, lambda packet: packet.MessagePropertiesHeader.ExtensionSize % 4),
    blind=True,
)
