"""Faults of MS-MQQB 3.1.5.8.3 Security."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import UserMessagePacket
from reference_qm.core.store.messages import DIRECT
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now


def _unverified(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a message as if its signature, if there is one, had been found genuine."""
    security = packet.SecurityHeader
    signed = security is not None and bool(security.SecurityData.Signature)
    return set_fields(packet, {"SecurityHeader.Flags": lambda old: old | 0x300}) if signed else packet


@fault("signature-of-an-empty-body-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class SignatureOfAnEmptyBodyNotVerified(SecurityOnReceipt):
    """The signature of a message without a body is believed."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        empty = not packet.MessagePropertiesHeader.MessageBody
        return _unverified(packet) if empty else super().authenticate_packet(packet)


@fault("signature-of-a-transactional-message-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class SignatureOfATransactionalMessageNotVerified(SecurityOnReceipt):
    """The signature of a transactional message is believed."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return _unverified(packet) if packet.UserHeader.TH else super().authenticate_packet(packet)


@fault("access-of-a-direct-name-not-checked", breaks="MQQB-3.1.5.8.3-90", blind=True)
class AccessOfADirectNameNotChecked(SecurityOnReceipt):
    """Whoever names the queue directly may write to it."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.UserHeader.DQ != DIRECT:
            super().authorize_sender(packet, queue)


@fault("access-of-an-unsigned-message-not-checked", breaks="MQQB-3.1.5.8.3-89", blind=True)
class AccessOfAnUnsignedMessageNotChecked(SecurityOnReceipt):
    """Only the sender of a signed message needs the right to write to the queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            super().authorize_sender(packet, queue)


@fault("body-of-a-transactional-message-not-decrypted", breaks="MQQB-3.1.5.8.3-45", blind=True)
class BodyOfATransactionalMessageNotDecrypted(SecurityOnReceipt):
    """The body of a transactional message is left encrypted."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        return packet if packet.UserHeader.TH else super().decrypt_body(packet, now)
