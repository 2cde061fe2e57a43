"""Faults that break rules of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-sent-time-is-time-of-transmission", breaks="MQDMPR-3.1.7.1.32-03", blind=True)
class SenderSentTimeIsTimeOfTransmission(Sending):
    """If a message has waited to be sent, the sender sets UserHeader.SentTime to the time of the transmission instead
    of Message.SentTime.
    """

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if not self.is_own(packet):
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, SentTime=now.utc_s))
