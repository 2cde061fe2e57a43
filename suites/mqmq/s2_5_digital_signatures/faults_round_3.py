"""Faults that break rules of MS-MQMQ 2.5.2 MSMQ 2.0 Digital Signature Properties."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

_SOURCE_DELIVERY_AND_PRIORITY_SIZE = 18
"""The number of bytes that an MSMQ 2.0 signature covers between the last field of MSMQ 1.0 and the journaling bits."""


@fault("queue-manager-msmq-2-signature-acks-before-journaling", breaks="MQMQ-2.5.2-12", blind=True)
class QueueManagerMsmq2SignatureAcksBeforeJournaling(SecurityOnReceipt):
    """An MSMQ 2.0 signature of the queue manager covers the acknowledgment bits before the journaling bits."""

    def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        content = super().signed_properties(packet, kind)
        if kind is not SignatureType.SIG20:
            return content
        at = len(super().signed_properties(packet, SignatureType.SIG10)) + _SOURCE_DELIVERY_AND_PRIORITY_SIZE
        return content[:at] + content[at : at + 2][::-1] + content[at + 2 :]
