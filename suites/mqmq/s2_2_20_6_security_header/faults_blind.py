"""Faults of MS-MQMQ 2.2.20.6, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface.clock import Now

STREAM_CIPHER = 0x6801
CIPHER_BLOCK_BYTES = 8


@fault("receiver-encrypted-body-padding-removed-twice", breaks="MQMQ-2.2.20.6-06", blind=True)
class ReceiverEncryptedBodyPaddingRemovedTwice(SecurityOnReceipt):
    """After it has removed the padding of a block cipher, the receiver also removes trailing bytes of the body that
    look like padding.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        decrypted = super().decrypt_body(packet, now)
        properties = decrypted.MessagePropertiesHeader
        body = properties.MessageBody
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if (
            not encrypted
            or properties.EncryptionAlgorithm == STREAM_CIPHER
            or not body
            or not 1 <= body[-1] <= CIPHER_BLOCK_BYTES
        ):
            return decrypted
        if not body.endswith(bytes([body[-1]]) * body[-1]):
            return decrypted
        body = body[: -body[-1]]
        return replace(
            decrypted,
            MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body), Padding=None),
        )


@fault("receiver-security-flag-x14-disables-authentication", breaks="MQMQ-2.2.20.6-12", blind=True)
class ReceiverSecurityFlagX14DisablesAuthentication(SecurityOnReceipt):
    """The receiver does not verify the signature of a message with bit X14 of SecurityHeader.Flags set."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is not None and security.X14:
            return packet
        return super().authenticate_packet(packet)
