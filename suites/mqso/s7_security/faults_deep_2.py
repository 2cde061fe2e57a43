"""Faults of MS-MQSO 7 that only later messages, other deliveries and other origins of a message reveal."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, only_if, replace_part
from harness.faults.primitives import at_restart, both
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.security import DEFAULT_QUEUE_SECURITY, Receiver, Refused, SecurityDescriptor
from reference_qm.surface.clock import Now


@fault("public-queue-descriptor-from-directory-ignored", breaks=("MQSO-7.3-01", "MQSO-7.3-D01"))
class PublicQueueDescriptorFromDirectoryIgnored(SecurityLookup):
    """A public queue has the default security descriptor instead of the descriptor in the directory."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        if queue.QueueType is QueueType.PUBLIC:
            return DEFAULT_QUEUE_SECURITY
        return super().find_queue_security(queue)


@fault("subqueue-ignores-security-descriptor", breaks="MQSO-7.3-01")
class SubqueueIgnoresSecurityDescriptor(SecurityLookup):
    """The security descriptor of a queue does not apply to its subqueues."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        if queue.parent is not None and queue is not queue.parent.JournalQueueReference:
            return DEFAULT_QUEUE_SECURITY
        return super().find_queue_security(queue)


@fault("receiver-later-sender-on-session-not-authorized", breaks=("MQSO-7.3-D01", "MQSO-7.3-02"))
class ReceiverLaterSenderOnSessionNotAuthorized(SecurityOnReceipt):
    """After the receiver has accepted a message with a sender on a session, it checks the rights of no later sender on
    this session.
    """

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        self.trusted = session.number in getattr(self, "sessions", set())
        outcome = super().check_security(session, packet, queue, now)
        if packet.SecurityHeader is not None and not isinstance(outcome, MessageClass):
            self.sessions = getattr(self, "sessions", set()) | {session.number}
        return outcome

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        if not self.trusted:
            super().authorize_sender(packet, queue)


@fault("receiver-rights-of-sender-of-transactional-message-ignored", breaks="MQSO-7.3-D01")
class ReceiverRightsOfSenderOfTransactionalMessageIgnored(SecurityOnReceipt):
    """The receiver does not check the rights of the sender of a transactional message."""

    @only_if(lambda self, packet, queue: packet.TransactionHeader is not None)
    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        """Accept any sender."""


@fault("receiver-second-signature-of-sender-not-verified", breaks=("MQSO-7.3-03", "MQSO-7.4.1.4.2-03"))
class ReceiverSecondSignatureOfSenderNotVerified(SecurityOnReceipt):
    """After a valid signature of a certificate, the receiver accepts each later signature of this certificate."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        certificate = b"" if security is None else security.SecurityData.SenderCert
        try:
            verified = super().authenticate_packet(packet)
        except Refused:
            if security is None or certificate not in getattr(self, "known", ()):
                raise
            return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | type(security).flags(AS=1)))
        if certificate and verified.SecurityHeader is not None and verified.SecurityHeader.AS:
            self.known = (*getattr(self, "known", ()), certificate)
        return verified


@fault("receiver-altered-large-message-accepted", breaks=("MQSO-7.4.1.4.2-03", "MQSO-7.4.1.4.1-D01"))
class ReceiverAlteredLargeMessageAccepted(SecurityOnReceipt):
    """The receiver does not verify the signature of a message whose body has more than 1,024 bytes."""

    @only_if(lambda self, packet: len(packet.MessagePropertiesHeader.MessageBody) > 1024)
    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        """Count a signed message as authenticated."""
        security = packet.SecurityHeader
        if security is None or not security.SecurityData.Signature:
            return super().authenticate_packet(packet)
        return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | type(security).flags(AS=1)))


