"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.security import MessageSecurity, SignatureType
from reference_qm.surface.clock import Now


@fault("receiver-admin-ack-receive-signed", breaks="MQQB-3.1.7.15-D07", blind=True)
class ReceiverAdminAckReceiveSigned(AdminAcks):
    """The receiver signs the administration acknowledgment of class ACK_RECEIVE, so that its
    AuthenticationLevel is Sig20.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        signers = [one for one in self.qm.config.security.accounts if one.key is not None and one.certificates]
        if message_class is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not signers:
            return ack
        signed = MessageSecurity(AuthenticationLevel=SignatureType.SIG20, SenderCertificate=signers[0].certificates[0])
        return replace(ack, security=signed)
