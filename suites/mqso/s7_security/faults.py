"""Faults that break rules of MS-MQSO 7 Security."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers, filter_inputs, omit_step
from harness.faults.registry import add
from harness.faults.timed_caches import replace_cache
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.rpc.authentication import AuthType
from reference_qm.rpc.header import PacketType
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.security import (
    DEFAULT_QUEUE_SECURITY,
    ReceivedMessageRefused,
    ReceiverSecurityData,
    SecurityDescriptor,
    SignatureType,
    authorize_sender,
)
from reference_qm.security.caches import TimedCache
from reference_qm.security.descriptor import AceType
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcBytesReceived


@fault("journal-ignores-security-descriptor", breaks="MQSO-7.3-01")
class JournalIgnoresSecurityDescriptor(SecurityLookup):
    """The security descriptor of a queue does not apply to its journal."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        return queue.Security if queue.QueueType is QueueType.SYSTEM else super().find_queue_security(queue)


def _set_default_queue_descriptors(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        queue.Security = DEFAULT_QUEUE_SECURITY


add(
    "security-descriptors-lost-at-restart",
    "MQSO-7.3-01",
    "After a restart, every queue has the default security descriptor.",
    change_core_at_restart(_set_default_queue_descriptors),
)


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


@fault("denial-for-group-ignored", breaks="MQSO-7.3-02")
class DenialForGroupIgnored(SecurityOnReceipt):
    """An entry that denies the right to write applies to a user, but not to the members of a group."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        security = self.qm.security_lookup.find_queue_security(queue)
        header = packet.SecurityHeader
        if security.Dacl is None or header is None:
            super().authorize_sender(packet, queue)
            return
        sender = header.SecurityData.SecurityID
        entries = tuple(
            one for one in security.Dacl.Aces if one.AceType is not AceType.ACCESS_DENIED or one.Sid.build() == sender
        )
        narrowed = replace(security, Dacl=replace(security.Dacl, Aces=entries))
        authorize_sender(header, self._build_receiver(), narrowed)


@fault("receiver-later-sender-on-session-not-authorized", breaks=("MQSO-7.3-D01", "MQSO-7.3-02"))
class ReceiverLaterSenderOnSessionNotAuthorized(SecurityOnReceipt):
    """After the receiver has accepted a message with a SecurityHeader on a session, it checks the rights of no other
    sender on this session.
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


@fault("receiver-second-signature-of-sender-not-verified", breaks=("MQSO-7.3-03", "MQSO-7.4.1.4.2-03"))
class ReceiverSecondSignatureOfSenderNotVerified(SecurityOnReceipt):
    """After a valid signature of a certificate, the receiver accepts each later signature of this certificate."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        certificate = b"" if security is None else security.SecurityData.SenderCert
        try:
            verified = super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            if security is None or certificate not in getattr(self, "known", ()):
                raise
            return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | type(security).flags(AS=1)))
        if certificate and verified.SecurityHeader is not None and verified.SecurityHeader.AS:
            self.known = (*getattr(self, "known", ()), certificate)
        return verified


@fault("receiver-right-to-one-queue-granted-for-every-queue", breaks="MQSO-7.3-D01")
class ReceiverRightToOneQueueGrantedForEveryQueue(SecurityOnReceipt):
    """The receiver lets a sender that may write to one queue write to every queue."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        header = packet.SecurityHeader
        sender = b"" if header is None else header.SecurityData.SecurityID
        if sender and sender in getattr(self, "granted", ()):
            return
        super().authorize_sender(packet, queue)
        self.granted = (*getattr(self, "granted", ()), sender)


@fault("receiver-rights-of-sender-of-transactional-message-ignored", breaks="MQSO-7.3-D01")
class ReceiverRightsOfSenderOfTransactionalMessageIgnored(SecurityOnReceipt):
    """The receiver does not check the rights of the sender of a transactional message."""

    @faulty_only_if(lambda self, packet, queue: packet.TransactionHeader is not None)
    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        """Accept any sender."""


FRAG_LENGTH_SLICE = slice(8, 10)


AUTH_LENGTH_SLICE = slice(10, 12)


SECURITY_TRAILER_SIZE_BYTES = 8


def _refuse_authenticated_calls(event: Input) -> Iterable[Input]:
    if not isinstance(event, RpcBytesReceived) or not any(event.data[AUTH_LENGTH_SLICE]):
        return [event]
    size = len(event.data) - SECURITY_TRAILER_SIZE_BYTES - int.from_bytes(event.data[AUTH_LENGTH_SLICE], "little")
    data = bytearray(event.data[:size])
    data[FRAG_LENGTH_SLICE], data[AUTH_LENGTH_SLICE] = size.to_bytes(2, "little"), bytes(2)
    return [replace(event, data=bytes(data))]


add(
    "rpc-unknown-authentication-service-accepted",
    "MQSO-7.4.1.1-01",
    "The server accepts a bind with any authentication service.",
    filter_inputs(_refuse_authenticated_calls),
)


_PTYPE_OFFSET = 2


def _accept_any_authentication_service(event: Input) -> Iterable[Input]:
    if not isinstance(event, RpcBytesReceived) or event.data[_PTYPE_OFFSET : _PTYPE_OFFSET + 1] != bytes(
        [PacketType.ALTER_CONTEXT]
    ):
        return [event]
    try:
        pdu = Pdu.parse(event.data)
    except PduError:
        return [event]
    if pdu.sec_trailer is None or pdu.sec_trailer.auth_type in list(AuthType):
        return [event]
    return [replace(event, data=replace(pdu, sec_trailer=None).build())]


add(
    "server-unsupported-service-in-alter-context-accepted",
    "MQSO-7.4.1.1-01",
    "The server checks the authentication service of a bind, but accepts any service in an alter_context.",
    filter_inputs(_accept_any_authentication_service),
    blind=True,
)


class ReceiverWithOnePrivateKeyAfterRestart(SecurityOnReceipt):
    """A receiver that has only one of its private keys after a restart."""

    def _build_receiver(self) -> ReceiverSecurityData:
        found = super()._build_receiver()
        if not getattr(self, "restarted", False):
            return found
        return replace(found, private_keys=dict(list(found.private_keys.items())[:1]))


def _record_restart(queue_manager: QueueManager) -> None:
    queue_manager.security_on_receipt.restarted = True  # type: ignore[attr-defined]


add(
    "receiver-private-keys-but-first-lost-at-restart",
    "MQSO-7.4.1.3-03",
    "After a restart, the receiver has only one of its private keys.",
    combine_installers(replace_part(ReceiverWithOnePrivateKeyAfterRestart), change_core_at_restart(_record_restart)),
)


add(
    "public-keys-not-in-directory-object",
    "MQSO-7.4.1.3-04",
    "The queue manager does not write its public keys to its directory object.",
    omit_step(DirectoryClient.publish_public_keys),
)


BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


@fault(
    "receiver-unregistered-certificate-without-sender-refused",
    breaks=("MQQB-3.1.5.8.3-22", "MQSO-7.4.1.3-D01", "MQSO-7.4.1.4.2-D04"),
)
class ReceiverUnregisteredCertificateWithoutSenderRefused(SecurityOnReceipt):
    """The receiver refuses a signed message with ST 0 if its certificate is not registered."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS and not security.ST:
            raise ReceivedMessageRefused(BAD_SIGNATURE_CLASS, "a fault refuses the message")
        super().verify_sender(packet, now)


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


@fault("receiver-altered-large-message-accepted", breaks=("MQSO-7.4.1.4.2-03", "MQSO-7.4.1.4.1-D01"))
class ReceiverAlteredLargeMessageAccepted(SecurityOnReceipt):
    """The receiver does not verify the signature of a message whose body has more than 1,024 bytes."""

    @faulty_only_if(lambda self, packet: len(packet.MessagePropertiesHeader.MessageBody) > 1024)
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
        except ReceivedMessageRefused:
            return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | type(security).flags(AS=1)))


@fault("receiver-certificate-verified-once-accepted-for-other-user", breaks="MQSO-7.4.1.4.2-D02", blind=True)
class ReceiverCertificateVerifiedOnceAcceptedForOtherUser(SecurityOnReceipt):
    """After the receiver has verified a certificate for one user, it accepts the certificate for any user that a
    message names.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS:
            certificate = security.SecurityData.SenderCert
            if self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate) is not None:
                return
        super().verify_sender(packet, now)


