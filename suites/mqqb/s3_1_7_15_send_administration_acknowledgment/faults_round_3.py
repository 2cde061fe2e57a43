"""Faults that break rules of MS-MQQB 3.1.7.15."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-nack-of-unencrypted-message-with-security-header-no-body", breaks="MQQB-3.1.7.15-29", blind=True)
class ReceiverNackOfUnencryptedMessageWithSecurityHeaderNoBody(Admission):
    """The receiver sends a negative acknowledgment without the body of the refused message if the message has a
    SecurityHeader, even if EB is not set in this header.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.SecurityHeader is not None:
            bare = replace(packet.MessagePropertiesHeader, MessageBody=b"", AllocationBodySize=0, Padding=None)
            packet = replace(packet, MessagePropertiesHeader=bare)
        super().refuse_message(session, packet, message_class, now)
