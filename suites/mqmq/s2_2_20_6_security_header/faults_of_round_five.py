"""Faults of the fifth round that break rules of MS-MQMQ 2.2.20.6 SecurityHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.signed_packets import change_signed_packet
from reference_qm.codec import ProviderInfo, SecurityHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security import SignatureType
from reference_qm.surface.clock import Now

_NULL_WCHAR_BYTES = 2
_RSA_FULL_PROVIDER_TYPE = 1


@fault("sender-provider-info-with-cached-key-not-terminated", breaks="MQMQ-2.2.20.6-D05", blind=True)
class SenderProviderInfoWithCachedKeyNotTerminated(MessageSecuring):
    """The sender omits the terminating null of ProviderName in each encrypted message except the first."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.has_encrypted = False

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        security = encrypted.SecurityHeader
        if encrypted is packet or security is None:
            return encrypted
        again, self.has_encrypted = self.has_encrypted, True
        if not again:
            return encrypted
        info = security.SecurityData.ProviderInfo[:-_NULL_WCHAR_BYTES]
        data = replace(security.SecurityData, ProviderInfo=info, Padding=None)
        return replace(encrypted, SecurityHeader=replace(security, SecurityData=data))


@fault("sender-provider-name-of-signature-empty", breaks="MQMQ-2.2.20.6-07", blind=True)
class SenderProviderNameOfSignatureEmpty(MessageSecuring):
    """The sender clears DE in the SecurityHeader of a signed message, and sends a ProviderInfo with an empty
    ProviderName.
    """

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        security = signed.SecurityHeader
        if security is None or not security.SecurityData.Signature:
            return signed
        info = ProviderInfo(_RSA_FULL_PROVIDER_TYPE, "").build()
        data = replace(security.SecurityData, ProviderInfo=info, Padding=None)
        flags = security.Flags & ~SecurityHeader.flags(DE=1)
        return replace(signed, SecurityHeader=replace(security, Flags=flags, SecurityData=data))


add(
    "sender-msmq-3-signature-covers-only-first-destination",
    "MQMQ-2.2.20.6-27",
    "The sender computes an MSMQ 3.0 signature over the first element of FormatNameList only.",
    change_signed_packet(
        SignatureType.SIG30, {"MultiQueueFormatHeader.Destination.FormatNameList": lambda old: old[:1]}
    ),
    blind=True,
)