@fault("receiver-sender-of-transactional-message-not-compared-with-user", breaks="MQSO-7.4.1.4.2-D02")
class ReceiverSenderOfTransactionalMessageNotComparedWithUser(SecurityOnReceipt):
    """The receiver does not compare the sender of a transactional message with the user of its certificate."""

    @faulty_only_if(lambda self, packet, now: packet.TransactionHeader is not None)
    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        """Accept any user."""


@fault("receiver-unsigned-message-with-certificate-verified", breaks="MQSO-7.4.1.4.2-D04")
class ReceiverUnsignedMessageWithCertificateVerified(SecurityOnReceipt):
    """The receiver refuses a message without a signature if the certificate of the message is not registered for its
    sender.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        security = packet.SecurityHeader
        if security is None or security.AS or not security.ST or not security.SecurityData.SenderCert:
            return
        found = self.qm.security_lookup.find_user_certificates(security.SecurityData.SecurityID)
        known = () if found is None else found.Certificates
        if security.SecurityData.SenderCert not in [one.Certificate for one in known]:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, "a fault refuses the message")


@fault("sender-transactional-body-not-encrypted", breaks="MQSO-7.4.1.4.3-D01")
class SenderTransactionalBodyNotEncrypted(MessageSecuring):
    """The sender does not encrypt the body of a transactional message."""

    @faulty_only_if(lambda self, session, message, packet, now: message.TransactionIdentifier is not None)
    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        """Return the packet as it is."""
        return packet


class FirstKeyReturningCache(TimedCache[Any]):
    """A cache that returns its first key if it does not contain the requested key."""

    def find(self, matches: Callable[[Any], bool]) -> Any:
        """Return the requested entry; if it is missing, return the first entry."""
        return super().find(matches) or next(iter(self.entries), None)


add(
    "receiver-later-symmetric-key-not-decrypted",
    "MQSO-7.4.1.4.3-D02",
    "If a message contains a symmetric key other than the key of an earlier message, the receiver decrypts the "
    "message with the earlier key.",
    replace_cache("ReceiveSymmetricKeyCache", FirstKeyReturningCache),
)


@fault("receiver-encrypted-body-of-second-sender-not-decrypted", breaks="MQSO-7.4.1.4.3-D02")
class ReceiverEncryptedBodyOfSecondSenderNotDecrypted(SecurityOnReceipt):
    """The receiver decrypts only the messages of the queue manager that sent the first encrypted message."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        if packet.SecurityHeader is not None and packet.SecurityHeader.EB:
            self.first = getattr(self, "first", None) or packet.UserHeader.SourceQueueManager
            if packet.UserHeader.SourceQueueManager != self.first:
                return packet
        return super().decrypt_body(packet, now)


def _set_authentication_level(packet: UserMessagePacket, security: SecurityHeader) -> UserMessagePacket:
    kind = SecurityHeader.flags(AS=SignatureType.SIG20)
    return replace(packet, SecurityHeader=replace(security, Flags=security.Flags | kind))


@fault("receiver-signature-of-encrypted-message-not-verified", breaks="MQSO-7.4.1.4.1-D01", blind=True)
class ReceiverSignatureOfEncryptedMessageNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of an encrypted message."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
                raise
        return _set_authentication_level(packet, packet.SecurityHeader)


@fault("receiver-integrity-of-known-sender-not-verified", breaks="MQSO-7.4.1.4.2-03", blind=True)
class ReceiverIntegrityOfKnownSenderNotVerified(SecurityOnReceipt):
    """The receiver accepts an altered message if an earlier message with the same sender and certificate was valid."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            security = packet.SecurityHeader
            if security is None:
                raise
            sender = security.SecurityData.SenderCert, security.SecurityData.SecurityID
            known = self.qm.caches.UserCertCache.find(lambda one: (one.UserCert.Certificate, one.SecurityID) == sender)
            if known is None:
                raise
        return _set_authentication_level(packet, security)
