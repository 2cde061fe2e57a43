"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("receiver-transactional-message-above-quota-not-acknowledged", breaks="MQDMPR-3.1.1.12-40", blind=True)
class ReceiverTransactionalMessageAboveQuotaNotAcknowledged(Admission):
    """For a transactional message that exceeds the quota of its queue, the receiver sends only the FinalAck and no
    administration acknowledgment.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        above_quota = message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
        if above_quota and packet.TransactionHeader is not None:
            self.qm.final_acks.refuse_transactional(session, packet, message_class, now)
        else:
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-administration-ack-repeats-sent-time", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class ReceiverAdministrationAckRepeatsSentTime(AdminAcks):
    """The SentTime of an administration acknowledgment is the SentTime of the message that it acknowledges."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        return replace(super().build(message, message_class, now), SentTime=message.SentTime)