@fault("receiver-altered-encrypted-message-accepted", breaks=("MQSO-7.4.1.4.2-02", "MQSO-7.4.1.4.2-03"))
class ReceiverAlteredEncryptedMessageAccepted(SecurityOnReceipt):
    """The receiver does not verify the signature of a message with an encrypted body."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is None or not security.EB:
            return super().authenticate_packet(packet)
        try:
            return super().authenticate_packet(packet)
        except Refused:
            return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | type(security).flags(AS=1)))


@fault("receiver-certificate-not-kept-without-sender", breaks="MQSO-7.4.1.3-D01")
class ReceiverCertificateNotKeptWithoutSender(SecurityOnReceipt):
    """The receiver removes the certificate of a signed message whose sender it does not authenticate."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        outcome = super().check_security(session, packet, queue, now)
        if isinstance(outcome, MessageClass) or outcome.SecurityHeader is None:
            return outcome
        security = outcome.SecurityHeader
        if security.ST or not security.SecurityData.SenderCert:
            return outcome
        data = replace(security.SecurityData, SenderCert=b"", Padding=None)
        shorter = replace(outcome, BaseHeader=replace(outcome.BaseHeader, PacketSize=0))
        return replace(shorter, SecurityHeader=replace(security, SecurityData=data))


@fault("receiver-other-user-in-transactional-message-accepted", breaks="MQSO-7.4.1.4.2-D02")
class ReceiverOtherUserInTransactionalMessageAccepted(SecurityOnReceipt):
    """The receiver does not compare the sender of a transactional message with the user of its certificate."""

    @only_if(lambda self, packet, now: packet.TransactionHeader is not None)
    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        """Accept any user."""


@fault("receiver-unsigned-message-with-certificate-verified", breaks="MQSO-7.4.1.4.2-D04")
class ReceiverUnsignedMessageWithCertificateVerified(SecurityOnReceipt):
    """The receiver refuses a message without signature whose certificate is not registered for its sender."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        security = packet.SecurityHeader
        if security is None or security.AS or not security.ST or not security.SecurityData.SenderCert:
            return
        found = self.qm.security_lookup.find_user_certificates(security.SecurityData.SecurityID)
        known = () if found is None else found.Certificates
        if security.SecurityData.SenderCert not in [one.Certificate for one in known]:
            raise Refused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, "a fault")


@fault("sender-transactional-body-not-encrypted", breaks="MQSO-7.4.1.4.3-D01")
class SenderTransactionalBodyNotEncrypted(Securing):
    """The sender does not encrypt the body of a transactional message."""

    @only_if(lambda self, session, message, packet, now: message.TransactionIdentifier is not None)
    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        """Return the packet as it is."""
        return packet


@fault("receiver-encrypted-body-of-second-sender-not-decrypted", breaks="MQSO-7.4.1.4.3-D02")
class ReceiverEncryptedBodyOfSecondSenderNotDecrypted(SecurityOnReceipt):
    """The receiver decrypts only the messages of the queue manager that sent the first encrypted message."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.SecurityHeader is not None and packet.SecurityHeader.EB:
            self.first = getattr(self, "first", None) or packet.UserHeader.SourceQueueManager
            if packet.UserHeader.SourceQueueManager != self.first:
                return packet
        return super().decrypt_body(packet, now)


class OneKeyAfterRestart(SecurityOnReceipt):
    """A receiver that has only one of its private keys after a restart."""

    def _build_receiver(self) -> Receiver:
        found = super()._build_receiver()
        if not getattr(self, "restarted", False):
            return found
        return replace(found, private_keys=dict(list(found.private_keys.items())[:1]))


def _mark_restarted(queue_manager: QueueManager) -> None:
    queue_manager.security_on_receipt.restarted = True  # type: ignore[attr-defined]


add(
    "receiver-private-keys-but-first-lost-at-restart",
    "MQSO-7.4.1.3-03",
    "After a restart, the receiver has only one of its private keys.",
    both(replace_part(OneKeyAfterRestart), at_restart(_mark_restarted)),
)
