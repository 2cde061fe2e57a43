"""Faults in keys, certificates and rights that are used a second time or have changed."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.security import MqdsPublicKeys, ReceivedMessageRefused, Sid, UserSignCerts
from reference_qm.surface.clock import Now

PROVIDER_CHOICE_RULES = ("MQSO-6.1.5.5-01", "MQSO-7.4.1.4.3-01")


@fault("sender-provider-without-key-of-receiver-used", breaks=PROVIDER_CHOICE_RULES, blind=True)
class SenderProviderWithoutKeyOfReceiverUsed(SecurityLookup):
    """The sender encrypts with a provider for which the receiver has no key, and uses the first key of the receiver."""

    def find_public_keys(self, guid: UUID, now: Now) -> MqdsPublicKeys | None:
        keys = super().find_public_keys(guid, now)
        own = MqdsPublicKeys.parse(self.qm.enterprise.state.LocalQueueManager.PublicEncryptionKeyList)
        if keys is None or not keys.aPublicKeys:
            return keys
        known = {one.sProviderName for one in keys.aPublicKeys}
        first = keys.aPublicKeys[0]
        more = tuple(replace(one, aBuf=first.aBuf) for one in own.aPublicKeys if one.sProviderName not in known)
        return replace(keys, aPublicKeys=keys.aPublicKeys + more)


@fault(
    "sender-session-key-encrypted-with-public-key-of-next-hop",
    breaks=("MQSO-6.1.5.5-01", "MQSO-7.4.1.4.3-D01"),
    blind=True,
)
class SenderSessionKeyEncryptedWithPublicKeyOfNextHop(MessageSecuring):
    """The sender encrypts the key of a routed message with the public key of the next hop."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        keys = self.qm.security_lookup.find_public_keys(session.RemoteQMGuid, now)
        if keys is not None:
            session.RemoteQMPublicKey = keys.build()
        return super().encrypt_body(session, message, packet, now)


@fault("sender-session-key-of-second-encrypted-message-omitted", breaks="MQSO-7.4.1.4.3-D01", blind=True)
class SenderSessionKeyOfSecondEncryptedMessageOmitted(MessageSecuring):
    """The sender omits the encrypted key from the second and later encrypted messages of a session."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        if encrypted is packet or encrypted.SecurityHeader is None:
            return encrypted
        sent: set[int] = self.__dict__.setdefault("sent", set())
        if session.number not in sent:
            sent.add(session.number)
            return encrypted
        data = replace(encrypted.SecurityHeader.SecurityData, EncryptionKey=b"", Padding=None)
        return replace(encrypted, SecurityHeader=replace(encrypted.SecurityHeader, SecurityData=data))


@fault("receiver-key-of-first-message-used-for-later-messages", breaks="MQSO-7.4.1.4.3-D02", blind=True)
class ReceiverKeyOfFirstMessageUsedForLaterMessages(SecurityOnReceipt):
    """The receiver decrypts each later message of a sender with the symmetric key of the sender's first message."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or not header.EB:
            return super().decrypt_body(packet, now)
        blobs: dict[object, bytes] = self.__dict__.setdefault("blobs", {})
        properties = packet.MessagePropertiesHeader
        key = (packet.UserHeader.SourceQueueManager, properties.PrivacyLevel, properties.EncryptionAlgorithm)
        first = blobs.setdefault(key, header.SecurityData.EncryptionKey)
        data = replace(header.SecurityData, EncryptionKey=first)
        changed = super().decrypt_body(replace(packet, SecurityHeader=replace(header, SecurityData=data)), now)
        return replace(changed, SecurityHeader=header)


@fault("receiver-encrypted-message-of-second-sender-not-decrypted", breaks="MQSO-7.4.1.4.3-D02", blind=True)
class ReceiverEncryptedMessageOfSecondSenderNotDecrypted(SecurityOnReceipt):
    """The receiver decrypts only the messages of the first sender, and stores the bodies of messages from all other
    senders in encrypted form.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        source = packet.UserHeader.SourceQueueManager
        if header is None or not header.EB or self.__dict__.setdefault("first", source) == source:
            return super().decrypt_body(packet, now)
        return packet


@fault("receiver-rights-of-sender-kept-after-change", breaks=("MQSO-7.3-02", "MQQB-3.1.5.8.3-120"), blind=True)
class ReceiverRightsOfSenderKeptAfterChange(SecurityOnReceipt):
    """The receiver accepts messages of a sender that once had the right to write to a queue, even if the present queue
    of that name does not grant the right.
    """

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        assert packet.SecurityHeader is not None
        allowed: set[object] = self.__dict__.setdefault("allowed", set())
        key = (packet.SecurityHeader.SecurityData.SecurityID, queue.Pathname)
        if key not in allowed:
            super().authorize_sender(packet, queue)
            allowed.add(key)


@fault("queue-manager-right-to-read-of-second-reader-not-checked", breaks="MQSO-7.3-02", blind=True)
class QueueManagerRightToReadOfSecondReaderNotChecked(QmcommMethods):
    """A queue manager does not check the right to read a queue that another reader has opened."""

    def check_rights_of_reader(self, queue: Queue, access: QueueAccessType, reader: Set[Sid]) -> Status:
        if len(queue.OpenQueueDescriptorCollection) > 1:
            return Status.MQ_OK
        return super().check_rights_of_reader(queue, access, reader)


@fault("receiver-sender-of-later-message-not-verified", breaks=("MQSO-7.3-03", "MQSO-7.4.1.4.2-05"), blind=True)
class ReceiverSenderOfLaterMessageNotVerified(SecurityOnReceipt):
    """The receiver authenticates each sender only once, and accepts every later message that names this sender."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        known: set[bytes] = self.__dict__.setdefault("known", set())
        header = packet.SecurityHeader
        name = b"" if header is None else header.SecurityData.SecurityID
        if name not in known:
            super().verify_sender(packet, now)
            if header is not None and header.AS:
                known.add(name)


