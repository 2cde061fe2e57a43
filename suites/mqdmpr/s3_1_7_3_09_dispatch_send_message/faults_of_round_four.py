"""Faults that break rules of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-resent-message-has-sent-time-of-repetition", breaks="MQDMPR-3.1.7.3.9-07", blind=True)
class SenderResentMessageHasSentTimeOfRepetition(MessageSending):
    """The sender writes the time of the repetition to SentTime of a message that it sends again."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        sent_before: set[OutgoingMessagePosition] = vars(self).setdefault("sent_before", set())
        packet = super().update_user_message(session, position, now)
        if position in sent_before:
            return set_fields(packet, {"UserHeader.SentTime": now.utc_s})
        sent_before.add(position)
        return packet
