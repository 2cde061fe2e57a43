"""Faults of MS-MQQB 3.1.5.8.3 Security."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import UserMessagePacket
from reference_qm.core.store.messages import DIRECT
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now


def _mark_as_verified(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a message marked as verified, if it has a signature."""
    security = packet.SecurityHeader
    signed = security is not None and bool(security.SecurityData.Signature)
    return set_fields(packet, {"SecurityHeader.Flags": lambda old: old | 0x300}) if signed else packet


@fault("receiver-signature-of-empty-body-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureOfEmptyBodyNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a message without a body."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        empty = not packet.MessagePropertiesHeader.MessageBody
        return _mark_as_verified(packet) if empty else super().authenticate_packet(packet)


@fault("receiver-signature-of-transactional-message-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureOfTransactionalMessageNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a transactional message."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return _mark_as_verified(packet) if packet.UserHeader.TH else super().authenticate_packet(packet)


@fault("receiver-access-by-direct-name-not-checked", breaks="MQQB-3.1.5.8.3-90", blind=True)
class ReceiverAccessByDirectNameNotChecked(SecurityOnReceipt):
    """The receiver does not check the access rights of the sender of a message with a direct format name."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.UserHeader.DQ != DIRECT:
            super().authorize_sender(packet, queue)


@fault("receiver-access-of-unsigned-message-not-checked", breaks="MQQB-3.1.5.8.3-89", blind=True)
class ReceiverAccessOfUnsignedMessageNotChecked(SecurityOnReceipt):
    """The receiver does not check the access rights of the sender of an unsigned message."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            super().authorize_sender(packet, queue)


@fault("receiver-body-of-transactional-message-not-decrypted", breaks="MQQB-3.1.5.8.3-45", blind=True)
class ReceiverBodyOfTransactionalMessageNotDecrypted(SecurityOnReceipt):
    """The receiver does not decrypt the body of a transactional message."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet if packet.UserHeader.TH else super().decrypt_body(packet, now)
