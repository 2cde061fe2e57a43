"""Faults that break rules of MS-MQMQ 2.2.20.6 SecurityHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message
from reference_qm.security import ST_SID, SignatureType


@fault("sender-msmq-1-signature-with-sid-of-first-user", breaks="MQMQ-2.2.20.6-23", blind=True)
class SenderMsmq1SignatureWithSidOfFirstUser(Securing):
    """In messages with an MSMQ 1.0 signature, the sender uses the SID of the first user who signed a message, whoever
    signs the later messages.
    """

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        header, wanted = signed.SecurityHeader, message.security
        if header is None or wanted is None or header.ST != ST_SID:
            return signed
        if wanted.AuthenticationLevel != SignatureType.SIG10:
            return signed
        first = self.__dict__.setdefault("first", header.SecurityData.SecurityID)
        data = replace(header.SecurityData, SecurityID=first, Padding=None)
        return replace(
            signed,
            BaseHeader=replace(signed.BaseHeader, PacketSize=0),
            SecurityHeader=replace(header, SecurityData=data),
        )
