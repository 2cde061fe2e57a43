"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.store.messages import NEGATIVE_RECEIVE, POSITIVE_RECEIVE
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now

_BOTH_RECEIVE_ACKS = POSITIVE_RECEIVE | NEGATIVE_RECEIVE


@fault("receiver-both-receive-acks-read-as-positive-only", breaks="MQDMPR-3.1.1.12-36", blind=True)
class ReceiverBothReceiveAcksReadAsPositiveOnly(AdminAcks):
    """If a message requests the positive and the negative receive acknowledgment, the receiver sends only the
    positive one.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        requests_both = message.AcknowledgementsRequested & _BOTH_RECEIVE_ACKS == _BOTH_RECEIVE_ACKS
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not requests_both:
            super().acknowledge_receive(message, reason, now)
