"""Faults of round five that break rules of MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, MessageIdentifier, PublicName, UserMessagePacket
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.security import MessageSecurity, SignatureType
from reference_qm.security.algorithms import PrivacyLevel
from reference_qm.surface.clock import Now


@fault("receiver-acknowledgment-of-deleted-queue-not-requested", breaks="MQDMPR-3.1.1.12-37", blind=True)
class ReceiverAcknowledgmentOfDeletedQueueNotRequested(FinalAcks):
    """When a queue is deleted, the receiver sends an acknowledgment of class NACK_Q_DELETED to the administration queue
    of every message in it, even of a message whose AcknowledgementsRequested is None.
    """

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        super().on_message_position_deleted(position, reason, now)
        message = position.MessageReference
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_DELETED and not message.AcknowledgementsRequested:
            self.qm.admin_acks.send(message, reason, now)


@fault("sender-plain-message-after-encrypted-message-encrypted", breaks="MQDMPR-3.1.1.12-05", blind=True)
class SenderPlainMessageAfterEncryptedMessageEncrypted(MessageSending):
    """The sender also encrypts the body of a message with the PrivacyLevel None if an earlier message on the same
    session was encrypted.
    """

    def sign_and_encrypt_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        message = position.MessagePosition.MessageReference
        sent = position.UserMessage
        if message.security is None and any(session.RemoteQMPublicKey) and self.is_from_this_queue_manager(sent):
            for level in (PrivacyLevel.BASE, PrivacyLevel.ENHANCED, PrivacyLevel.ADVANCED):
                private = replace(message, security=MessageSecurity(PrivacyLevel=level))
                secured = self.qm.message_securing.secure_user_message(
                    session, private, serialize_message(private), now
                )
                if secured is not None:
                    position.UserMessage = replace(secured, TransactionHeader=sent.TransactionHeader)
                    return True
        return super().sign_and_encrypt_message(session, position, now)


@fault("sender-expired-transactional-message-receive-timeout-reported", breaks="MQDMPR-3.1.1.12-D12", blind=True)
class SenderExpiredTransactionalMessageReceiveTimeoutReported(AdminAcks):
    """The sender acknowledges a transactional message whose TimeToReachQueue has passed with the class
    NACK_RECEIVE_TIMEOUT.
    """

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().acknowledge_expiration(message, now)
        elif message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            self.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)


@fault("router-report-of-sent-message-class-normal", breaks="MQDMPR-3.1.1.12-D06", blind=True)
class RouterReportOfSentMessageClassNormal(MessageTracing):
    """A queue manager that routes a traced message reports that it sent the message with a message of class NORMAL."""

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        routed = message.Identifier.QueueManagerGuid != self.qm.adm.Identifier
        if not routed or not message.TracingRequested or message.TracingQueueIdentifier.int == 0:
            super().trace_sent_message(session, message, now)
            return
        report = Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, 0),
            DestinationQueueFormatName=str(PublicName(message.TracingQueueIdentifier)),
            Class=MessageClass.MQMSG_CLASS_NORMAL,
            Label=self.build_report_label(message, now),
            Body=self.build_report_body(message, session.RemoteQMAddress).encode("utf-16-le"),
            SentTime=now.utc_s,
        )
        self.qm.own_message_sending.send(report, now)


@fault("sender-message-without-body-signature-missing", breaks="MQDMPR-3.1.1.12-11", blind=True)
class SenderMessageWithoutBodySignatureMissing(MessageSecuring):
    """The sender adds no signature to a message whose AuthenticationLevel is Sig10 and whose body is empty."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.AuthenticationLevel == SignatureType.SIG10 and not message.Body:
            return packet
        return super().sign_packet(message, packet)
