"""Faults of MS-MQMQ 2.5 that an author wrote without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

SIGNED_BODY_SIZE = 1024


@fault("signature-10-covers-first-1024-bytes-of-body", breaks="MQMQ-2.5.1-04", blind=True)
class Signature10CoversFirst1024BytesOfBody(SecurityOnReceipt):
    """The MSMQ 1.0 digital signature covers only the first 1024 bytes of MessageBody."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        if kind is SignatureType.SIG10:
            properties = packet.MessagePropertiesHeader
            body = properties.MessageBody[:SIGNED_BODY_SIZE]
            packet = replace(packet, MessagePropertiesHeader=replace(properties, MessageBody=body))
        content: bytes = super().signed_properties(packet, kind)
        return content
