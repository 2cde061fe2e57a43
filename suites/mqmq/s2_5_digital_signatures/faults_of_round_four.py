"""Faults that break rules of MS-MQMQ 2.5 Digital Signatures, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused, SignatureType
from reference_qm.security.signatures import _build_label_content, _build_queue_content


@fault("queue-manager-msmq-3-signature-label-after-response-queue", breaks="MQMQ-2.5.3-05", blind=True)
class QueueManagerMsmq3SignatureLabelAfterResponseQueue(SecurityOnReceipt):
    """The queue manager's MSMQ 3.0 signature covers Label after ResponseQueue."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        content = super().build_signed_properties(packet, kind)
        if kind is not SignatureType.SIG30:
            return content
        properties = packet.MessagePropertiesHeader
        before = properties.CorrelationID + properties.ApplicationTag.to_bytes(4, "little") + properties.MessageBody
        label = _build_label_content(packet)
        response = _build_queue_content(packet.UserHeader.ResponseQueue)
        after = content.removeprefix(before + label + response)
        return before + response + label + after


@fault("receiver-accepts-msmq2-signature-after-dm-changed-to-1", breaks="MQMQ-2.5.2-09", blind=True)
class ReceiverAcceptsMsmq2SignatureAfterDmChangedTo1(SecurityOnReceipt):
    """The receiver accepts a signed UserMessage in which DM was changed from 0 to 1 after signing."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            security, user = packet.SecurityHeader, packet.UserHeader
            if user.DM != 1 or security is None or not security.SecurityData.Signature:
                raise
            express = replace(packet, UserHeader=replace(user, Flags=user.Flags & ~UserHeader.flags(DM=1)))
            return replace(super().authenticate_packet(express), UserHeader=user)
