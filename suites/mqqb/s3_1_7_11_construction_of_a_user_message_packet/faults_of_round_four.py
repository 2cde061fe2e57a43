"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet: the SessionHeader of a message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-session-header-recoverable-flags-without-first-message", breaks="MQQB-3.1.7.11-09", blind=True)
class SenderSessionHeaderRecoverableFlagsWithoutFirstMessage(MessageSending):
    """In the SessionHeader of a message, the lowest bit of RecoverableMsgAckFlags stands for the message after
    RecoverableMsgAckSeqNumber.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        header = packet.SessionHeader
        if header is None:
            return packet
        changed = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags >> 1)
        return replace(packet, SessionHeader=changed)
