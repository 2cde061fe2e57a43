"""Faults of MS-MQQB 3.1.5.8.3, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import (
    MessageClass,
    UserMessagePacket,
)
from reference_qm.core.transfer.admission import Admission
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-denied-message-without-na-no-final-ack", breaks="MQQB-3.1.5.8.3-124", blind=True)
class ReceiverDeniedMessageWithoutNaNoFinalAck(Admission):
    """The receiver sends the FinalAck of a message whose sender has no access only if the message also requests a
    negative administration acknowledgment.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        denied = message_class is MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED
        if not denied or packet.MessagePropertiesHeader.NA:
            super().refuse_message(session, packet, message_class, now)
