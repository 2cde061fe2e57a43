from __future__ import annotations

from reference_qm.codec import MessageClass, MessageIdentifier, MessagePropertiesHeader
from reference_qm.core.names.queue_names import OWN_QUEUE_PATHS
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.messages import get_receive_ack_bit
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.surface.clock import Now

POSITIVE_ARRIVAL_FLAG = MessagePropertiesHeader.flags(PA=1)
NEGATIVE_ARRIVAL_FLAG = MessagePropertiesHeader.flags(NA=1)

INSECURE_NACKS = frozenset(
    {
        MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q,
        MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
        MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
        MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
        MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    }
)
"""The classes of negative acknowledgments that disclose information about the queue manager to every sender. They are
sent only if SendInsecureNacks is TRUE.

Spec: MS-MQQB 3.1.7.15, 5.1.
"""

CLASSES_WITHOUT_BODY = frozenset({MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, MessageClass.MQMSG_CLASS_ACK_RECEIVE})
"""The acknowledgment classes whose acknowledgments do not contain the body of the message. Spec: MS-MQQB 3.1.7.15."""


class AdminAcks(QueueManagerPart):
    """Builds and sends administration acknowledgments.

    Spec: MS-MQQB 3.1.5.8.10, 3.1.7.2.1, 3.1.7.15, MS-MQDMPR 3.1.1.12 (AcknowledgementsRequested).
    """

    __slots__ = ()

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        """Acknowledge that a message has reached its queue, if the message requests this acknowledgment.

        Spec: MS-MQQB 3.1.5.8.10, note <62>.

        3.1.5.8.10 requires QueueManagerAddress to be the Identifier of this queue manager. For a direct name,
        QueueManagerAddress is zero, which has the same meaning (E28). A message to one of the queue manager's own
        queues is not acknowledged.
        """
        message = position.MessageReference
        wanted = message.AcknowledgementsRequested & POSITIVE_ARRIVAL_FLAG
        if wanted and position.QueueReference.Pathname.lower() not in OWN_QUEUE_PATHS:
            self.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        """Acknowledge that a message will not reach its queue, if the message requests this acknowledgment.

        Spec: MS-MQQB 3.1.5.8.2, 3.1.7.1.2.
        """
        if message.AcknowledgementsRequested & NEGATIVE_ARRIVAL_FLAG:
            self.send(message, message_class, now)

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        """Acknowledge that a message expired before it was sent, if the message requests this acknowledgment.

        Spec: MS-MQQB 3.1.7.1.2.

        A routed transactional message is only dropped, because its source still has the message and sends the
        acknowledgment.
        """
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier or message.TransactionIdentifier is None:
            self.acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT, now)

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        """Acknowledge that a message has left its queue, if the message requests this acknowledgment.

        Spec: MS-MQQB 3.1.7.2.1.
        """
        if message.AcknowledgementsRequested & get_receive_ack_bit(reason):
            self.send(message, reason, now)

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        """Send an administration acknowledgment for a message. Spec: MS-MQQB 3.1.7.15.

        Unlike in the document, iReceivedUserMessagePacket is not an argument: ``build_message`` has already converted
        the packet to a Message, which contains the format names that the tables of 3.1.7.15 derive from AQ and DQ.
        """
        if message.AdministrationQueueFormatName and self.may_send_nack(message_class):
            ack = self.build(message, message_class, now)
            self.qm.own_message_sending.send(ack, now)

    def may_send_nack(self, message_class: MessageClass) -> bool:
        """Return whether an acknowledgment of the given class may be sent. The classes in INSECURE_NACKS may be
        sent only if SendInsecureNacks is TRUE.

        Spec: MS-MQQB 3.1.7.15, 3.1.1.3 (SendInsecureNacks).
        """
        return self.qm.adm.SendInsecureNacks or message_class not in INSECURE_NACKS

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        """Build the acknowledgment for a message. The acknowledgment is recoverable if the message is recoverable.

        Spec: MS-MQQB 3.1.7.15.

        The acknowledgment has no transaction, and does not contain the decrypted body of an encrypted message. The
        table of classes omits HOP_COUNT_EXCEEDED, although 3.1.5.8.2 sends it. Here every class is sent unchanged.
        """
        assert message.AdministrationQueueFormatName is not None
        private = message.security is not None and bool(message.security.PrivacyLevel)
        return Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, 0),
            DestinationQueueFormatName=message.AdministrationQueueFormatName,
            Class=message_class,
            DeliveryGuarantee=message.DeliveryGuarantee,
            CorrelationIdentifier=message.Identifier.build(),
            ResponseQueueFormatName=message.DestinationQueueFormatName,
            Body=b"" if private or message_class in CLASSES_WITHOUT_BODY else message.Body,
            SentTime=now.utc_s,
        )