@fault("queue-manager-directory-object-lacks-second-encryption-key", breaks="MQSO-7.4.1.3-04", blind=True)
class QueueManagerDirectoryObjectLacksSecondEncryptionKey(DirectoryClient):
    """The directory object of a queue manager contains only the first of its public encryption keys."""

    def publish_public_keys(self) -> None:
        super().publish_public_keys()
        self._publish_first_key()

    def _publish_first_key(self) -> None:
        state = self.qm.enterprise.state
        keys = MqdsPublicKeys.parse(state.LocalQueueManager.PublicEncryptionKeyList)
        if len(keys.aPublicKeys) > 1:
            first = replace(keys, aPublicKeys=keys.aPublicKeys[:1]).build()
            changed = replace(state.LocalQueueManager, PublicEncryptionKeyList=first)
            self.qm.directory_link.write(
                DirectoryWriteRequest(changed, ("PublicEncryptionKeyList",)), lambda answer: None
            )


@fault("queue-manager-signing-keys-removed-from-directory-at-restart", breaks="MQSO-7.4.1.3-04")
class QueueManagerSigningKeysRemovedFromDirectoryAtRestart(DirectoryClient):
    """A queue manager that starts again in its domain removes its public signing keys from its directory object."""

    def publish_public_keys(self) -> None:
        super().publish_public_keys()
        if self.qm.adm.LastDomain is not None:
            changed = replace(self.qm.enterprise.state.LocalQueueManager, PublicSigningKeyList=b"")
            self.qm.directory_link.write(DirectoryWriteRequest(changed, ("PublicSigningKeyList",)), lambda answer: None)


@fault("receiver-signature-with-unregistered-certificate-not-verified", breaks="MQSO-7.4.1.3-D01", blind=True)
class ReceiverSignatureWithUnregisteredCertificateNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a message whose certificate is not registered."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            header = packet.SecurityHeader
            if header is None or self._is_certificate_registered(header):
                raise
            return packet

    def _is_certificate_registered(self, header: SecurityHeader) -> bool:
        certificates = (
            entry.Certificate
            for one in self.qm.config.security.accounts
            if one.Certificates is not None
            for entry in one.Certificates.Certificates
        )
        return header.SecurityData.SenderCert in tuple(certificates)


@fault("receiver-unregistered-certificate-removed-from-message", breaks="MQSO-7.4.1.3-D01", blind=True)
class ReceiverUnregisteredCertificateRemovedFromMessage(SecurityOnReceipt):
    """The receiver removes the certificate from a message whose certificate is not registered."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        checked = super().check_security(session, packet, queue, now)
        if not isinstance(checked, UserMessagePacket) or checked.SecurityHeader is None:
            return checked
        known = {one.UserCert.Certificate for one in self.qm.caches.UserCertCache.entries}
        header = checked.SecurityHeader
        if header.SecurityData.SenderCert in known:
            return checked
        data = replace(header.SecurityData, SenderCert=b"", Padding=None)
        base = replace(checked.BaseHeader, PacketSize=0)
        return replace(checked, BaseHeader=base, SecurityHeader=replace(header, SecurityData=data))


@fault("receiver-user-of-first-signed-message-used-for-later-messages", breaks="MQSO-7.4.1.4.2-05", blind=True)
class ReceiverUserOfFirstSignedMessageUsedForLaterMessages(SecurityLookup):
    """The receiver looks up only the user of the first signed message, and uses the result for every later user."""

    def find_user_certificates(self, security_id: bytes) -> UserSignCerts | None:
        found: UserSignCerts | None = self.__dict__.get("found")
        if found is None:
            found = self.__dict__["found"] = super().find_user_certificates(security_id)
        return found
